"""The day of a store for its report: signals, what changed and where, alerts, judge."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.monitor.alerts.book import Contents, Event
from ragnostic.monitor.alerts.health import Health
from ragnostic.monitor.alerts.rule_files import RuleBook
from ragnostic.monitor.daily.anomalies import anomalies
from ragnostic.monitor.live_metrics import QER, RCS, RDS, RDS_NORM
from ragnostic.monitor.live_store import LiveStore
from ragnostic.monitor.rollups.estimates import Sums, estimate
from ragnostic.monitor.rollups.rows import COVERAGE, EMPTY, FAILED, SLICED
from ragnostic.monitor.rollups.series import Point, SeriesKey, read_series
from ragnostic.ports import RecordStore
from ragnostic.report.daily_view import (
    AlertLine,
    Change,
    Colour,
    DailyView,
    DayPoint,
    Signal,
    SlicePart,
)
from ragnostic.stats.contribution import Part, contributions
from ragnostic.stats.window_difference import Measured, window_difference

FIGURES = ("RR@5", "R@10", "AP@10", "nDCG@10", QER, RDS_NORM, RCS)
DAYS = 28
_WEEK, _MOST_PARTS = 7, 5
_SMALL_PART = 0.1
"""A part that explains less of a change is not named."""
_SHOWN_EVENTS = frozenset(
    {"firing", "resolved", "acknowledged", "closed", "rebaselined", "withdrawn", "reopened"}
)


def daily_view(
    store: LiveStore, rules: RuleBook, contents: Contents, events: Sequence[Event], day: date
) -> DailyView:
    """The report of a local day. Roll-ups are up to date; ``events``: those of the day."""
    start, end = store.day(day.isoformat())
    read = _Reader(store, day, end)
    found = [read.signal(figure, rules.health) for figure in FIGURES]
    signals = [
        signal
        or Signal(
            figure, "", 0, "grey", (DayPoint(day.isoformat(), None, None, None, None),), "no data"
        )
        for figure, signal in zip(FIGURES, found, strict=True)
    ]
    metric = next(
        (
            one.figure
            for one in signals
            if one.today.value is not None and "@" in one.figure and one.figure not in (QER, RCS)
        ),
        "RR@5",
    )
    firing = [key for key, track in contents.tracks.items() if track.state.status == "firing"]
    severities = {rule.id: rule.severity for rule in rules.rules}
    return DailyView(
        day=day.isoformat(),
        zone=store.zone,
        judge=read.judge,
        records=store.lake.read("records", start=start, end=end, columns=["record_id"]).num_rows,
        signals=tuple(signals),
        changes=tuple(read.changes(signals)),
        anomalies=tuple(anomalies(store, metric, start, end)),
        anomaly_metric=metric,
        alerts=tuple(
            _line(event, severities, store.zone) for event in events if event.event in _SHOWN_EVENTS
        ),
        firing=tuple(
            AlertLine(
                _clock(contents.tracks[key].state.since, store.zone),
                "firing",
                key.rule,
                severities.get(key.rule, "–"),
                f"{key.slice} = {key.value}" if key.slice else "",
                "",
            )
            for key in sorted(firing)
        ),
        judged=_judged(store.lake, start, end),
        shares={
            name: value
            for name in (COVERAGE, EMPTY, FAILED)
            if (value := read.share(name)) is not None
        },
    )


class _Reader:
    """Series and slices of the days up to one."""

    def __init__(self, store: LiveStore, day: date, end: datetime) -> None:
        self._store, self._end, self._zone = store, end, store.zone
        self._first = datetime.combine(
            day - timedelta(days=DAYS + _WEEK), time(), ZoneInfo(store.zone)
        )
        self.judge = ""

    def _series(self, figure: str) -> tuple[SeriesKey, list[Point]] | None:
        """That of the judge with most rows."""
        found = read_series(
            self._store.lake,
            figure,
            window="day",
            start=self._first,
            end=self._end,
            zone=self._zone,
        )
        if not found:
            return None
        key = max(found, key=lambda one: sum(point.n for point in found[one]))
        return key, found[key]

    def signal(self, figure: str, health: Sequence[Health]) -> Signal | None:
        """A figure over the days, as the daily report shows it."""
        found = self._series(figure)
        if found is None:
            return None
        key, points = found
        self.judge = self.judge or key.judge
        days = [
            DayPoint(
                point.start.astimezone(ZoneInfo(self._zone)).date().isoformat(),
                *(point.value, point.low, point.high),
                _mean(points[max(0, place - _WEEK + 1) : place + 1]),
            )
            for place, point in enumerate(points)
        ]  # fmt: skip
        limits = next((one for one in health if one.metric == figure), None)
        baseline = _mean(points[-_WEEK - 1 : -1])
        today = points[-1]
        colour: Colour = "grey" if today.value is None else "plain"
        if limits is not None:
            colour = limits.colour(today.value, baseline)
        return Signal(figure, key.stage, today.n, colour, tuple(days[-DAYS:]), today.reason)

    def share(self, figure: str) -> float | None:
        """A share of the day's rows."""
        found = self._series(figure)
        return None if found is None else found[1][-1].value

    def changes(self, signals: Sequence[Signal]) -> Iterator[Change]:
        """Signals that differ from the day or the week before by more than chance."""
        for signal in signals:
            for back in (1, _WEEK):
                change = self._change(signal, back)
                if change is not None:
                    yield change
                    break

    def _change(self, signal: Signal, back: int) -> Change | None:
        if len(signal.points) <= back:
            return None
        now, then = signal.today, signal.points[-1 - back]
        if now.value is None or then.value is None or _by_chance(now, then, signal.n):
            return None
        parts = self._parts(signal, back, now.value - then.value)
        return Change(signal.figure, back, then.value, now.value, tuple(parts))

    def _parts(self, signal: Signal, back: int, change: float) -> list[SlicePart]:
        """The slice values that explain most of a change of a mean or a ratio."""
        if signal.figure in (RDS, RDS_NORM) or not change:
            return []
        sides = [self._sums(signal, step) for step in (back, 0)]
        found = []
        for column in sorted(sides[0].keys() & sides[1].keys()):
            before, after = (
                {v: _part(signal.figure, s) for v, s in side[column].items()} for side in sides
            )
            if len(before.keys() | after.keys()) < 2:
                continue
            for value, part in contributions(before, after).items():
                one, two = before.get(value), after.get(value)
                found.append(
                    SlicePart(
                        column,
                        value,
                        part.total,
                        None if one is None else one.value,
                        None if two is None else two.value,
                        int(sides[1][column].get(value, Sums()).n),
                    )
                )
        found = [
            one
            for one in found
            if one.contribution * change > 0 and abs(one.contribution) >= _SMALL_PART * abs(change)
        ]
        return sorted(found, key=lambda one: -abs(one.contribution))[:_MOST_PARTS]

    def _sums(self, signal: Signal, back: int) -> dict[str, dict[str, Sums]]:
        """Sums of a day by slice column and value."""
        day = date.fromisoformat(signal.today.day) - timedelta(days=back)
        start, end = self._store.day(day.isoformat())
        rows = self._store.lake.read("rollups", start=start, end=end)
        wanted = pc.and_(
            pc.equal(rows["metric"], signal.figure), pc.equal(rows["stage"], signal.stage)
        )
        wanted = pc.and_(wanted, pc.equal(rows["judge"], self.judge))
        rows = rows.filter(pc.and_(wanted, pc.is_in(rows["slice"], pa.array(SLICED))))
        found: dict[str, dict[str, Sums]] = defaultdict(lambda: defaultdict(Sums))
        for row in rows.to_pylist():
            sums = Sums(row["n"], row["sum"], row["sum_squares"], tuple(row["more"] or ()))
            found[row["slice"]][row["value"]] += sums
        return found


def _part(figure: str, sums: Sums) -> Part:
    """A mean is weighted by rows, QER by the seconds that it divides by."""
    value = estimate(figure, sums).value
    weight = sums.more[0] if figure == QER and sums.more else float(sums.n)
    return Part(0.0 if value is None else weight, value or 0.0)


def _by_chance(now: DayPoint, then: DayPoint, n: int) -> bool:
    sides = [_measured(one, n) for one in (now, then)]
    if sides[0] is None or sides[1] is None:
        return True
    low, high = window_difference(sides[0], sides[1])
    return low <= 0 <= high


def _measured(point: DayPoint, n: int) -> Measured | None:
    if point.value is None or point.low is None or point.high is None:
        return None
    return Measured(point.value, n, point.low, point.high)


def _mean(points: Sequence[Point]) -> float | None:
    known = [point.value for point in points if point.value is not None]
    return sum(known) / len(known) if known else None


def _judged(store: RecordStore, start: datetime, end: datetime) -> Mapping[str, int]:
    rows = store.read("judgments", start=start, end=end, columns=["status"])
    return dict(sorted(Counter(rows["status"].to_pylist()).items()))


def _line(event: Event, severities: Mapping[str, str], zone: str) -> AlertLine:
    slices = event.body.get("slice") or {}
    place = ", ".join(f"{name} = {value}" for name, value in dict(slices).items())
    value, n = event.body.get("value"), event.body.get("n")
    detail = (
        f"{value:.4g}, n = {n}"
        if isinstance(value, int | float)
        else str(event.body.get("by") or "")
    )
    return AlertLine(
        _clock(event.at, zone),
        event.event,
        event.rule,
        severities.get(event.rule, "–"),
        place,
        detail,
    )


def _clock(at: datetime | None, zone: str) -> str:
    return "" if at is None else at.astimezone(ZoneInfo(zone)).strftime("%m-%d %H:%M")
