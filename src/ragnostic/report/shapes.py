"""The shapes behind the charts: recall curves, score histograms, ranks, slices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ragnostic.report.outcomes import Outcome
from ragnostic.report.page import Bars, Curve, SliceRow, SliceTable, TailGap
from ragnostic.report.run import RunData, count, mapping, number
from ragnostic.report.scorebook import ScoreBook
from ragnostic.stats.slices import slice_columns

SCORE_BUCKETS = ("0", "0–.2", ".2–.4", ".4–.6", ".6–.8", ".8–1", "1")
RANK_BUCKETS = ("1", "2", "3", "4–5", "6–10", "11–20", "21+", "none")
MAX_SLICES = 20
MOST_LABELS = 0.5
"""Labels a query above which a label is no slice but a name."""
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
    """Means of the final stage by every column that queries can be sliced by
    (:func:`~ragnostic.stats.slices.slice_columns`), worst first, small ones last.
    """
    if not metrics or not run.stages:
        return ()
    keys = [
        str(row.get("record_id") or row.get("query_id"))
        for row in run.rows(("record_id", "query_id"))
    ]
    tables = (
        _slice_table(run, book, metrics, column, dict(zip(keys, values.to_pylist(), strict=True)))
        for column, values in slice_columns(run.records).items()
    )
    return tuple(table for table in tables if table is not None)


def _slice_table(
    run: RunData,
    book: ScoreBook,
    metrics: Sequence[str],
    column: str,
    values_of: Mapping[str, str | None],
) -> SliceTable | None:
    members: dict[str, list[str]] = {}
    for key, value in values_of.items():
        if value:
            members.setdefault(value, []).append(key)
    # A label that is another one for almost every query slices nothing.
    is_name = column.startswith("labels.") and len(members) > len(values_of) * MOST_LABELS
    if len(members) < 2 or is_name:
        return None
    values = [book.values(run.stages[-1], metric) for metric in metrics]
    rows = [_slice_row(value, keys, values) for value, keys in members.items()]
    rows.sort(key=lambda row: (row.n < SMALL_SLICE, row.means[0] or 0.0, row.value))
    return SliceTable(column, tuple(metrics), tuple(rows[:MAX_SLICES]), len(rows[MAX_SLICES:]))


def _slice_row(value: str, keys: Sequence[str], columns: Sequence[Mapping[str, float]]) -> SliceRow:
    found = [[column[key] for key in keys if key in column] for column in columns]
    means = tuple(sum(values) / len(values) if values else None for values in found)
    return SliceRow(value, len(found[0]), means)
