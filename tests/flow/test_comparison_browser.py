"""The comparison page and the trend page in a real browser: filters without script, no request,
no sideways scrolling, enough contrast.
"""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from ragnostic.report import render_comparison, render_trend

BROWSER = runpy.run_path(str(Path(__file__).parent / "test_report_browser.py"))
CHROMIUM, CONTRAST = BROWSER["CHROMIUM"], BROWSER["CONTRAST"]
VIEWS = runpy.run_path(str(Path(__file__).parents[1] / "unit" / "report" / "comparison_sample.py"))

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="system package chromium is missing"),
]

browser = BROWSER["browser"]
visit = BROWSER["visit"]


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, Path]:
    """Both pages in both languages."""
    folder = tmp_path_factory.mktemp("pages")
    comparison, trend = VIEWS["sample_view"](), VIEWS["trend_view"]()
    found = {}
    for language in ("zh", "en"):
        pages = {
            f"comparison-{language}": render_comparison(comparison, language),
            f"trend-{language}": render_trend(trend, language),
        }
        for name, html in pages.items():
            found[name] = folder / f"{name}.html"
            found[name].write_text(html, "utf-8")
    return found


PAGES = ["comparison-zh", "comparison-en", "trend-zh", "trend-en"]


@pytest.mark.parametrize("name", PAGES)
def test_it_asks_for_nothing_and_breaks_no_policy(visit, files, name):
    """One request, for the file itself; the console stays silent."""
    _, asked, said = visit(name)
    assert asked == [files[name].as_uri()]
    assert said == []


@pytest.mark.parametrize("width", [390, 820, 1440])
@pytest.mark.parametrize("name", PAGES)
def test_it_never_scrolls_sideways(visit, name, width):
    """Tables scroll within their box; the page does not, with everything open."""
    page, _, _ = visit(name, width)
    page.evaluate("document.querySelectorAll('details').forEach(node => node.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["comparison-en", "trend-zh"])
def test_all_text_has_enough_contrast(visit, name, scheme):
    """WCAG AA: at least 4.5 to 1, in charts too."""
    page, _, _ = visit(name, 1440, scheme)
    page.evaluate("document.querySelectorAll('details').forEach(node => node.open = true)")
    assert page.evaluate(CONTRAST) == []


def test_filters_work_without_script(visit):
    """Each radio button leaves its own queries, by mouse and by keyboard."""
    page, _, _ = visit("comparison-en", script=False)
    items = page.locator("#changes .changes > li")
    everything = items.count()
    shown = {}
    for label in ("Worse", "Better", "Lost", "Found", "All"):
        page.locator(".filter label", has_text=label).click()
        shown[label] = sum(items.nth(at).is_visible() for at in range(everything))
        counted = page.locator(".filter label", has_text=label).locator("span").inner_text()
        assert shown[label] == int(counted)
    assert shown["All"] == everything == shown["Worse"] + shown["Better"]
    assert 0 < shown["Lost"] < shown["Worse"]
    page.locator("#show-all").focus()
    page.keyboard.press("ArrowRight")
    assert sum(items.nth(at).is_visible() for at in range(everything)) == shown["Worse"]


def test_a_query_opens_without_script(visit):
    """Both rankings stand side by side, gold marked."""
    page, _, _ = visit("comparison-zh", script=False)
    query = page.locator("#changes .changes details").first
    query.locator("summary").first.focus()
    page.keyboard.press("Enter")
    boxes = "nodes => nodes.map(node => node.getBoundingClientRect()).map(box => [box.x, box.y])"
    first, second = query.locator(".rankings > .ranking").evaluate_all(boxes)
    assert first[1] == second[1]
    assert first[0] < second[0]
    assert query.locator(".hit.gold").first.is_visible()


def test_the_charts_are_drawn(visit):
    """Differences and ranks; one chart a metric on the trend page."""
    assert visit("comparison-zh")[0].locator("svg[role=img]").count() == 2
    assert visit("trend-zh")[0].locator("svg[role=img]").count() == 2


def test_print_shows_every_query(visit):
    """On paper there is no filter, and closed queries show."""
    page, _, _ = visit("comparison-zh")
    page.emulate_media(media="print")
    assert not page.locator(".filter").is_visible()
    assert page.locator("#changes .rankings").first.is_visible()
