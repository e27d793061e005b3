"""The report in a real browser: it reads without script, fits a phone and asks for nothing."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from ragnostic.report import render_run

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SAMPLE = runpy.run_path(str(Path(__file__).parents[1] / "unit" / "report" / "sample_run.py"))

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="system package chromium is missing"),
]

CONTRAST = """
() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgb = (colour) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (colour) => {
    const [r, g, b] = colour.slice(0, 3).map(v => v / 255)
      .map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = rgb(getComputedStyle(at).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255, 255];
  };
  const poor = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !node.checkVisibility()) continue;
    const svg = node.closest('svg');
    const ink = rgb(svg ? getComputedStyle(node).fill : getComputedStyle(node).color);
    const [a, b] = [light(ink), light(behind(svg ? svg.parentElement : node))];
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) poor.add(`${node.tagName}.${node.className} ${ratio.toFixed(2)}`);
  }
  return [...poor];
}
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, Path]:
    """The sample report in both languages."""
    folder = tmp_path_factory.mktemp("report")
    run = SAMPLE["sample_run"]()
    found = {}
    for language in ("zh", "en"):
        found[language] = folder / f"{language}.html"
        found[language].write_text(render_run(run, language=language), "utf-8")
    return found


@pytest.fixture(scope="module")
def browser():
    """One headless Chromium for all tests of this file."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only with a browser

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture
def visit(browser, files):
    """Open a report: ``visit(language, width, scheme)``; gives the page and what it said."""
    contexts = []

    def opened(language="zh", width=1440, scheme="light", *, script=True):
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            java_script_enabled=script,
        )
        contexts.append(context)
        page = context.new_page()
        asked, said = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.goto(files[language].as_uri())
        return page, asked, said

    yield opened
    for context in contexts:
        context.close()


@pytest.mark.parametrize("language", ["zh", "en"])
def test_it_asks_for_nothing_and_breaks_no_policy(visit, files, language):
    """One request, for the file itself; the console stays silent."""
    _, asked, said = visit(language)
    assert asked == [files[language].as_uri()]
    assert said == []


@pytest.mark.parametrize("width", [390, 820, 1440])
@pytest.mark.parametrize("language", ["zh", "en"])
def test_it_never_scrolls_sideways(visit, language, width):
    """Tables scroll within their box; the page does not, with everything open."""
    page, _, _ = visit(language, width)
    page.evaluate("document.querySelectorAll('details').forEach(node => node.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_has_enough_contrast(visit, scheme):
    """WCAG AA: at least 4.5 to 1, in charts too."""
    page, _, _ = visit("en", 1440, scheme)
    page.evaluate("document.querySelectorAll('details').forEach(node => node.open = true)")
    assert page.evaluate(CONTRAST) == []


def test_it_reads_without_script(visit):
    """Verdict, charts and the worst queries are there, and a passage opens by keyboard."""
    page, _, _ = visit("zh", script=False)
    assert page.locator("h1").inner_text().startswith("93% 的查询能在前 5 条结果里")
    assert page.locator("svg[role=img]").count() == 3
    assert page.locator("article.query").count() == 20
    passage = page.locator("#worst details.text").first
    passage.locator("summary").focus()
    page.keyboard.press("Enter")
    assert passage.locator(".full").is_visible()


def test_contents_lead_to_their_sections(visit):
    """The small table of contents is there on a wide screen and its links work."""
    page, _, _ = visit("en")
    page.get_by_role("link", name="Worst queries").click()
    assert page.evaluate("location.hash") == "#worst"
    assert not visit("en", 390)[0].locator("nav.contents").is_visible()


def test_print_has_no_navigation_and_opens_details(visit):
    """On paper the contents go and closed passages show."""
    page, _, _ = visit("zh")
    page.emulate_media(media="print")
    assert not page.locator("nav.contents").is_visible()
    assert page.locator("#worst .full").first.is_visible()
