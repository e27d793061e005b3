"""The evaluation sets of a run side by side, and the gap between them, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragnostic.report.directions import lower_is_better
from ragnostic.report.run import RunData, count, mapping, number
from ragnostic.report.scorebook import ScoreBook


@dataclass(frozen=True, slots=True)
class SetValue:
    """A metric over the queries of one set; ``mean`` is None where none has a value."""

    mean: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True)
class SetGap:
    """Mean of the first set minus that of ``against``, with its 95 % interval."""

    metric: str
    first: str
    against: str
    difference: float | None
    low: float | None
    high: float | None

    @property
    def overfitted(self) -> bool:
        """Whether the first set fares better than chance explains: what was tuned on it does
        not carry over.

        >>> SetGap("R@5", "frozen", "fresh", 0.2, 0.05, 0.35).overfitted
        True
        >>> SetGap("R@5", "frozen", "fresh", 0.2, -0.05, 0.45).overfitted
        False
        """
        if self.low is None or self.high is None:
            return False
        return self.high < 0 if lower_is_better(self.metric) else self.low > 0


@dataclass(frozen=True, slots=True)
class SetRow:
    """One metric: a value a set, and a gap for each set but the first."""

    metric: str
    values: tuple[SetValue, ...]
    gaps: tuple[SetGap, ...]


@dataclass(frozen=True, slots=True)
class EvaluationSets:
    """The sets of a run, the frozen one first; values are those of ``stage``, the final one."""

    stage: str
    names: tuple[str, ...]
    queries: tuple[int, ...]
    answerable: tuple[int, ...]
    rows: tuple[SetRow, ...]

    @property
    def overfitted(self) -> tuple[SetGap, ...]:
        """The gaps that are a sign of overfitting."""
        return tuple(gap for row in self.rows for gap in row.gaps if gap.overfitted)


def evaluation_sets(run: RunData, book: ScoreBook) -> EvaluationSets | None:
    """The sets that run.json holds; None for a run of a single set."""
    sets = mapping(run.meta.get("sets"))
    if not sets or not run.stages:
        return None
    stage = run.stages[-1]
    names = _in_order(run, sets)
    gaps = _gaps(run)
    rows = [
        SetRow(
            metric,
            tuple(_value(mapping(sets[name]), stage, metric) for name in names),
            tuple(
                gaps.get((other, metric), SetGap(metric, names[0], other, None, None, None))
                for other in names[1:]
            ),
        )
        for metric in book.metrics()
    ]
    members = [mapping(sets[name]) for name in names]
    return EvaluationSets(
        stage,
        names,
        tuple(count(one.get("queries")) for one in members),
        tuple(count(one.get("answerable")) for one in members),
        tuple(row for row in rows if any(value.n for value in row.values)),
    )


def _in_order(run: RunData, sets: Mapping[str, Any]) -> tuple[str, ...]:
    """Names as the settings give them: run.json sorts its keys."""
    written = mapping(mapping(run.meta.get("settings")).get("dataset")).get("set")
    listed = [str(mapping(one).get("name")) for one in written or ()]
    return tuple(dict.fromkeys([*(name for name in listed if name in sets), *sets]))


def _value(one: Mapping[str, Any], stage: str, metric: str) -> SetValue:
    found = mapping(mapping(mapping(one.get("stages")).get(stage)).get(metric))
    low, high = number(found.get("low")), number(found.get("high"))
    return SetValue(number(found.get("mean")), low, high, count(found.get("n")))


def _gaps(run: RunData) -> dict[tuple[str, str], SetGap]:
    rows: Sequence[Any] = run.meta.get("set_gaps") or ()
    found = [
        SetGap(
            str(row.get("metric")),
            str(row.get("set")),
            str(row.get("against")),
            number(row.get("difference")),
            number(row.get("low")),
            number(row.get("high")),
        )
        for row in map(mapping, rows)
    ]
    return {(gap.against, gap.metric): gap for gap in found}
