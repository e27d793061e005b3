"""METRICS 9: what a stage does with queries that the corpus cannot answer."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

from ragnostic.metrics import parse_list
from ragnostic.records import record_schema
from ragnostic.stats import unanswerable
from ragnostic.stats.intervals import wilson_interval
from ragnostic.stats.unanswerable import threshold, unanswerable_summary

METRICS = parse_list("Success@1,RR@2")


def records(answerable, unanswerable_):
    """Rows from lists of scores; None is a failed call, an empty list an empty result."""
    rows = [
        {
            "query_id": f"q{at}",
            "answerable": can,
            "judged": {"ids": ["a"]} if can else None,
            "retrieve": {"status": "failed", "ids": None}
            if scores is None
            else {"ids": [f"d{n}" for n in range(len(scores))], "scores": scores},
        }
        for at, (can, scores) in enumerate(
            [(True, s) for s in answerable] + [(False, s) for s in unanswerable_]
        )
    ]
    return pa.Table.from_pylist(rows, record_schema(["retrieve"]))


def summary(answerable, unanswerable_, **options):
    """The member of run.json."""
    found = unanswerable_summary(records(answerable, unanswerable_), "retrieve", METRICS, **options)
    json.dumps(found, allow_nan=False)
    return found


def test_the_threshold_keeps_ninety_five_percent():
    """19 of 20, not 20, whatever 0.95 is in binary; ties keep more."""
    best = np.arange(1, 21) / 20
    assert threshold(best) == 0.1
    assert (best >= 0.1).mean() == 0.95
    assert threshold(np.array([0.5] * 20)) == 0.5
    assert threshold(np.array([])) is None
    assert threshold(np.array([0.5, -np.inf])) is None


def test_a_set_by_hand():
    """t* is 0.4; two of four unanswerable queries reach it, one of them only at rank 3."""
    found = summary([[0.9], [0.8], [0.4]], [[0.5, 0.4], [0.3, 0.2, 0.6], [0.1], []])
    assert (found["queries"], found["answerable"], found["k"], found["threshold"]) == (4, 3, 2, 0.4)
    low, high = wilson_interval(0.25, 4)
    assert found["false_retrieval"] == {"value": 0.25, "n": 4, "low": low, "high": high}
    assert found["any_result"]["value"] == 0.75
    assert found["auroc"]["value"] == pytest.approx(10 / 12)
    assert found["auroc"]["low"] < 10 / 12 < found["auroc"]["high"]
    assert found["reason"] is None


def test_scores_that_are_ranks_have_no_threshold():
    """Null with the reason; whether anything came back is known all the same."""
    found = summary([[0.03]], [[0.03], []], score_order="rank")
    assert (found["threshold"], found["false_retrieval"]["value"]) == (None, None)
    assert found["auroc"] == {"value": None, "low": None, "high": None}
    assert found["any_result"]["value"] == 0.5
    assert found["reason"] == unanswerable.RANKS


def test_without_scores_any_result_is_a_false_retrieval():
    """And an empty result is what tells the kinds apart."""
    found = summary([[None], [None]], [[None], []])
    assert (found["threshold"], found["false_retrieval"]["value"]) == (None, 0.5)
    assert found["auroc"]["value"] == 0.75
    assert found["reason"] == unanswerable.NO_SCORES


@pytest.mark.parametrize(
    ("answerable", "other", "reason"),
    [
        ([[0.5], []], [[0.4]], unanswerable.MANY_EMPTY),
        ([], [[0.4]], unanswerable.NO_ANSWERABLE),
        ([[0.5]], [None], unanswerable.NONE_RETRIEVED),
    ],
)
def test_why_there_is_no_threshold(answerable, other, reason):
    """Said, not left to guess."""
    found = summary(answerable, other)
    assert (found["threshold"], found["reason"]) == (None, reason)
    assert found["false_retrieval"]["value"] is None


def test_a_set_without_unanswerable_queries_has_no_summary():
    """Also where nothing says so."""
    assert summary([[0.5]], []) is None
    table = pa.Table.from_pylist([{"query_id": "q"}], record_schema(["retrieve"]))
    assert unanswerable_summary(table, "retrieve", METRICS) is None


def test_lower_may_be_better():
    """Distances: 0.1 is nearer than 0.5."""
    found = summary([[0.1], [0.2]], [[0.5]], score_order="distance")
    assert (found["threshold"], found["auroc"]["value"]) == (-0.2, 1.0)
