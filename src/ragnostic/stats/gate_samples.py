"""The queries that each gate rule is about, and how their interval is made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.metrics import Metric
from ragnostic.metrics.inputs import Floats
from ragnostic.stats.estimates import estimate, wilson_interval
from ragnostic.stats.gate_faults import counted_metric
from ragnostic.stats.gate_rules import LOST, Rule
from ragnostic.stats.paired import difference_interval_at
from ragnostic.stats.sides import Side

Bools = npt.NDArray[np.bool_]
Measured = tuple[float | None, float | None, float | None]
"""Value, and the two ends of its interval."""

SMALLEST_SLICE = 5
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Sample:
    """``n`` queries that one interval is about; ``measure`` makes it at a level."""

    slice: str | None
    n: int
    measure: Callable[[float], Measured]

    @property
    def large_enough(self) -> bool:
        """Whether it is judged: slices with fewer than 5 queries are only named."""
        return self.slice is None or self.n >= SMALLEST_SLICE


def samples_of(
    rules: Sequence[Rule], base: Side | None, candidate: Side, metrics: Sequence[str]
) -> list[list[Sample]]:
    """The samples of each rule: one, or one a slice for a rule about the worst slice.

    The rules are sound (:func:`~ragnostic.stats.gate_faults.check_rules`).
    """
    before = None if base is None else (base, _rows_in(base, candidate))
    return [_samples(rule, before, candidate, metrics) for rule in rules]


def _rows_in(base: Side, candidate: Side) -> npt.NDArray[np.int64]:
    """The row of each query of the candidate in the base, -1 where it has none; (n,)."""
    found = pc.index_in(candidate.query_ids, value_set=base.query_ids).fill_null(-1)
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.int64)


def _samples(
    rule: Rule,
    before: tuple[Side, npt.NDArray[np.int64]] | None,
    candidate: Side,
    metrics: Sequence[str],
) -> list[Sample]:
    stage, metric = rule.stage or candidate.final_stage, counted_metric(rule, metrics)
    after = candidate.values[stage, metric]
    if rule.absolute or before is None:
        return [
            _of_values(candidate, stage, metric, name, rows)
            for name, rows in _slices(rule, candidate)
        ]
    base, places = before
    values = np.append(base.values[rule.stage or base.final_stage, metric], np.nan)
    changes = after - values[places]
    if rule.metric == LOST:
        better = 1.0 if Metric.parse(metric).definition.higher_is_better else -1.0
        return [_of_losses(name, better * part) for name, part in _parts(rule, candidate, changes)]
    return [_of_changes(name, part) for name, part in _parts(rule, candidate, changes)]


def _parts(rule: Rule, side: Side, changes: Floats) -> Iterator[tuple[str | None, Floats]]:
    """The changes that are known, slice by slice."""
    for name, rows in _slices(rule, side):
        yield name, changes[rows & ~np.isnan(changes)]


def _slices(rule: Rule, side: Side) -> Iterator[tuple[str | None, Bools]]:
    if rule.column is None:
        yield None, np.ones(len(side.query_ids), dtype=np.bool_)
        return
    column = side.columns[rule.column]
    values = [rule.value] if rule.value is not None else _values(column)
    for value in values:
        inside = pc.equal(column, value).fill_null(fill_value=False)
        yield value, np.asarray(inside.to_numpy(zero_copy_only=False), dtype=np.bool_)


def _values(column: pa.Array) -> list[str]:
    found: list[str] = sorted(pc.unique(column.drop_null()).to_pylist())
    return found


def _of_values(side: Side, stage: str, metric: str, name: str | None, rows: Bools) -> Sample:
    def measure(level: float) -> Measured:
        found = estimate(side, stage, metric, level=level, rows=rows)
        return found.value, found.low, found.high

    known = ~np.isnan(side.values[stage, metric])
    return Sample(name, int((known & rows).sum()), measure)


def _of_changes(name: str | None, changes: Floats) -> Sample:
    """The mean of paired changes (n,) without NaN."""

    def measure(level: float) -> Measured:
        if not changes.size:
            return None, None, None
        low, high, _ = difference_interval_at(changes, level)
        return float(changes.mean()), low, high

    return Sample(name, changes.size, measure)


def _of_losses(name: str | None, changes: Floats) -> Sample:
    """The share of paired changes (n,) without NaN that are below 0."""

    def measure(level: float) -> Measured:
        if not changes.size:
            return None, None, None
        share = float((changes < -TOLERANCE).mean())
        return share, *wilson_interval(share, changes.size, level=level)

    return Sample(name, changes.size, measure)
