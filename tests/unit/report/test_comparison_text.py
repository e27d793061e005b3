"""A comparison in lines and cells."""

from __future__ import annotations

from ragnostic.offline.compare import compare
from ragnostic.report.catalogue import catalogue
from ragnostic.report.comparison_notebook import comparison_html
from ragnostic.report.comparison_text import (
    METRIC_HEAD,
    comparison_lines,
    interval,
    metric_cells,
    tally,
    telling_slices,
)

VALUES = {"RR@5": {f"q{n}": n / 9 for n in range(9)}}


def test_a_tally_names_what_occurs():
    """Better first; in both languages; one metric is one."""
    findings = ["same", "better", "worse", "cannot_tell", "better"]
    assert tally(findings, catalogue("en")) == (
        "better on 2 of 5 metrics, worse on 1, no difference on 1, cannot tell on 1"
    )
    assert tally(["worse"], catalogue("en")) == "worse on 1 of 1 metric"
    assert tally(["better", "same"], catalogue("zh")) == "2 项指标中 1 项变好、1 项没有差别"
    assert tally([], catalogue("en")) == ""


def test_a_metric_has_a_cell_for_each_name():
    """Undefined ones are dashes."""
    found = compare({"RR@5": {}}, {"RR@5": {}}).comparison
    cells = metric_cells(found.metrics[0], catalogue("en"))
    assert len(cells) == len(METRIC_HEAD)
    assert cells == ["MRR@5", "cannot tell", "–", "–", "–", "–", "–", "0/0/0", "–", "0"]
    assert interval(0.1, None) == "–"


def test_a_comparison_is_a_few_lines():
    """Names that hide something show it."""
    found = compare({"RR@5": {"q": 1.0}}, {"RR@5": {"q": 1.0}})
    lines = comparison_lines(found.comparison, None)
    assert lines[0] == "base → candidate: no difference on 1 of 1 metric"
    assert lines[1].startswith("MRR@5            no difference  1.0000 → 1.0000  ±0.0000")


def test_slices_that_say_no_more_than_the_whole_are_left_out():
    """Nothing differs, or there is but one of them."""
    found = compare(VALUES, VALUES).comparison
    assert telling_slices(found) == {}


def test_a_notebook_has_a_table_and_a_chart():
    """Without a value there is no chart, and hostile names stay text."""
    shifted = {"RR@5": {query: value / 2 for query, value in VALUES["RR@5"].items()}}
    html = comparison_html(compare(VALUES, shifted).comparison)
    assert html.count("<svg") == 1
    assert "MRR@5" in html
    assert "<script" not in html
    assert "<svg" not in comparison_html(compare({"RR@5": {}}, {"RR@5": {}}).comparison)
