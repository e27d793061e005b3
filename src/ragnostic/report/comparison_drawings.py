"""The charts of the comparison page, as Altair specifications over its model."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from ragnostic.report.charts import FINAL, LINE, MUTED
from ragnostic.report.comparison_page import Histogram, Slopes
from ragnostic.report.drawings import count_ticks, data, size

if TYPE_CHECKING:
    import altair as alt

WORSE = "var(--caution, #a33d0c)"
_TICKS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)


def difference_chart(histogram: Histogram, *, x: str, y: str) -> Any:
    """Queries by their difference, worse ones in the colour of caution; 0 is in the middle."""
    import altair as alt  # noqa: PLC0415 - heavy, loaded on use

    rows = [
        {"from": low, "to": high, "zero": 0, "n": count, "better": (low >= 0) != histogram.turned}
        for low, high, count in histogram.bars
    ]
    reach = max(max(-low, high) for low, high, _ in histogram.bars)
    most = max(count for _, _, count in histogram.bars)
    across = alt.X(
        "from:Q",
        title=x,
        scale=alt.Scale(domain=[-reach, reach], nice=False),
        axis=alt.Axis(
            values=[-reach, -reach / 2, 0, reach / 2, reach],
            labelExpr="datum.value > 0 ? '+' + format(datum.value, '~') : "
            "replace(format(datum.value, '~'), '-', '−')",
            grid=False,
            labelFlush=False,
        ),
    )
    up = alt.Y(
        "n:Q",
        title=y,
        scale=alt.Scale(domain=[0, most * 1.08]),
        axis=alt.Axis(values=count_ticks(most), domain=False, format="d"),
    )
    bars = (
        alt.Chart(data(rows))
        .mark_bar(stroke="var(--paper, #fff)", strokeWidth=1.5)
        .encode(
            x=across,
            x2="to:Q",
            y=up,
            y2="zero:Q",
            color=alt.Color(
                "better:N", legend=None, scale=alt.Scale(domain=[True, False], range=[FINAL, WORSE])
            ),
        )
    )
    counts = (
        alt.Chart(data([row | {"at": (row["from"] + row["to"]) / 2} for row in rows]))
        .mark_text(dy=-6, fontSize=10, color=MUTED)
        .encode(x="at:Q", y="n:Q", text="n:Q")
    )
    zero = alt.Chart(data([{"at": 0}])).mark_rule(color=MUTED).encode(x="at:Q")
    return alt.layer(bars, counts, zero).properties(**size())


def slope_chart(slopes: Slopes, *, before: str, after: str, none: str) -> Any:
    """First relevant rank before and after, a line a way; thicker where more queries went it.

    Ranks stand on a logarithmic axis, 1 on top; below the deepest one stands ``none``.
    """
    import altair as alt  # noqa: PLC0415 - heavy, loaded on use

    deepest = max(rank for first, last, _ in slopes.paths for rank in (first, last, 2) if rank)
    bottom = math.log10(deepest) * 1.2

    def place(rank: int | None) -> float:
        return bottom if rank is None else math.log10(rank)

    rows = [
        {
            "x": 0,
            "x2": 1,
            "y": place(first),
            "y2": place(last),
            "better": place(last) < place(first),
            "width": min(1.6 * math.sqrt(count), 10),
        }
        for first, last, count in slopes.paths
    ]
    lines = (
        alt.Chart(data(rows))
        .mark_rule(opacity=0.55, strokeCap="round")
        .encode(
            x=_sides(before, after),
            x2="x2:Q",
            y=_ranks(deepest, bottom, none),
            y2="y2:Q",
            strokeWidth=alt.StrokeWidth("width:Q", scale=None, legend=None),
            color=alt.Color(
                "better:N", legend=None, scale=alt.Scale(domain=[True, False], range=[FINAL, WORSE])
            ),
        )
    )
    ends = alt.Chart(data([{"x": 0}, {"x": 1}])).mark_rule(color=LINE).encode(x="x:Q")
    return alt.layer(ends, lines).properties(**size())


def _sides(before: str, after: str) -> alt.X:
    import altair as alt  # noqa: PLC0415 - heavy, loaded on use

    names = f"datum.value < 0.5 ? {json.dumps(before)} : {json.dumps(after)}"
    axis = alt.Axis(values=[0, 1], labelExpr=names, grid=False, domain=False, labelFontSize=12)
    return alt.X("x:Q", title=None, scale=alt.Scale(domain=[0, 1], nice=False), axis=axis)


def _ranks(deepest: int, bottom: float, none: str) -> alt.Y:
    import altair as alt  # noqa: PLC0415 - heavy, loaded on use

    ticks = [math.log10(rank) for rank in _TICKS if rank <= deepest]
    middle = (math.log10(deepest) + bottom) / 2
    names = f"datum.value > {middle} ? {json.dumps(none)} : round(pow(10, datum.value))"
    axis = alt.Axis(values=[*ticks, bottom], labelExpr=names, domain=False)
    scale = alt.Scale(domain=[0, bottom], nice=False, reverse=True)
    return alt.Y("y:Q", title=None, scale=scale, axis=axis)
