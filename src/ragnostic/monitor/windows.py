"""Windows of time: half-open, in a zone, read a local day at a time (METRICS 13)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ragnostic.errors import UsageError

DEFAULT_ZONE = "Asia/Shanghai"
_RELATIVE = re.compile(r"now(?:-(\d{1,6})([mhdw]))?")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_HINT = "write a date (2026-03-01), an instant (2026-03-01T08:00:00+08:00), now, or now-24h"


@dataclass(frozen=True, slots=True)
class Window:
    """The time from ``start`` to ``end``, both in UTC, ``end`` itself not in it."""

    start: datetime
    end: datetime
    zone: str = DEFAULT_ZONE

    def __post_init__(self) -> None:
        if self.start >= self.end:
            raise UsageError(
                f"the window ends at {self.shown(self.end)}, which is not after its start "
                f"{self.shown(self.start)}",
                hint="a window is half-open: a day is --from 2026-03-01 --to 2026-03-02",
            )

    @classmethod
    def parse(cls, start: str, end: str, *, zone: str, now: datetime) -> Self:
        """From what a person writes; see :func:`moment`. Raises UsageError.

        >>> now = datetime(2026, 3, 2, 12, tzinfo=UTC)
        >>> found = Window.parse("2026-03-02", "now-1h", zone="Asia/Shanghai", now=now)
        >>> found.start.isoformat(), found.end.isoformat()
        ('2026-03-01T16:00:00+00:00', '2026-03-02T11:00:00+00:00')
        """
        return cls(moment(start, zone=zone, now=now), moment(end, zone=zone, now=now), zone)

    def shown(self, instant: datetime) -> str:
        """An instant in the window's zone."""
        return instant.astimezone(ZoneInfo(self.zone)).isoformat()

    def days(self) -> Iterator[tuple[date, datetime, datetime]]:
        """Each local day that the window touches, and the part of the window in it.

        >>> one = Window(datetime(2026, 3, 1, 15, tzinfo=UTC), datetime(2026, 3, 1, 17, tzinfo=UTC))
        >>> [(day.isoformat(), start.hour, end.hour) for day, start, end in one.days()]
        [('2026-03-01', 15, 16), ('2026-03-02', 16, 17)]
        """
        zone = ZoneInfo(self.zone)
        day = self.start.astimezone(zone).date()
        start = self.start
        while start < self.end:
            midnight = datetime.combine(day + timedelta(days=1), time(), zone).astimezone(UTC)
            end = min(midnight, self.end)
            yield day, start, end
            day, start = day + timedelta(days=1), end


def moment(text: str, *, zone: str, now: datetime) -> datetime:
    """An instant in UTC: a date (its midnight in ``zone``), ISO 8601 (in ``zone`` where it has
    no offset), ``now``, or ``now`` minus minutes, hours, days or weeks. Raises UsageError.

    >>> moment("now-2d", zone="UTC", now=datetime(2026, 3, 3, tzinfo=UTC)).isoformat()
    '2026-03-01T00:00:00+00:00'
    """
    given = text.strip()
    relative = _RELATIVE.fullmatch(given)
    local = checked_zone(zone)
    try:
        if relative is not None:
            count, unit = relative.groups()
            back = timedelta(**{_UNITS[unit]: int(count)}) if unit else timedelta()
            return (now - back).astimezone(UTC)
        if _DATE.fullmatch(given):
            return datetime.combine(date.fromisoformat(given), time(), local).astimezone(UTC)
        found = datetime.fromisoformat(given)
        return (found if found.tzinfo else found.replace(tzinfo=local)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise UsageError(f"{text!r} is no time", hint=_HINT) from None


def checked_zone(zone: str) -> ZoneInfo:
    """The zone of a name; raises UsageError where there is none.

    >>> checked_zone("UTC").key
    'UTC'
    """
    try:
        return ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise UsageError(
            f"{zone!r} is no time zone", hint="such as Asia/Shanghai, Europe/Berlin or UTC"
        ) from None
