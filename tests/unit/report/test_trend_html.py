"""The trend page as HTML."""

from __future__ import annotations

import re
import runpy
from dataclasses import replace
from pathlib import Path

import pytest

from ragnostic.errors import UsageError
from ragnostic.report import TrendView, render_trend
from ragnostic.report.trend_view import EasyQuery, TrendRun, TrendValue

VIEW = runpy.run_path(str(Path(__file__).parent / "comparison_sample.py"))["trend_view"]()
EVIL = "</style><script>alert(1)</script><img src=x onerror=alert(1)>"


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_same_view_gives_the_same_bytes(language):
    """No clock, no hash order."""
    assert render_trend(VIEW, language) == render_trend(VIEW, language)


def test_there_is_a_chart_a_metric():
    """Each with its summary for a screen reader."""
    found = render_trend(VIEW, "en")
    assert found.count('<svg class="chart" role="img"') == 2
    assert "latest 0.540, best 0.550 at run 4" in found


def test_links_are_those_of_the_reports():
    """Relative, and no other address."""
    found = render_trend(VIEW, "en")
    links = set(re.findall(r"href=\"([^\"#][^\"]*)\"", found))
    assert links == {f"./run-{number}/report.html" for number in (1, 2, 3, 4)}


def test_text_is_never_markup():
    """Names, tags, settings, ids and texts come from anywhere."""
    run = TrendRun(
        EVIL,
        EVIL,
        (EVIL,),
        ((EVIL, EVIL, EVIL),),
        {"RR@5": TrendValue(0.5, 0.4, 0.6, 9)},
        EVIL,
        EVIL,
    )
    view = TrendView(EVIL, ("RR@5",), (run,), {"RR@5": EVIL}, (), (EasyQuery(EVIL, EVIL),))
    found = render_trend(view, "en")
    assert "<script" not in found
    assert "<img" not in found


def test_a_tag_may_be_an_address():
    """It is shown, and the chart stays free of links."""
    tagged = replace(VIEW.runs[0], tags=("https://example.org/v1",))
    found = render_trend(replace(VIEW, runs=(tagged, *VIEW.runs[1:])), "en")
    assert "https://example.org/v1" in found


def test_a_view_without_runs_reads():
    """Nothing to draw, and it says so."""
    found = render_trend(TrendView("set", ("RR@5",), ()), "en")
    assert "No run has a value to show." in found
    assert "<svg" not in found


def test_what_is_not_shown_is_counted():
    """Older runs and more easy queries."""
    runs = tuple(replace(VIEW.runs[0], name=f"run-{number}") for number in range(203))
    easy = tuple(EasyQuery(f"q{number}", None) for number in range(130))
    found = render_trend(replace(VIEW, runs=runs, easy=easy), "en")
    assert "Older runs that are not shown: 3" in found
    assert "More: 30" in found


def test_an_unknown_language_is_refused():
    """With a hint."""
    with pytest.raises(UsageError, match="use one of"):
        render_trend(VIEW, "fr")
