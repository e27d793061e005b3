"""The chart of the trend page, as an Altair specification over its model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ragnostic.report.charts import FINAL, FIRST, MUTED
from ragnostic.report.drawings import WIDTH, data
from ragnostic.report.trend_page import Mark, TrendLine

if TYPE_CHECKING:
    import altair as alt

WORSE = "var(--caution, #a33d0c)"
PAPER = "var(--paper, #ffffff)"
HEIGHT = 230
MOST_MARKS = 6
LABEL = 24
SMALL, LARGE = 45, 130
"""Areas of the points, in square pixels."""
TICKS = 10

_ADDRESS_SIGN = re.compile(r"(?=[:/])")


def trend_chart(line: TrendLine, marks: Sequence[Mark], *, first: int, last: int, x: str) -> Any:
    """One metric over the runs ``first`` to ``last``: a line in a band of intervals.

    A point is filled where the metric turned, in the colour of better or worse; tags stand on
    dotted rules, the latest six of them with their names.
    """
    import altair as alt  # noqa: PLC0415 - heavy, loaded on use

    rows = [
        {"run": point.number, "mean": mean, "low": low, "high": high, "turn": point.turn}
        | {"size": LARGE if point.turn else SMALL}
        for point in line.points
        for mean, low, high, _ in (point.value,)
    ]
    banded = [row for row in rows if row["low"] is not None and row["high"] is not None]
    across = _runs(first, last, x)
    up = alt.Y(
        "mean:Q",
        title=None,
        scale=alt.Scale(zero=False, nice=True, padding=8),
        axis=alt.Axis(tickCount=4, domain=False, format=".3~f"),
    )
    band = (
        alt.Chart(data(banded))
        .mark_area(color=FINAL, opacity=0.14)
        .encode(x=across, y=alt.Y("low:Q"), y2="high:Q")
    )
    bars = (
        alt.Chart(data(banded if len(banded) < 3 else []))
        .mark_rule(color=FINAL, opacity=0.35, strokeWidth=4, strokeCap="round")
        .encode(x=across, y=alt.Y("low:Q"), y2="high:Q")
    )
    drawn = alt.Chart(data(rows)).mark_line(color=FINAL, strokeWidth=2).encode(x=across, y=up)
    points = (
        alt.Chart(data(rows))
        .mark_point(filled=True, opacity=1, stroke=PAPER, strokeWidth=1.5)
        .encode(
            x=across,
            y=up,
            size=alt.Size("size:Q", legend=None, scale=None),
            color=alt.Color(
                "turn:N",
                legend=None,
                scale=alt.Scale(domain=[-1, 0, 1], range=[WORSE, FIRST, FINAL]),
            ),
        )
    )
    fit = alt.AutoSizeParams(type="fit", contains="padding")
    return alt.layer(*_marks(marks, across), band, bars, drawn, points).properties(
        width=WIDTH, height=HEIGHT, autosize=fit
    )


def _marks(marks: Sequence[Mark], across: alt.X) -> list[Any]:
    """Dotted rules for the tagged runs; labels stand in two lines, so that neighbours fit."""
    import altair as alt  # noqa: PLC0415 - heavy, loaded on use

    layers: list[Any] = [
        alt.Chart(data([{"run": mark.number} for mark in marks]))
        .mark_rule(color=MUTED, strokeDash=[2, 4], opacity=0.7)
        .encode(x=across)
    ]
    for at, mark in enumerate(marks[-MOST_MARKS:]):
        rows = data([{"run": mark.number, "label": _label(mark.label)}])
        layers.append(
            alt.Chart(rows)
            .mark_text(color=MUTED, fontSize=10, align="center", baseline="bottom", dy=-4)
            .encode(x=across, y=alt.value(-13 * (at % 2)), text="label:N")
        )
    return layers


def _label(text: str) -> str:
    """A tag short enough for a chart, and never an address there."""
    short = text if len(text) <= LABEL else text[: LABEL - 1] + "…"
    return _ADDRESS_SIGN.sub("\u200a", short)


def _runs(first: int, last: int, title: str) -> alt.X:
    import altair as alt  # noqa: PLC0415 - heavy, loaded on use

    step = max(-(-(last - first) // TICKS), 1)
    return alt.X(
        "run:Q",
        title=title,
        scale=alt.Scale(domain=[first - 0.3, last + 0.3], nice=False),
        axis=alt.Axis(values=list(range(first, last + 1, step)), format="d", grid=False),
    )
