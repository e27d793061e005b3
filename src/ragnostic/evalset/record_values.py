"""Times as logs write them: instants by magnitude, days in a zone, durations (METRICS 6, 13)."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from ragnostic.corpus.strict_json import RowError

_UNITS = {"seconds": 1, "milliseconds": 10**3, "microseconds": 10**6, "nanoseconds": 10**9}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST, _LAST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
_FIRST_SECOND, _LAST_SECOND = int(_FIRST.timestamp()), int(_LAST.timestamp())


def instant(value: Any, zone: str = "UTC") -> datetime:
    """A moment in UTC from ISO 8601 text or a number since 1970 in s, ms, µs or ns.

    The unit is told by magnitude: only one of them gives a year from 2000 to 2099. Text without an
    offset is in ``zone``. Raises RowError for what is neither, or lies outside those years.

    >>> instant(1767225600000) == instant("2026-01-01T08:00:00+08:00")
    True
    """
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            raise RowError(f"ts {value!r} is no ISO 8601 time") from None
        moment = (moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(zone))).astimezone(
            UTC
        )
    elif isinstance(value, int | float) and not isinstance(value, bool):
        moment = _since_epoch(value)
    else:
        raise RowError(f"ts {value!r} is no time")
    if not _FIRST <= moment < _LAST:
        raise RowError(f"ts {value!r} lies outside the years 2000 to 2099")
    return moment


def _since_epoch(value: float) -> datetime:
    for scale in _UNITS.values():
        if _FIRST_SECOND * scale <= value < _LAST_SECOND * scale:
            if isinstance(value, int):
                return _EPOCH + timedelta(microseconds=value * 10**6 // scale)
            return _EPOCH + timedelta(seconds=value / scale)
    raise RowError(f"ts {value!r} is no plausible time in {', '.join(_UNITS)} since 1970")


def local_day(moment: datetime, zone: str) -> date:
    """The day of an instant in a zone; midnight belongs to the new day.

    >>> local_day(instant("2026-03-01T16:00:00Z"), "Asia/Shanghai").isoformat()
    '2026-03-02'
    """
    return moment.astimezone(ZoneInfo(zone)).date()


def duration_s(start_ns: int | None, end_ns: int | None) -> float:
    """Seconds from start to end; raises RowError where there is no end, or it lies before.

    >>> duration_s(1_000_000_000, 1_200_000_000)
    0.2
    """
    if not start_ns or not end_ns:
        raise RowError("the span has no end" if start_ns else "the span has no start")
    if end_ns < start_ns:
        raise RowError(f"the span ends {(start_ns - end_ns) / 1e9:g} s before it starts")
    return (end_ns - start_ns) / 1e9
