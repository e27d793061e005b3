"""The notebook view of a comparison: a table, and one chart of the differences."""

from __future__ import annotations

from gettext import NullTranslations
from html import escape
from typing import TYPE_CHECKING, Any

from ragnostic.report.axis import reach_of
from ragnostic.report.catalogue import catalogue
from ragnostic.report.charts import FINAL, render_chart
from ragnostic.report.comparison_text import METRIC_HEAD, metric_cells, tally
from ragnostic.report.drawings import data
from ragnostic.report.labels import canonical
from ragnostic.report.notebook import CELL, NAME, TABLE
from ragnostic.report.numbers import signed
from ragnostic.report.visible import visible

if TYPE_CHECKING:
    from ragnostic.stats.comparison import Comparison
    from ragnostic.stats.gates import GateResult

_TEXT_COLUMNS = 2


def comparison_html(comparison: Comparison, gate: GateResult | None = None) -> str:
    """A comparison as an HTML fragment for ``_repr_html_``: the verdict, a row a metric, a chart
    of the differences around 0. Inline styles only, no script; legible on light and dark pages.
    """
    words = catalogue("en")
    verdict = tally([found.finding for found in comparison.metrics], words)
    names = f"{comparison.base} → {comparison.candidate}"
    said = f"{names}: {verdict}" + ("" if gate is None else f"; gate {gate.verdict}")
    return (
        f"<p>{escape(visible(said))}</p>"
        '<div style="display:flex;flex-wrap:wrap;gap:16px 32px;align-items:center">'
        f"{_table(comparison, words)}{_chart(comparison)}</div>"
    )


def _table(comparison: Comparison, words: NullTranslations) -> str:
    head = "".join(
        f'<th scope="col" style="{_style(at)}">{words.gettext(title)}</th>'
        for at, title in enumerate(METRIC_HEAD)
    )
    rows = ""
    for found in comparison.metrics:
        cells = metric_cells(found, words)
        shown = "".join(
            f'<td style="{_style(at)}">{escape(cell)}</td>'
            for at, cell in enumerate(cells[1:], start=1)
        )
        rows += f'<tr><th scope="row" style="{NAME}">{escape(cells[0])}</th>{shown}</tr>'
    return f'<table style="{TABLE}"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'


def _style(column: int) -> str:
    return NAME if column < _TEXT_COLUMNS else CELL


def _chart(comparison: Comparison) -> str:
    rows = [
        {
            "metric": visible(canonical(found.metric)),
            "difference": found.difference.value,
            "low": found.difference.low,
            "high": found.difference.high,
        }
        for found in comparison.metrics
        if found.difference.value is not None
    ]
    if not rows:
        return ""
    drawn = render_chart(
        _intervals(rows, reach_of(found.difference for found in comparison.metrics)),
        key="ragnostic-comparison",
        title="Differences with 95% CIs",
        summary="; ".join(
            f"{visible(canonical(found.metric))}: {signed(found.difference.value)}"
            for found in comparison.metrics
        ),
    )
    return f'<div style="flex:0 1 440px">{drawn}</div>'


def _intervals(rows: list[dict[str, Any]], reach: float) -> Any:
    """Differences as points with their intervals, one metric a line, around a line at 0."""
    import altair as alt  # noqa: PLC0415 - heavy, loaded on use

    order = [row["metric"] for row in rows]
    metric = alt.Y("metric:N", sort=order, title=None, axis=alt.Axis(domain=False, labelLimit=180))
    across = alt.X(
        "difference:Q",
        title=None,
        scale=alt.Scale(domain=[-reach, reach], clamp=True),
        axis=alt.Axis(values=[-reach, 0, reach], format="+.3~g", domain=False),
    )
    spans = [row for row in rows if row["low"] is not None and row["high"] is not None]
    interval = (
        alt.Chart(data(spans))
        .mark_rule(color=FINAL, strokeWidth=4, opacity=0.35, strokeCap="round")
        .encode(y=metric, x="low:Q", x2="high:Q")
    )
    points = (
        alt.Chart(data(rows))
        .mark_point(color=FINAL, filled=True, size=70, opacity=1)
        .encode(y=metric, x=across)
    )
    return alt.layer(interval, points).properties(width=300, height=max(26 * len(rows), 26))
