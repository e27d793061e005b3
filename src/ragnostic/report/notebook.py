"""The notebook view of summaries: a small table and one chart of intervals."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Protocol

from ragnostic.report.charts import render_chart
from ragnostic.report.drawings import interval_chart
from ragnostic.report.labels import canonical
from ragnostic.report.numbers import decimal
from ragnostic.report.visible import visible


class SummaryLike(Protocol):
    """A mean with its counts and its 95 % interval; undefined members are None."""

    @property
    def mean(self) -> float | None:
        """Mean over ``n`` queries."""
        ...

    @property
    def n(self) -> int:
        """Queries in the mean."""
        ...

    @property
    def missing(self) -> int:
        """Judged queries without a ranking."""
        ...

    @property
    def unscored(self) -> int:
        """Queries without a relevant judgment."""
        ...

    @property
    def failed(self) -> int:
        """Queries whose retrieval failed."""
        ...

    @property
    def low(self) -> float | None:
        """Lower end of the 95 % interval."""
        ...

    @property
    def high(self) -> float | None:
        """Upper end of the 95 % interval."""
        ...


TABLE = "border-collapse:collapse;font-variant-numeric:tabular-nums"
CELL = "padding:4px 14px;text-align:right;border-bottom:1px solid rgba(128,128,128,.3)"
NAME = f"{CELL};text-align:left"


def summary_html(summaries: Mapping[str, SummaryLike]) -> str:
    """Metrics as an HTML fragment for ``_repr_html_``: a row a metric, and a chart of the means
    with their intervals. Inline styles only, no script; legible on light and dark pages.

    A metric without a mean has a dash in the table and is not in the chart.
    """
    rows = "".join(_row(name, summary) for name, summary in summaries.items())
    head = "".join(
        f'<th scope="col" style="{NAME if at == 0 else CELL}">{title}</th>'
        for at, title in enumerate(
            ("metric", "mean", "95% CI", "n", "missing", "unscored", "failed")
        )
    )
    table = f'<table style="{TABLE}"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:16px 32px;align-items:center">'
        f"{table}{_chart(summaries)}</div>"
    )


def _row(name: str, summary: SummaryLike) -> str:
    interval = "–"
    if summary.low is not None and summary.high is not None:
        interval = f"{decimal(summary.low)} – {decimal(summary.high)}"
    counts = (summary.n, summary.missing, summary.unscored, summary.failed)
    cells = [decimal(summary.mean), interval, *map(str, counts)]
    shown = "".join(f'<td style="{CELL}">{cell}</td>' for cell in cells)
    return f'<tr><th scope="row" style="{NAME}">{escape(visible(canonical(name)))}</th>{shown}</tr>'


def _chart(summaries: Mapping[str, SummaryLike]) -> str:
    known = {
        visible(canonical(name)): summary
        for name, summary in summaries.items()
        if summary.mean is not None
    }
    if not known:
        return ""
    rows = [
        {"metric": name, "mean": summary.mean, "low": summary.low, "high": summary.high}
        for name, summary in known.items()
    ]
    drawn = render_chart(
        interval_chart(rows),
        key="ragnostic",
        title="Means with 95% CIs",
        summary="; ".join(f"{name}: {decimal(summary.mean)}" for name, summary in known.items()),
    )
    return f'<div style="flex:0 1 440px">{drawn}</div>'
