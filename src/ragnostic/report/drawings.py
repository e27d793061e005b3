"""The charts of a report, as Altair specifications over page-model values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ragnostic.report.charts import FINAL, FIRST, MUTED
from ragnostic.report.page import Bars, Curve

if TYPE_CHECKING:
    import altair as alt

WIDTH = 440
HEIGHT = 270
"""Outer size of a chart; all are equal, so that those side by side line up."""


def data(rows: Sequence[dict[str, Any]]) -> Any:
    """Rows as the inline data of a chart."""
    import altair as alt  # noqa: PLC0415 - heavy, loaded on use

    return alt.Data(values=list(rows))  # type: ignore[no-untyped-call] # altair has no types here


def size() -> dict[str, Any]:
    """Outer size of a chart, as properties."""
    import altair as alt  # noqa: PLC0415 - heavy, loaded on use

    fit = alt.AutoSizeParams(type="fit", contains="padding")
    return {"width": WIDTH, "height": HEIGHT, "autosize": fit}


def colours(stages: Sequence[str]) -> dict[str, str]:
    """A colour a stage: the final one is the accent, all before it are grey.

    >>> list(colours(["retrieve", "rerank"]).values()) == [FIRST, FINAL]
    True
    """
    return {stage: FINAL if stage == stages[-1] else FIRST for stage in stages}


def recall_chart(curves: Sequence[Curve], *, x: str, y: str, half: str, plateau: str) -> Any:
    """Mean recall by depth, a line a stage; half-life and plateau of the final one marked."""
    import altair as alt  # noqa: PLC0415 - heavy, loaded on use

    final = curves[-1]
    paint = colours([curve.stage for curve in curves])
    layers = _marks(final, half=half, plateau=plateau)
    for curve in curves:
        points = [
            {"k": depth, "recall": recall}
            for depth, recall in zip(curve.depth, curve.recall, strict=True)
        ]
        layers.append(
            alt.Chart(data(points))
            .mark_line(
                color=paint[curve.stage],
                strokeWidth=2.5 if curve is final else 2,
                strokeCap="round",
            )
            .encode(x=_depth(final, x), y=_share(y))
        )
    return alt.layer(*layers).properties(**size())


def _marks(curve: Curve, *, half: str, plateau: str) -> list[Any]:
    """A band between the depths of 90 % and 95 %, a rule and a point at the half-life."""
    import altair as alt  # noqa: PLC0415 - heavy, loaded on use

    layers: list[Any] = []
    if curve.k90 is not None and curve.k95 is not None:
        band = data([{"k": curve.k90, "to": curve.k95, "label": plateau, "y": 0.06}])
        layers.append(
            alt.Chart(band).mark_rect(color=FINAL, opacity=0.12).encode(x="k:Q", x2="to:Q")
        )
        layers.append(_caption(band, curve, curve.k90))
    if curve.half_life is not None and curve.half_life in curve.depth:
        at = curve.recall[curve.depth.index(curve.half_life)]
        point = data([{"k": curve.half_life, "recall": at, "label": half, "y": 0.96}])
        rule = alt.Chart(point).mark_rule(color=MUTED, strokeDash=[2, 4]).encode(x="k:Q")
        dot = alt.Chart(point).mark_point(color=FINAL, filled=True, size=70, opacity=1)
        layers += [rule, dot.encode(x="k:Q", y="recall:Q"), _caption(point, curve, curve.half_life)]
    return layers


def _caption(rows: Any, curve: Curve, depth: int) -> Any:
    """A small label beside a mark, on the side where there is room."""
    import altair as alt  # noqa: PLC0415 - heavy, loaded on use

    late = depth > curve.depth[-1] / 2
    text = alt.Chart(rows).mark_text(
        color=MUTED, fontSize=11, align="right" if late else "left", dx=-7 if late else 7
    )
    return text.encode(x="k:Q", y="y:Q", text="label:N")


def _depth(curve: Curve, title: str) -> alt.X:
    import altair as alt  # noqa: PLC0415 - heavy, loaded on use

    last = max(curve.depth[-1], 2)
    values = [depth for depth in (1, 5, 10, 20, 50, 100, 200, 500, 1000) if depth <= last]
    if last <= 10:
        values = list(range(1, last + 1))
    return alt.X(
        "k:Q",
        title=title,
        scale=alt.Scale(domain=[1, last], nice=False),
        axis=alt.Axis(values=values, grid=False, format="d"),
    )


def _share(title: str) -> alt.Y:
    import altair as alt  # noqa: PLC0415 - heavy, loaded on use

    return alt.Y(
        "recall:Q",
        title=title,
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], domain=False, format=".2f"),
    )


def bars_chart(bars: Bars, labels: Sequence[str], *, x: str, y: str) -> Any:
    """Counts of queries a bucket, stages side by side; ``labels`` are the buckets in words."""
    import altair as alt  # noqa: PLC0415 - heavy, loaded on use

    stages = [stage for stage, _ in bars.series]
    paint = colours(stages)
    rows = [
        {"bucket": label, "stage": str(at), "n": count, "label": str(count) if count else ""}
        for at, (_, counts) in enumerate(bars.series)
        for label, count in zip(labels, counts, strict=True)
    ]
    order = [str(at) for at in range(len(stages))]
    base = alt.Chart(data(rows)).encode(
        x=alt.X(
            "bucket:N",
            sort=list(labels),
            title=x,
            scale=alt.Scale(paddingInner=0.28, paddingOuter=0.1),
            axis=alt.Axis(labelAngle=0, grid=False, labelOverlap=False),
        ),
        xOffset=alt.XOffset("stage:N", sort=order, scale=alt.Scale(paddingInner=0.08)),
        y=alt.Y(
            "n:Q",
            title=y,
            axis=alt.Axis(
                values=count_ticks(max(max(counts) for _, counts in bars.series)),
                domain=False,
                format="d",
            ),
        ),
    )
    fill = alt.Color(
        "stage:N",
        legend=None,
        scale=alt.Scale(domain=order, range=[paint[stage] for stage in stages]),
    )
    drawn = base.mark_bar(cornerRadiusEnd=2).encode(color=fill)
    counts = base.mark_text(dy=-6, fontSize=10, color=MUTED).encode(text="label:N")
    return alt.layer(drawn, counts).properties(**size())


def count_ticks(largest: int) -> list[int]:
    """Whole numbers from 0 for an axis up to ``largest``: steps of 1, 2 or 5 times a power of ten,
    at most five of them.

    >>> count_ticks(1), count_ticks(4), count_ticks(23), count_ticks(4800)
    ([0, 1], [0, 1, 2, 3, 4], [0, 5, 10, 15, 20], [0, 1000, 2000, 3000, 4000])
    """
    sizes = (base * 10**power for power in range(len(str(largest))) for base in (1, 2, 5))
    step = next((size for size in sizes if largest <= size * 5), largest)
    return list(range(0, largest + 1, step))


def interval_chart(rows: Sequence[dict[str, Any]]) -> Any:
    """Means as points with their 95 % intervals, one metric a line, over [0, 1].

    A row has ``metric, mean, low, high``; intervals may be None.
    """
    import altair as alt  # noqa: PLC0415 - heavy, loaded on use

    base = alt.Chart(data(rows)).encode(
        y=alt.Y(
            "metric:N",
            sort=[row["metric"] for row in rows],
            title=None,
            axis=alt.Axis(domain=False, labelLimit=180),
        )
    )
    share = alt.X(
        "mean:Q",
        title=None,
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".2f", domain=False),
    )
    spans = [row for row in rows if row.get("low") is not None and row.get("high") is not None]
    interval = (
        alt.Chart(data(spans))
        .mark_rule(color=FINAL, strokeWidth=4, opacity=0.35, strokeCap="round")
        .encode(y=alt.Y("metric:N", sort=[row["metric"] for row in rows]), x="low:Q", x2="high:Q")
    )
    points = base.mark_point(color=FINAL, filled=True, size=70, opacity=1).encode(x=share)
    return alt.layer(interval, points).properties(width=300, height=max(26 * len(rows), 26))
