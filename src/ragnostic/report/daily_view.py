"""What the daily report is made from, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Colour = Literal["green", "amber", "red", "grey", "plain"]
"""By the limits of ``[[health]]``; grey is no data, plain a figure without limits."""


@dataclass(frozen=True, slots=True)
class DayPoint:
    """A day of a signal; ``value`` None without data. ``mean7``: of the week up to it."""

    day: str
    value: float | None
    low: float | None
    high: float | None
    mean7: float | None


@dataclass(frozen=True, slots=True)
class Signal:
    """One of the signals. ``points``: the last days, oldest first, the day itself last; ``reason``:
    why there is no value.
    """

    figure: str
    stage: str
    n: int
    colour: Colour
    points: tuple[DayPoint, ...]
    reason: str = ""

    @property
    def today(self) -> DayPoint:
        """The day itself."""
        return self.points[-1]

    def before(self, days: int) -> float | None:
        """The value so many days earlier."""
        return self.points[-1 - days].value if len(self.points) > days else None

    def change(self, days: int) -> float | None:
        """The change against so many days earlier."""
        value, earlier = self.today.value, self.before(days)
        return None if value is None or earlier is None else value - earlier


@dataclass(frozen=True, slots=True)
class SlicePart:
    """A slice value and what it adds to a change."""

    column: str
    value: str
    contribution: float
    before: float | None
    after: float | None
    n: int


@dataclass(frozen=True, slots=True)
class Change:
    """A signal that differs from ``days`` before by more than chance explains, and the slices that
    explain most of it.
    """

    figure: str
    days: int
    before: float
    after: float
    parts: tuple[SlicePart, ...]


@dataclass(frozen=True, slots=True)
class Listed:
    """One chunk of a ranking."""

    rank: int
    id: str
    text: str
    relevant: bool


@dataclass(frozen=True, slots=True)
class Anomaly:
    """A query that did worse than usual. ``usual``: its own mean of the week before, or that of all
    queries where it is new (``known`` is false).
    """

    query: str
    value: float
    usual: float
    known: bool
    asked: int
    answer: str
    ranking: tuple[Listed, ...]


@dataclass(frozen=True, slots=True)
class AlertLine:
    """Something that happened to an alert; ``time`` in the zone of the store."""

    time: str
    event: str
    rule: str
    severity: str
    place: str
    detail: str


@dataclass(frozen=True, slots=True)
class DailyView:
    """A day of a store. ``counts``: rows by what became of them; ``judged``: judgments by status;
    ``shares``: coverage, empty and failed, where they are known.
    """

    day: str
    zone: str
    judge: str
    records: int
    signals: tuple[Signal, ...]
    changes: tuple[Change, ...]
    anomalies: tuple[Anomaly, ...]
    anomaly_metric: str
    alerts: tuple[AlertLine, ...]
    firing: tuple[AlertLine, ...]
    judged: Mapping[str, int]
    shares: Mapping[str, float]
