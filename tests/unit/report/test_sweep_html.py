"""The page of a sweep: its sentences, marks and picture."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from ragnostic.cli.sweep_table import sweep_lines
from ragnostic.report.sweep_html import render_sweep
from ragnostic.report.sweep_view import PrunedRow, SweepMean, SweepRow, SweepView
from ragnostic.stats.paired import Difference
from ragnostic.text import has_han

_DIFFERENCE = Difference(
    n=9, base=0.5, candidate=0.6, value=0.1, low=0.04, high=0.15, p=0.01, p_holm=0.02, wins=9
)
_ROWS = (
    SweepRow(
        "k1=<b>2</b>",
        "run-2",
        {"RR@5": SweepMean(0.6, 9, 0.5, 0.7), "AP": SweepMean(0.4, 9, 0.3, 0.5)},
        difference=_DIFFERENCE,
        finding="better",
        p50_ms=3.0,
        p95_ms=9.0,
        best=True,
        pareto=True,
    ),
    SweepRow(
        "k1=1",
        "run-1",
        {"RR@5": SweepMean(0.5, 9, 0.4, 0.6), "AP": SweepMean(None, 0)},
        against_best="cannot_tell",
        p50_ms=1.0,
        p95_ms=2.0,
        pareto=True,
        unspent=4,
    ),
)
_VIEW = SweepView("sweep-1", "eval.jsonl", 9, "RR@5", ("AP",), _ROWS, "k1=1", 2)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_is_whole_and_safe(language):
    """Same bytes twice, names escaped, a picture with both points, no address, no English in zh."""
    page = render_sweep(_VIEW, language)
    assert page == render_sweep(_VIEW, language)
    assert "&lt;b&gt;2" in page
    assert "<b>2</b>" not in page
    assert not re.search(r"https?://", page)
    assert page.count('aria-label="symbol"') == 0
    assert '<svg class="chart"' in page
    assert "0.6000" in page
    assert "+0.1000" in page
    headings = re.findall(r"<h[12]>(.*?)</h", page)
    assert len(headings) >= 3
    assert all(has_han(heading) for heading in headings) == (language == "zh")


def test_the_sentences_say_what_is_best_and_what_is_not_told_apart():
    """Against the baseline, and among the others."""
    page = render_sweep(_VIEW, "en")
    assert "Best: k1=&lt;b&gt;2&lt;/b&gt;, with MRR@5 0.600." in page
    assert "Against the baseline k1=1: +0.100 (better)." in page
    assert "1 of the 1 others cannot be told apart from it" in page
    assert "In 1 of the combinations top_k ends before" in page
    alone = replace(_VIEW, rows=(_ROWS[0], replace(_ROWS[1], against_best="worse", unspent=0)))
    assert "All others are worse, beyond chance." in render_sweep(alone, "en")
    assert "all others are worse, beyond chance" in list(sweep_lines(alone))


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ((0, 4), "in 1 combination (4 of 9 queries): raise"),
        ((4, 4), "in 2 combinations (4 of 9 queries each): raise"),
        ((4, 5), "in 2 combinations, most in k1=1 (5 of 9 queries): raise"),
    ],
)
def test_most_is_said_only_where_one_has_more(counts, said):
    """Equal counts have no most."""
    rows = tuple(replace(row, unspent=n) for row, n in zip(_ROWS, counts, strict=True))
    assert said in next(sweep_lines(replace(_VIEW, rows=rows)))


def test_a_row_without_a_value_has_no_finding():
    """And does not make the others worse."""
    nothing = replace(
        _ROWS[1],
        means={"RR@5": SweepMean(None, 0), "AP": SweepMean(None, 0)},
        difference=Difference(),
        against_best=None,
    )
    view = replace(_VIEW, rows=(_ROWS[0], replace(nothing, unspent=0)))
    page = render_sweep(view, "en")
    assert "cannot tell" not in page
    assert "All others are worse" not in page
    assert list(sweep_lines(view)) == ["best by MRR@5: k1=<b>2</b>"]


def test_without_any_mean_nothing_is_best_and_nothing_is_drawn():
    """Not a crash and not an invented winner."""
    empty = SweepMean(None, 0)
    rows = tuple(
        replace(row, means={"RR@5": empty, "AP": empty}, best=False, unspent=0) for row in _ROWS
    )
    view = replace(_VIEW, rows=rows)
    page = render_sweep(view, "en")
    assert "No combination has a MRR@5." in page
    assert '<svg class="chart"' not in page
    assert list(sweep_lines(view)) == ["no combination has a MRR@5, so none is best"]


def test_an_outside_baseline_pruned_and_equal_combinations_are_shown():
    """Each where it belongs."""
    outside = SweepRow("old-run", "old-run", {"RR@5": SweepMean(0.55, 9)})
    view = replace(
        _VIEW,
        outside=outside,
        baseline="old-run",
        chunkers_differ=True,
        pruned=[PrunedRow("k1=9", 3, 0.1)],
        left_out=[("k1=1.0", "k1=1")],
        total=4,
    )
    page = render_sweep(view, "en")
    for words in ("old-run", "k1=9", "k1=1.0", "at equal k bigger chunks always win", "2 / 4"):
        assert words in page
    lines = list(sweep_lines(view))
    assert "1 combination was not tried" in lines
    assert "left after 3 queries with MRR@5 0.1000: k1=9" in lines
    found = view.as_json()
    assert found["pruned"] == [{"name": "k1=9", "queries": 3, "score": 0.1}]
    assert found["left_out"] == [{"name": "k1=1.0", "same_as": "k1=1"}]
    assert found["baseline_run"]["name"] == "old-run"


def test_many_rivals_are_counted():
    """The first five by name."""
    rivals = tuple(replace(_ROWS[1], name=f"r{n}", unspent=0) for n in range(7))
    lines = list(sweep_lines(replace(_VIEW, rows=(_ROWS[0], *rivals), total=8)))
    assert lines[-1] == "cannot be told apart from it: r0; r1; r2; r3; r4 and 2 more"
