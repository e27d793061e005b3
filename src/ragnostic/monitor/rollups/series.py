"""A figure over time: every window in order, those without data too (METRICS 13)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Literal
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.metrics import Metric
from ragnostic.monitor.live_metrics import Selection
from ragnostic.monitor.rollups.estimates import Sums, estimate
from ragnostic.monitor.rollups.rows import COVERAGE, DEPTH, EMPTY, FAILED, LATENCY
from ragnostic.ports import RecordStore

Size = Literal["hour", "day"]
_COLUMNS = (
    *("ts", "judge", "stage", "stage_place", "value", "metric"),
    *("n", "sum", "sum_squares", "more", "sketch", "slice"),
)
_OWN = (LATENCY, EMPTY, FAILED, COVERAGE, DEPTH)


@dataclass(frozen=True, slots=True)
class Point:
    """A window of a series, [start, end) in UTC: the value with its interval and how many rows it
    is over. Without data ``value`` is None and ``reason`` says why: that is not 0.
    """

    start: datetime
    end: datetime
    value: float | None
    n: int
    low: float | None = None
    high: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SeriesKey:
    """What a series is of. ``slice`` and ``value`` are empty for all rows."""

    metric: str
    stage: str
    judge: str
    slice: str = ""
    value: str = ""


def read_series(
    store: RecordStore,
    figure: str,
    *,
    window: Size,
    start: datetime,
    end: datetime,
    zone: str,
    stage: str | None = None,
    judge: str | None = None,
    slice_: str = "",
) -> dict[SeriesKey, list[Point]]:
    """The series of a figure, by value of ``slice_`` (one series without it).

    ``figure``: a metric or signal as :class:`Selection` knows it, ``latency:p95`` (any percentile;
    ≈ 1 %), ``coverage``, ``empty``, ``failed``. ``stage``: the last one where None; ``judge``: each
    has a series of its own where None. The windows are those of :func:`windows_of`.
    Raises UsageError for a figure that nobody knows.
    """
    name = canonical(figure)
    kept = name.partition(":")[0]
    windows = list(windows_of(window, start, end, zone))
    if not windows:
        return {}
    rows = store.read("rollups", start=windows[0][0], end=windows[-1][1], columns=_COLUMNS)
    rows = rows.filter(pc.equal(rows["slice"], slice_))
    starts = [begin for begin, _ in windows]
    depths = _depths(rows, starts)
    rows = rows.filter(pc.equal(rows["metric"], kept))
    if judge is not None:
        rows = rows.filter(pc.equal(rows["judge"], judge))
    found: dict[SeriesKey, dict[int, Sums]] = {}
    for row in _of_stage(rows, stage).to_pylist():
        key = SeriesKey(name, row["stage"], row["judge"], slice_, row["value"])
        place = _place(starts, row["ts"])
        cells = found.setdefault(key, {})
        cells[place] = cells.get(place, Sums()) + _sums(row)
    return {
        key: [
            _point(name, begin, finish, cells.get(place, Sums()), depths.get((key.stage, place)))
            for place, (begin, finish) in enumerate(windows)
        ]
        for key, cells in sorted(found.items(), key=lambda entry: _order(entry[0]))
    }


def windows_of(
    size: Size, start: datetime, end: datetime, zone: str
) -> Iterator[tuple[datetime, datetime]]:
    """Whole hours, or days of a zone, that lie in [start, end), as pairs in UTC.

    >>> when = datetime(2026, 3, 1, 15, tzinfo=UTC), datetime(2026, 3, 3, 17, tzinfo=UTC)
    >>> [begin.isoformat()[:13] for begin, _ in windows_of("day", *when, "Asia/Shanghai")]
    ['2026-03-01T16', '2026-03-02T16']
    """
    local = ZoneInfo(zone)
    if size == "day":
        day = start.astimezone(local).date()
        if datetime.combine(day, time(), local) < start:
            day += timedelta(days=1)
        while (finish := _midnight(day + timedelta(days=1), local)) <= end:
            yield _midnight(day, local), finish
            day += timedelta(days=1)
        return
    offset = local.utcoffset(start)
    beside = timedelta(seconds=(offset.total_seconds() if offset else 0) % 3600)
    begin = start.astimezone(UTC) + beside
    whole = begin.replace(minute=0, second=0, microsecond=0)
    begin = (whole if whole == begin else whole + timedelta(hours=1)) - beside
    while begin + timedelta(hours=1) <= end:
        yield begin, begin + timedelta(hours=1)
        begin += timedelta(hours=1)


def canonical(figure: str) -> str:
    """The one name of a figure; raises UsageError for what is none.

    >>> canonical("mrr@5"), canonical("latency:p95"), canonical("qer")
    ('RR@5', 'latency:p95', 'QER@5')
    """
    bare = figure.strip().lower()
    if bare.partition(":p")[0] in _OWN:
        return bare
    selection = Selection.of([figure])
    return str(selection.metrics[0]) if selection.metrics else selection.signals[0]


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time(), zone).astimezone(UTC)


def _of_stage(rows: pa.Table, stage: str | None) -> pa.Table:
    """The rows of a stage; of the last one where none is named."""
    if stage is not None or not rows.num_rows:
        return rows if stage is None else rows.filter(pc.equal(rows["stage"], stage))
    return rows.filter(pc.equal(rows["stage_place"], pc.max(rows["stage_place"])))


def _depths(rows: pa.Table, starts: Sequence[datetime]) -> dict[tuple[str, int], float]:
    """The depth that each stage was asked for in a window: the mean of the deepest hour."""
    asked = rows.filter(pc.equal(rows["metric"], DEPTH)).to_pylist()
    found: dict[tuple[str, int], float] = {}
    for row in asked:
        key = row["stage"], _place(starts, row["ts"])
        found[key] = max(found.get(key, 0.0), row["sum"] / row["n"])
    return found


def _sums(row: dict[str, Any]) -> Sums:
    sketch = row["sketch"]
    return Sums(
        row["n"],
        row["sum"],
        row["sum_squares"],
        tuple(row["more"] or ()),
        () if sketch is None else (sketch,),
    )


def _place(starts: Sequence[datetime], ts: datetime) -> int:
    return bisect_right(starts, ts) - 1


def _point(figure: str, start: datetime, end: datetime, sums: Sums, depth: float | None) -> Point:
    if not sums.n:
        return Point(start, end, None, 0, reason=_reason(figure, depth))
    value, low, high = estimate(figure, sums)
    return Point(start, end, value, sums.n, low, high)


def _reason(figure: str, depth: float | None) -> str:
    if figure.startswith("R@") and depth is not None:
        cutoff = Metric.parse(figure).cutoff or 0
        if depth < cutoff:
            return f"not measurable: the logged depth is {depth:g}"
    return "no data"


def _order(key: SeriesKey) -> tuple[str, str, str]:
    return key.judge, key.stage, key.value
