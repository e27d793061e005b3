"""Two systems compared query by query: better, worse, the same, or cannot tell (METRICS 11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.errors import UsageError
from ragnostic.metrics import Metric
from ragnostic.stats.paired import TOLERANCE, Difference, is_upward, paired_differences
from ragnostic.stats.pairing import Pairing, pair_queries
from ragnostic.stats.sides import Side
from ragnostic.stats.slice_comparison import SliceComparison, compare_slices

Finding = Literal["better", "worse", "same", "cannot_tell"]
SIGNIFICANT = 0.05
Place = tuple[Side, str]
"""A side and the stage of it that is compared."""


@dataclass(frozen=True, slots=True)
class MetricComparison:
    """One metric of a comparison; ``unpaired`` queries have a value on one side only.

    ``finding``: better or worse where the interval holds no 0 and p after Holm is at most 0.05,
    ``same`` where no query differs, else ``cannot_tell``; a metric whose smaller values are the
    good ones is turned.
    """

    metric: str
    base_stage: str
    candidate_stage: str
    difference: Difference
    finding: Finding
    unpaired: int = 0

    def as_json(self) -> dict[str, Any]:
        """The object of ``compare --json``."""
        beside = {"unpaired": self.unpaired, "finding": self.finding}
        return self.difference.as_json() | beside


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two sides show of each other.

    ``stages``: the base's and the candidate's. ``shared``: queries that both have, judged on a
    side at least; ``unjudged``: ids of those that nobody judged, so that no value is theirs;
    ``only_base``, ``only_candidate``: ids of the others, in their order. ``slices``: column ->
    its slices, worst first; ``small_slices``: column -> how many of its values were not
    compared, for having fewer than 5 pairs or being past the 100 largest. ``unshared``: metrics
    that only one side has, where all were asked for.
    """

    base: str
    candidate: str
    stages: tuple[str, str]
    metrics: tuple[MetricComparison, ...]
    shared: int
    only_base: tuple[str, ...] = ()
    only_candidate: tuple[str, ...] = ()
    slices: Mapping[str, tuple[SliceComparison, ...]] = field(default_factory=dict)
    small_slices: Mapping[str, int] = field(default_factory=dict)
    unshared: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()

    def __getitem__(self, metric: str) -> MetricComparison:
        """One metric, by any of its names; raises UsageError for one that was not compared."""
        name = str(Metric.parse(metric))
        for found in self.metrics:
            if found.metric == name:
                return found
        there = ", ".join(found.metric for found in self.metrics)
        raise UsageError(f"{name} was not compared", hint=f"there are: {there}")

    def as_json(self) -> dict[str, Any]:
        """The part of ``compare --json`` that the values alone decide."""
        return {
            "base": {"name": self.base, "stage": self.stages[0]},
            "candidate": {"name": self.candidate, "stage": self.stages[1]},
            "queries": {
                "shared": self.shared,
                "unjudged": list(self.unjudged),
                "only_base": list(self.only_base),
                "only_candidate": list(self.only_candidate),
            },
            "metrics": {found.metric: found.as_json() for found in self.metrics},
            "unshared": list(self.unshared),
            "slices": {
                column: [found.as_json() for found in slices]
                for column, slices in self.slices.items()
            },
            "small_slices": dict(self.small_slices),
        }


@dataclass(frozen=True, slots=True)
class QueryChange:
    """A query whose value differs between the sides."""

    query_id: str
    before: float
    after: float

    @property
    def difference(self) -> float:
        """After minus before."""
        return self.after - self.before


def compare_sides(
    base: Side,
    candidate: Side,
    metrics: Sequence[str] | None = None,
    *,
    stage: str | None = None,
) -> Comparison:
    """Compare two sides over the queries that both have, at their final stages or at ``stage``.

    ``metrics``: by any of their names; all that both sides have where None. Slices are compared
    by the first metric. Raises UsageError for a stage or a metric that a side lacks, and where
    the sides share no metric, naming what there is (METRICS 1.1, 11).

    >>> from ragnostic.stats.sides import side_from_values
    >>> one = side_from_values("old", {"RR@5": {"q1": 1, "q2": 0.5}})
    >>> found = compare_sides(one, one)["mrr@5"]
    >>> found.finding, found.difference.value, found.difference.p
    ('same', 0.0, 1.0)
    """
    stages = _stage_of(base, stage), _stage_of(candidate, stage)
    sides = ((base, stages[0]), (candidate, stages[1]))
    names = _names(sides, metrics)
    pairing = pair_queries(base, candidate)
    before = [base.values[stages[0], name][pairing.base] for name in names]
    after = [candidate.values[stages[1], name][pairing.candidate] for name in names]
    upward = [is_upward(name) for name in names]
    found = paired_differences(
        np.column_stack(before), np.column_stack(after), higher_is_better=upward
    )
    unpaired = [_unpaired(sides, name, one.n) for name, one in zip(names, found, strict=True)]
    slices, small = compare_slices(
        names[0], before[0], after[0], _columns(base, candidate, pairing)
    )
    both = {name for name in base.metrics_of(stages[0]) if (stages[1], name) in candidate.values}
    every = [name for side, of in sides for name in side.metrics_of(of)]
    unjudged = _unjudged(sides, pairing)
    return Comparison(
        base=base.name,
        candidate=candidate.name,
        stages=stages,
        metrics=tuple(
            MetricComparison(
                name, *stages, difference, finding_of(difference, higher_is_better=up), alone
            )
            for name, difference, up, alone in zip(names, found, upward, unpaired, strict=True)
        ),
        shared=len(pairing.query_ids) - len(unjudged),
        only_base=tuple(pairing.only_base.to_pylist()),
        only_candidate=tuple(pairing.only_candidate.to_pylist()),
        slices=slices,
        small_slices=small,
        unshared=() if metrics else tuple(name for name in every if name not in both),
        unjudged=unjudged,
    )


def changes(
    base: Side, candidate: Side, metric: str, *, stage: str | None = None
) -> list[QueryChange]:
    """The queries whose value differs, the biggest losses first, equal ones in the base's order.

    >>> from ragnostic.stats.sides import side_from_values
    >>> one = side_from_values("a", {"AP": {"q1": 0.5, "q2": 0.5, "q3": 0.5}})
    >>> two = side_from_values("b", {"AP": {"q1": 1.0, "q2": 0.5, "q3": 0.25}})
    >>> [(found.query_id, found.difference) for found in changes(one, two, "AP")]
    [('q3', -0.25), ('q1', 0.5)]
    """
    stages = _stage_of(base, stage), _stage_of(candidate, stage)
    [name] = _names(((base, stages[0]), (candidate, stages[1])), [metric])
    pairing = pair_queries(base, candidate)
    before = base.values[stages[0], name][pairing.base]
    after = candidate.values[stages[1], name][pairing.candidate]
    turned = (after - before) * (1 if is_upward(name) else -1)
    # NaN is not above the tolerance, so a query without both values is no change.
    rows = np.flatnonzero(np.abs(turned) > TOLERANCE)
    rows = rows[np.argsort(turned[rows], kind="stable")]
    ids = pairing.query_ids.take(pa.array(rows)).to_pylist()
    values = zip(ids, before[rows].tolist(), after[rows].tolist(), strict=True)
    return [QueryChange(*row) for row in values]


def finding_of(difference: Difference, *, higher_is_better: bool = True) -> Finding:
    """What a difference says, see :class:`MetricComparison`.

    >>> finding_of(Difference(n=3, ties=3)), finding_of(Difference())
    ('same', 'cannot_tell')
    """
    if difference.n and difference.ties == difference.n:
        return "same"
    low, high, p = difference.low, difference.high, difference.p_holm
    if low is None or high is None or p is None or p > SIGNIFICANT or low <= 0 <= high:
        return "cannot_tell"
    return "better" if (low > 0) == higher_is_better else "worse"


def _stage_of(side: Side, stage: str | None) -> str:
    if stage is None:
        return side.final_stage
    if stage not in side.stages:
        there = ", ".join(side.stages)
        raise UsageError(f"{side.name} has no stage {stage!r}", hint=f"its stages are: {there}")
    return stage


def _names(places: tuple[Place, Place], metrics: Sequence[str] | None) -> list[str]:
    """Canonical names of the metrics to compare; each is there on both sides."""
    here, there = (side.metrics_of(stage) for side, stage in places)
    if metrics is None:
        shared = [name for name in here if name in there]
        if not shared:
            raise UsageError(
                f"no metric is in both: {_has(places[0])}; {_has(places[1])}",
                hint="values of different full names are not compared; score both with the same",
            )
        return shared
    names = list(dict.fromkeys(str(Metric.parse(metric)) for metric in metrics))
    if not names:
        raise UsageError("no metric is named", hint='for example: --metrics "nDCG@10,RR@5"')
    for name in names:
        for place in places:
            if name not in place[0].metrics_of(place[1]):
                raise UsageError(f"there is no {name} to compare: {_has(place)}")
    return names


def _has(place: Place) -> str:
    side, stage = place
    return f"{side.name} has {', '.join(side.metrics_of(stage)) or 'none'} at stage {stage}"


def _unpaired(places: tuple[Place, Place], metric: str, pairs: int) -> int:
    """Queries with a value on one side only: each side's values less its share of the pairs."""
    counts = [np.isfinite(side.values[stage, metric]).sum() for side, stage in places]
    return int(sum(counts)) - 2 * pairs


def _unjudged(places: tuple[Place, Place], pairing: Pairing) -> tuple[str, ...]:
    """Shared queries without a judgment on either side."""
    (base, before), (candidate, after) = places
    rows = np.ones(len(pairing.query_ids), dtype=np.bool_)
    for statuses, seats in (
        (base.statuses.get(before), pairing.base),
        (candidate.statuses.get(after), pairing.candidate),
    ):
        if statuses is None:
            return ()
        own = pc.equal(statuses.take(pa.array(seats)), "unjudged").fill_null(fill_value=False)
        rows &= np.asarray(own.to_numpy(zero_copy_only=False), dtype=np.bool_)
    return tuple(pairing.query_ids.filter(pa.array(rows)).to_pylist())


def _columns(base: Side, candidate: Side, pairing: Pairing) -> dict[str, pa.Array]:
    """Slice columns that both sides have, of the shared queries; the candidate's values count."""
    rows = pa.array(pairing.candidate)
    shared = [name for name in candidate.columns if name in base.columns]
    return {name: candidate.columns[name].take(rows) for name in shared}
