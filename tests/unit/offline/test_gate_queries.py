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
        ("abs:RR@5 >= 0.9", ["q5", "q3", "q1"]),
        ("abs:RR@5 < 0.1", ["q2", "q4"]),
    ],
)
def test_they_are_on_the_wrong_side_of_the_bound(rule, queries):
    """Worst first, in the slice; a query without both values is no change."""
    assert _found(rule) == queries


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
