"""The picture in a mail: the figure of an alert over its last windows, and what it is held against.

A mail client knows no page and no colours of it, so these are plain ones on white.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

from ragnostic.monitor.rollups.series import Point, Size, read_series
from ragnostic.notify.channel import Charts
from ragnostic.ports import Notice, RecordStore
from ragnostic.report.charts import plain_chart
from ragnostic.report.drawings import data

WINDOWS = 28
"""So many windows are drawn."""
_LENGTH: Mapping[Size, timedelta] = {"hour": timedelta(hours=1), "day": timedelta(days=1)}
_JUDGE = "judge"
"""Stands among the slices of a notice where a store has several judges."""
_SIZE = (520, 150)
_INK, _LIMIT = "#0b6e69", "#a33d0c"
_FORMATS: Mapping[Size, str] = {"hour": "%d %H:%M", "day": "%m-%d"}


def alert_charts(store: RecordStore) -> Charts:
    """The :data:`~ragnostic.notify.channel.Charts` of a store: one picture for a notice of which
    there are two windows with data or more, none for any other.
    """

    def charts(notice: Notice) -> Mapping[str, bytes]:
        start, end = notice.window
        size: Size = "hour" if end - start <= timedelta(hours=1) else "day"
        slices = {name: value for name, value in notice.slice.items() if name != _JUDGE}
        column, value = next(iter(slices.items()), ("", ""))
        series = read_series(
            store,
            notice.metric,
            window=size,
            start=end - WINDOWS * _LENGTH[size],
            end=end,
            zone=notice.zone,
            stage=notice.stage or None,
            judge=notice.slice.get(_JUDGE),
            slice_=column,
        )
        chosen = [points for key, points in series.items() if key.value == value]
        known = [one for one in chosen[0] if one.value is not None] if chosen else []
        if notice.kind == "test" or len(known) < 2:
            return {}
        chart = _chart(known, notice, _FORMATS[size])
        return {notice.metric: plain_chart(chart, png=True)}

    return charts


def _chart(points: Sequence[Point], notice: Notice, shown: str) -> Any:
    import altair as alt  # noqa: PLC0415 - heavy, loaded on use

    zone = ZoneInfo(notice.zone)
    rows = [
        {"at": point.start.astimezone(zone).strftime(shown), "value": point.value}
        | {"low": point.low, "high": point.high}
        for point in points
    ]
    names = list(dict.fromkeys(str(row["at"]) for row in rows))
    across = alt.X("at:N", title=None, sort=names, axis=alt.Axis(labelAngle=0, labelOverlap=True))
    up = alt.Y("value:Q", title=notice.metric, scale=alt.Scale(zero=False, nice=True))
    base = alt.Chart(data(rows)).encode(x=across)
    layers = [
        base.mark_area(color=_INK, opacity=0.15).encode(y=alt.Y("low:Q"), y2="high:Q"),
        base.mark_line(color=_INK, strokeWidth=2, point={"color": _INK}).encode(y=up),
    ]
    if notice.reference is not None:
        held = data([{"held": notice.reference}])
        rule = alt.Chart(held).mark_rule(color=_LIMIT, strokeDash=[5, 4], strokeWidth=1.5)
        layers.append(rule.encode(y="held:Q"))
    return alt.layer(*layers).properties(width=_SIZE[0], height=_SIZE[1], background="white")
