"""The Pareto picture of a sweep: quality against latency, as an Altair specification."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragnostic.report.charts import FINAL, FIRST, MUTED
from ragnostic.report.drawings import data
from ragnostic.report.sweep_view import SweepRow

WIDTH = 720
HEIGHT = 340
_ROOM = 0.06
"""Share of an axis that stays free at each end."""


def pareto_chart(rows: Sequence[SweepRow], metric: str, *, x: str, y: str) -> Any:
    """Combinations by median latency and mean, with intervals; those on the front are joined.

    ``rows`` in the order of the table, each with both values; a point bears its place in it.
    """
    import altair as alt  # noqa: PLC0415 - heavy, loaded on use

    means = [row.means[metric] for row in rows]
    points: list[dict[str, Any]] = [
        {
            "ms": row.p50_ms,
            "mean": found.mean,
            "low": found.low,
            "high": found.high,
            "pareto": row.pareto,
            "place": str(place),
        }
        for place, (row, found) in enumerate(zip(rows, means, strict=True), 1)
    ]
    across = alt.X(
        "ms:Q",
        title=x,
        scale=_scale([row.p50_ms for row in rows]),
        axis=alt.Axis(grid=False, tickCount=6, format="~g"),
    )
    ends = [end for found in means for end in (found.mean, found.low, found.high)]
    quality = {
        "title": y,
        "scale": _scale(ends),
        "axis": alt.Axis(domain=False, format=".3~f", tickCount=6),
    }
    up = alt.Y("mean:Q", **quality)
    paint = alt.Color(
        "pareto:N", legend=None, scale=alt.Scale(domain=[True, False], range=[FINAL, FIRST])
    )
    base = alt.Chart(data(points))
    bars = (
        alt.Chart(data([row for row in points if row["low"] is not None]))
        .mark_rule(strokeWidth=3, opacity=0.3, strokeCap="round")
        .encode(x=across, y=alt.Y("low:Q", **quality), y2="high:Q", color=paint)
    )
    front = (
        alt.Chart(data([row for row in points if row["pareto"]]))
        .mark_line(color=FINAL, strokeWidth=1.5, strokeDash=[3, 4])
        .encode(x=across, y=up)
    )
    dots = base.mark_point(filled=True, size=80, opacity=1).encode(x=across, y=up, color=paint)
    names = base.mark_text(dx=9, dy=-8, align="left", fontSize=11, color=MUTED).encode(
        x=across, y=up, text="place:N"
    )
    fit = alt.AutoSizeParams(type="fit", contains="padding")
    return alt.layer(bars, front, dots, names).properties(width=WIDTH, height=HEIGHT, autosize=fit)


def _scale(values: Sequence[float | None]) -> Any:
    import altair as alt  # noqa: PLC0415 - heavy, loaded on use

    known = [value for value in values if value is not None]
    low, high = min(known), max(known)
    room = (high - low or abs(high) or 1.0) * _ROOM
    return alt.Scale(domain=[low - room, high + room], nice=False, zero=False)
