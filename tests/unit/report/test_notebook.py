"""The view of summaries in a notebook."""

from __future__ import annotations

from dataclasses import dataclass

from ragnostic.report.notebook import summary_html


@dataclass(frozen=True)
class Summary:
    """A summary as the statistics make it."""

    mean: float | None
    n: int
    low: float | None = None
    high: float | None = None
    missing: int = 0
    unscored: int = 0
    failed: int = 0


def test_a_table_and_a_chart_are_shown():
    """A row a metric, one chart, no script."""
    html = summary_html({"RR@5": Summary(0.5, 30, 0.4, 0.6), "R@20": Summary(None, 0, unscored=3)})
    assert "MRR@5" in html
    assert "0.4000 – 0.6000" in html
    assert html.count("<svg") == 1
    assert "<script" not in html


def test_nothing_defined_has_no_chart():
    """Dashes in the table; a hostile name stays text."""
    html = summary_html({"<b>": Summary(None, 0)})
    assert "<svg" not in html
    assert "&lt;b&gt;" in html
    assert "–" in html


def test_no_metrics_is_an_empty_table():
    """An empty result shows its head only."""
    assert "<tbody></tbody>" in summary_html({})
