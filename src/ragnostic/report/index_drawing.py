"""Recall against time of a vector index, to choose an effort from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragnostic.corpus.index_recall import Point
from ragnostic.report.charts import FINAL, FIRST, LINE, MUTED
from ragnostic.report.drawings import data

WIDTH = 720
HEIGHT = 320
_ROOM = 0.06


def curve_chart(curve: Sequence[Point], target: float, *, x: str, y: str) -> Any:
    """A point an effort, joined in order; the one that is set is filled in the page's colour, the
    target is a dashed line.
    """
    import altair as alt  # noqa: PLC0415 - heavy, loaded on use

    rows: list[dict[str, Any]] = [
        {
            "ms": point.p50_ms,
            "recall": point.recall,
            "low": point.low,
            "high": point.high,
            "usual": point.usual,
            "order": place,
            "effort": "" if point.effort is None else str(point.effort),
        }
        for place, point in enumerate(curve)
    ]
    times = [point.p50_ms for point in curve]
    room = (max(times) - min(times) or max(times) or 1.0) * _ROOM
    floor = min([target, *(point.low for point in curve)])
    span = [max(0.0, floor - (1 - floor) * _ROOM), 1.0 + max(0.01, (1 - floor) * _ROOM)]
    across = alt.X(
        "ms:Q",
        title=x,
        scale=alt.Scale(domain=[min(times) - room, max(times) + room], nice=False, zero=False),
        axis=alt.Axis(grid=False, tickCount=6, format="~g"),
    )
    quality: dict[str, Any] = {
        "title": y,
        "scale": alt.Scale(domain=span, nice=False, zero=False),
        "axis": alt.Axis(domain=False, format=".3~f", tickCount=6),
    }
    up = alt.Y("recall:Q", **quality)
    paint = alt.Color(
        "usual:N", legend=None, scale=alt.Scale(domain=[True, False], range=[FINAL, FIRST])
    )
    base = alt.Chart(data(rows))
    wanted = (
        alt.Chart(data([{"target": target}]))
        .mark_rule(color=MUTED, strokeDash=[4, 4])
        .encode(y=alt.Y("target:Q", **quality))
    )
    bars = base.mark_rule(strokeWidth=3, opacity=0.3, strokeCap="round").encode(
        x=across, y=alt.Y("low:Q", **quality), y2="high:Q", color=paint
    )
    line = base.mark_line(color=LINE, strokeWidth=1.5).encode(x=across, y=up, order="order:Q")
    dots = base.mark_point(filled=True, size=80, opacity=1).encode(x=across, y=up, color=paint)
    names = base.mark_text(dx=8, dy=10, align="left", fontSize=11, color=MUTED).encode(
        x=across, y=up, text="effort:N"
    )
    fit = alt.AutoSizeParams(type="fit", contains="padding")
    return alt.layer(wanted, line, bars, dots, names).properties(
        width=WIDTH, height=HEIGHT, autosize=fit
    )
