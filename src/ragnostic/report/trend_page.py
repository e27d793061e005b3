"""The model of the trend page: everything it says, as data. No HTML and no language in it."""

from __future__ import annotations

from dataclasses import dataclass

from ragnostic.report.trend_view import EasyQuery, TrendValue, Turn


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """A metric at one run: ``turn`` is 1 or -1 where it got better or worse there, else 0."""

    number: int
    value: TrendValue
    turn: int


@dataclass(frozen=True, slots=True)
class Mark:
    """Tags of one run on the axis."""

    number: int
    label: str


@dataclass(frozen=True, slots=True)
class TrendLine:
    """One metric over the runs; ``points`` have a mean, ``best`` is the number of its best run."""

    metric: str
    points: tuple[TrendPoint, ...]
    best: int | None

    @property
    def last(self) -> TrendPoint:
        """The latest run that has the metric."""
        return self.points[-1]

    @property
    def best_point(self) -> TrendPoint | None:
        """The point of the best run, where it is shown."""
        return next((point for point in self.points if point.number == self.best), None)


@dataclass(frozen=True, slots=True)
class TrendRow:
    """A run of the table; ``values`` as the metrics of the page, ``best`` those it was best by."""

    number: int
    name: str
    created: str | None
    tags: tuple[str, ...]
    stage: str
    link: str | None
    values: tuple[TrendValue | None, ...]
    best: frozenset[str]
    changed: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class TurnRow:
    """A turn with the run it came with; ``up`` where it was for the better."""

    turn: Turn
    row: TrendRow | None
    up: bool


@dataclass(frozen=True, slots=True)
class TrendPage:
    """A whole trend page; ``rows`` are oldest first, ``turns`` newest first; ``hidden`` older
    runs are not on it.
    """

    evaluation_set: str
    metrics: tuple[str, ...]
    lines: tuple[TrendLine, ...]
    marks: tuple[Mark, ...]
    turns: tuple[TurnRow, ...]
    rows: tuple[TrendRow, ...]
    hidden: int
    easy: tuple[EasyQuery, ...]
    easy_total: int
    last: int

    @property
    def main(self) -> TrendLine | None:
        """The line that the verdict is about."""
        return self.lines[0] if self.lines else None
