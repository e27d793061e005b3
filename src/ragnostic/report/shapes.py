"""The shapes behind the charts: recall curves, score histograms, ranks, slices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ragnostic.report.outcomes import Outcome
from ragnostic.report.page import Bars, Curve, SliceRow, SliceTable, TailGap
from ragnostic.report.run import RunData, count, mapping, number
from ragnostic.report.scorebook import ScoreBook

SCORE_BUCKETS = ("0", "0–.2", ".2–.4", ".4–.6", ".6–.8", ".8–1", "1")
RANK_BUCKETS = ("1", "2", "3", "4–5", "6–10", "11–20", "21+", "none")
SLICE_COLUMNS = ("category", "language")
MAX_SLICES = 20
SMALL_SLICE = 10
"""A slice with fewer queries stands last: its mean says little."""

_SAME = 1e-9


def curves(run: RunData) -> tuple[Curve, ...]:
    """The recall curves that run.json has, in stage order."""
    found = (_curve(stage, run.stage_meta(stage)) for stage in run.stages)
    return tuple(curve for curve in found if curve is not None)


def _curve(stage: str, stage_meta: Mapping[str, object]) -> Curve | None:
    meta = mapping(stage_meta.get("curve"))
    depth, recall = meta.get("depth"), meta.get("recall")
    if not isinstance(depth, list | tuple) or not isinstance(recall, list | tuple):
        return None
    points = [
        (int(at), value)
        for at, raw in zip(depth, recall, strict=False)
        if (value := number(raw)) is not None
    ]
    if not points:
        return None
    return Curve(
        stage=stage,
        depth=tuple(at for at, _ in points),
        recall=tuple(value for _, value in points),
        half_life=_whole(meta.get("half_life")),
        plateau=_whole(meta.get("plateau")),
        k90=_reaches(points, 0.9),
        k95=_reaches(points, 0.95),
        carried=number(meta.get("carried_share")),
        slope=number(meta.get("slope")),
        tail=_tail(mapping(stage_meta.get("tail_decay"))),
    )


def _tail(meta: Mapping[str, object]) -> TailGap | None:
    value = number(meta.get("value"))
    if value is None:
        return None
    low, high = number(meta.get("low")), number(meta.get("high"))
    return TailGap(str(meta.get("metric")), value, low, high)


def _whole(value: object) -> int | None:
    return None if number(value) is None else count(value)


def _reaches(points: Sequence[tuple[int, float]], share: float) -> int | None:
    """The depth at which the curve first holds ``share`` of its last value (METRICS 3)."""
    last = points[-1][1]
    if last <= 0:
        return None
    return next(at for at, value in points if value >= share * last - _SAME)


def score_bars(book: ScoreBook, stages: Sequence[str], metric: str | None) -> Bars | None:
    """How many queries have which score; exact 0 and exact 1 stand alone."""
    if metric is None:
        return None
    series = [
        (stage, [_score_bucket(value) for value in book.values(stage, metric).values()])
        for stage in stages
    ]
    return _bars(SCORE_BUCKETS, series)


def rank_bars(outcomes: Iterable[Outcome], stages: Sequence[str]) -> Bars | None:
    """At which rank the first relevant chunk stands, over the scorable queries."""
    firsts = [outcome.first for outcome in outcomes if outcome.scorable]
    series = [
        (stage, [_rank_bucket(first[at]) for first in firsts]) for at, stage in enumerate(stages)
    ]
    bars = _bars(RANK_BUCKETS, series)
    return None if bars is None else _without_empty(bars, "21+")


def _bars(
    buckets: tuple[str, ...],
    series: Sequence[tuple[str, Sequence[int]]],
) -> Bars | None:
    if not any(values for _, values in series):
        return None
    counted = []
    for stage, values in series:
        counts = [0] * len(buckets)
        for at in values:
            counts[at] += 1
        counted.append((stage, tuple(counts)))
    return Bars(buckets, tuple(counted))


def _without_empty(bars: Bars, bucket: str) -> Bars:
    at = bars.buckets.index(bucket)
    if any(counts[at] for _, counts in bars.series):
        return bars
    return Bars(
        bars.buckets[:at] + bars.buckets[at + 1 :],
        tuple((stage, counts[:at] + counts[at + 1 :]) for stage, counts in bars.series),
    )


def _score_bucket(value: float) -> int:
    if value <= _SAME:
        return 0
    if value >= 1 - _SAME:
        return len(SCORE_BUCKETS) - 1
    return 1 + min(int(value * 5 + _SAME), 4)


def _rank_bucket(rank: int | None) -> int:
    if rank is None:
        return len(RANK_BUCKETS) - 1
    return sum(rank > last for last in (1, 2, 3, 5, 10, 20))


def slices(run: RunData, book: ScoreBook, metrics: Sequence[str]) -> tuple[SliceTable, ...]:
    """Means of the final stage by category and by language, worst first, small ones last."""
    tables = (_slice_table(run, book, metrics, column) for column in SLICE_COLUMNS)
    return tuple(table for table in tables if table is not None)


def _slice_table(
    run: RunData, book: ScoreBook, metrics: Sequence[str], column: str
) -> SliceTable | None:
    if not metrics or not run.stages:
        return None
    members: dict[str, list[str]] = {}
    for row in run.rows(("record_id", "query_id", column)):
        if row.get(column):
            key = str(row.get("record_id") or row.get("query_id"))
            members.setdefault(str(row[column]), []).append(key)
    if len(members) < 2:
        return None
    values = [book.values(run.stages[-1], metric) for metric in metrics]
    rows = [_slice_row(value, keys, values) for value, keys in members.items()]
    rows.sort(key=lambda row: (row.n < SMALL_SLICE, row.means[0] or 0.0, row.value))
    return SliceTable(column, tuple(metrics), tuple(rows[:MAX_SLICES]), len(rows[MAX_SLICES:]))


def _slice_row(value: str, keys: Sequence[str], columns: Sequence[Mapping[str, float]]) -> SliceRow:
    found = [[column[key] for key in keys if key in column] for column in columns]
    means = tuple(sum(values) / len(values) if values else None for values in found)
    return SliceRow(value, len(found[0]), means)
