"""The queries behind a rule that failed: the worst first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.metrics import Metric
from ragnostic.metrics.inputs import Floats
from ragnostic.stats.gate_faults import counted_metric
from ragnostic.stats.gate_rules import LOST, Rule
from ragnostic.stats.gate_samples import TOLERANCE
from ragnostic.stats.gates import RuleResult
from ragnostic.stats.sides import Side

MOST = 10


@dataclass(frozen=True, slots=True)
class WorstQuery:
    """A query's value of a rule's metric; ``before`` is None for a rule about the value itself."""

    query_id: str
    before: float | None
    after: float


@dataclass(frozen=True, slots=True)
class WorstQueries:
    """At most ten queries of ``metric``, and how many more there are."""

    metric: str
    queries: tuple[WorstQuery, ...]
    more: int


def worst_queries(
    result: RuleResult, base: Side | None, candidate: Side, metrics: Sequence[str]
) -> WorstQueries:
    """The queries that pull a rule's value to the wrong side of its bound, in its slice.

    For a change those that changed that way; for the value itself those that do not keep to the
    bound, of an AUROC those that lower it. The arguments are those of
    :func:`~ragnostic.stats.gates.judge_gate` and one of its results.

    >>> from ragnostic.stats.sides import side_from_values
    >>> one = side_from_values("a", {"AP": {"q1": 0.5, "q2": 0.5}})
    >>> two = side_from_values("b", {"AP": {"q1": 0.75, "q2": 0.25}})
    >>> failed = RuleResult("AP >= 0", "INCONCLUSIVE", 0.0, -0.25, 0.25, 2, 0.95)
    >>> worst_queries(failed, one, two, ["AP"]).queries
    (WorstQuery(query_id='q2', before=0.5, after=0.25),)
    """
    rule = Rule.parse(result.rule)
    metric = counted_metric(rule, metrics)
    after = candidate.values[rule.stage or candidate.final_stage, metric]
    before = None if rule.absolute or base is None else _before(rule, base, candidate, metric)
    wrong = _sign(rule, metric) * (after - (_middle(rule, after) if before is None else before))
    if rule.column is not None:
        inside = pc.equal(candidate.columns[rule.column], result.slice or rule.value)
        outside = ~np.asarray(inside.fill_null(fill_value=False).to_numpy(zero_copy_only=False))
        wrong = np.where(outside, np.nan, wrong)
    strict = before is None and rule.op in {">", "<"}
    rows = np.flatnonzero(wrong > (-TOLERANCE if strict else TOLERANCE))  # NaN is not above it
    rows = rows[np.argsort(-wrong[rows], kind="stable")]
    ids = candidate.query_ids.take(pa.array(rows[:MOST])).to_pylist()
    shown = [
        WorstQuery(query_id, None if before is None else float(before[row]), float(after[row]))
        for query_id, row in zip(ids, rows[:MOST], strict=True)
    ]
    return WorstQueries(metric, tuple(shown), max(0, len(rows) - MOST))


def _before(rule: Rule, base: Side, candidate: Side, metric: str) -> Floats:
    places = pc.index_in(candidate.query_ids, value_set=base.query_ids).fill_null(-1)
    values = np.append(base.values[rule.stage or base.final_stage, metric], np.nan)
    found: Floats = values[places.to_numpy(zero_copy_only=False)]
    return found


def _middle(rule: Rule, values: Floats) -> float:
    """What a value on the right side of keeps to the rule; one query has no AUROC of its own."""
    known = values[~np.isnan(values)]
    if Metric.parse(rule.metric).definition.finish is None:
        return rule.bound
    return float(known.mean()) if known.size else 0.0


def _sign(rule: Rule, metric: str) -> float:
    """-1 where smaller values are on the wrong side, 1 where larger ones are."""
    if rule.metric == LOST:
        return -1.0 if Metric.parse(metric).definition.higher_is_better else 1.0
    return -1.0 if rule.op in {">=", ">"} else 1.0
