"""The JSON object of one stage."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

from ragnostic.errors import Fault
from ragnostic.metrics import parse_list
from ragnostic.records import record_schema
from ragnostic.scoring import Plan, score
from ragnostic.stats import curve_summary, stage_summary, tail_summary

A = {"ids": ["a"]}


def scored(rows, names="RR@2", **options):
    """A scored stage."""
    named = [{"query_id": f"q{i}", **row} for i, row in enumerate(rows)]
    table = pa.Table.from_pylist(named, record_schema(["retrieve"]))
    return score(table, Plan(tuple(parse_list(names)), **options))


def test_the_object_has_everything_that_interfaces_names():
    """Means, Judged@k, ties, duplicates, unjudged queries, warnings: strict JSON."""
    found = stage_summary(
        scored([{"judged": A, "retrieve": {"ids": ["x", "x", "a"]}}, {"retrieve": A}]),
        ties=3,
        faults=[Fault("quarantined", "bad", where="f:1")],
        took_ms=np.array([10.0, np.nan]),
    )
    assert list(found) == [
        "metrics", "Judged@2", "ties", "duplicates", "unjudged_queries", "warnings", "latency_ms",
    ]  # fmt: skip
    assert found["metrics"]["RR@2"]["mean"] == 0.5
    assert found["Judged@2"] == 0.5
    assert (found["ties"], found["duplicates"], found["unjudged_queries"]) == (3, 1, 1)
    assert found["warnings"][0] == "f:1: bad"
    assert "x" in found["warnings"][1]
    assert found["latency_ms"] == {"p50": 10.0, "p95": 10.0, "p99": 10.0}
    json.dumps(found, allow_nan=False)


def test_unknown_durations_are_no_latency():
    """None, not nought."""
    assert stage_summary(scored([]), took_ms=np.array([np.nan]))["latency_ms"] is None


def test_the_curve_comes_with_half_life_plateau_and_carried_share():
    """Found at rank 2 of 4 asked; the second ranking ended after one result."""
    found = stage_summary(
        scored(
            [
                {"judged": A, "retrieve": {"ids": ["x", "a", "y", "z"], "top_k": 4}},
                {"judged": A, "retrieve": {"ids": ["a"], "top_k": 4}},
                {"retrieve": A},
            ],
            curve_depth=10,
        )
    )["curve"]
    assert found == {
        "depth": [1, 2, 3, 4],
        "recall": [0.5, 1.0, 1.0, 1.0],
        "half_life": 1,
        "plateau": 0,
        "slope": 0.0,
        "carried_share": 0.5,
    }


def test_without_top_k_the_deepest_ranking_says_how_far_was_asked():
    """Two results at most."""
    found = curve_summary(scored([{"judged": A, "retrieve": {"ids": ["x", "a"]}}], curve_depth=9))
    assert found["depth"] == [1, 2]


@pytest.mark.parametrize(
    ("rows", "depth"),
    [([], 5), ([{"retrieve": A}], 5), ([{"judged": A}], 5), ([{"judged": A, "retrieve": A}], 0)],
)
def test_there_is_no_curve_without_a_scored_ranking(rows, depth):
    """Nothing to draw: no query, none judged, none retrieved, none asked for."""
    assert curve_summary(scored(rows, curve_depth=depth)) is None


def test_tail_decay_compares_frequent_with_rare_queries():
    """The least asked queries that make up a fifth of the traffic are the tail (METRICS 3)."""
    hit, miss = {"judged": A, "retrieve": A}, {"judged": A, "retrieve": {"ids": ["x"]}}
    found = scored([hit, hit, miss, miss], names="R@1,R@5,P@5")
    tail = tail_summary(found, np.array([60.0, 30.0, 5.0, 5.0]))
    assert (tail["metric"], tail["value"], tail["head"], tail["tail"]) == ("R@5", 1.0, 2, 2)
    assert (tail["low"], tail["high"]) == (1.0, 1.0)
    assert tail_summary(found, np.full(4, np.nan)) is None
    assert tail_summary(scored([hit], names="P@5"), np.array([1.0])) is None


def test_tail_decay_of_equal_frequencies_has_no_sides():
    """Every query is as frequent as the others: no value, both sizes."""
    hit = {"judged": A, "retrieve": A}
    tail = tail_summary(scored([hit, hit], names="R@5"), np.array([1.0, 1.0]))
    assert (tail["value"], tail["low"], tail["head"], tail["tail"]) == (None, None, 2, 0)
