"""The queries behind a rule."""

from __future__ import annotations

import math
from dataclasses import replace

import pyarrow as pa
import pytest

from ragnostic.offline.gate_queries import worst_queries
from ragnostic.stats.gates import RuleResult
from ragnostic.stats.sides import Side, side_from_values

_BEFORE = {"q1": 1.0, "q2": 0.5, "q3": 0.5, "q4": None}
_AFTER = {"q3": 0.25, "q2": 0.75, "q1": 0.25, "q4": 0.5, "q5": 0.0}


def _found(rule: str, metric: str = "RR@5", part: str | None = None) -> list[str]:
    base = side_from_values("a", {metric: _BEFORE})
    parts = pa.array(["x", "y", None, "x", "y"], pa.string())
    candidate: Side = replace(side_from_values("b", {metric: _AFTER}), columns={"part": parts})
    result = RuleResult(rule, "FAIL", 0.0, 0.0, 0.0, 3, 0.95, part)
    return [query.query_id for query in worst_queries(result, base, candidate, [metric]).queries]


@pytest.mark.parametrize(
    ("rule", "queries"),
    [
        ("RR@5 >= 0", ["q1", "q3"]),
        ("RR@5 <= 0", ["q2"]),
        ("lost < 0.1", ["q1", "q3"]),
        ("RR@5{part=x} > 0", ["q3"]),
        ("abs:RR@5 >= 0.9", ["q5", "q3", "q1", "q4", "q2"]),
        ("abs:RR@5 < 0.1", ["q2", "q4", "q3", "q1"]),
        ("abs:RR@5 >= 0.25", ["q5"]),
        ("abs:RR@5 > 0.25", ["q5", "q3", "q1"]),
    ],
)
def test_they_are_on_the_wrong_side_of_the_bound(rule, queries):
    """Worst first, in the slice; a query without both values is no change."""
    assert _found(rule) == queries


def test_queries_that_are_all_alike_speak_against_the_bound():
    """Something came back for every query that has no answer."""
    side = side_from_values("a", {"FalseRetrieval@5": dict.fromkeys("pq", 1)})
    result = RuleResult("abs:FalseRetrieval@5 <= 0.1", "FAIL", 1.0, 0.3, 1.0, 2, 0.95)
    found = worst_queries(result, None, side, []).queries
    assert [(query.query_id, query.after) for query in found] == [("p", 1.0), ("q", 1.0)]


def test_an_auroc_is_pulled_down_by_values_below_it():
    """The values are what queries add to it, so no bound is about one of them."""
    side = side_from_values("a", {"AUROC": {"p": 1.2, "q": 0.2}})
    result = RuleResult("abs:AUROC >= 0.1", "INCONCLUSIVE", 0.7, 0.0, 1.0, 2, 0.95)
    assert [query.query_id for query in worst_queries(result, None, side, []).queries] == ["q"]


def test_the_worst_slice_is_the_one_that_decided():
    """A slice without queries on that side has none."""
    assert _found("RR@5{worst:part} >= 0", part="x") == ["q3"]
    assert _found("RR@5{worst:part} >= 0", part="y") == []


def test_lost_turns_where_lower_is_better():
    """More false retrievals are the loss."""
    assert _found("lost < 0.1", metric="FalseRetrieval@5") == ["q2"]


def test_a_metric_without_any_value_has_no_worst_query():
    """Nothing to show."""
    side = side_from_values("a", {"RR@5": {"q1": math.nan}})
    result = RuleResult("abs:RR@5 > 0", "INCONCLUSIVE", None, None, None, 0, 0.95)
    assert worst_queries(result, None, side, []).queries == ()
