"""Means with n, missing, unscored, failed and reasons (METRICS 1.2)."""

from __future__ import annotations

import pyarrow as pa
import pytest

from ragnostic.metrics import Metric
from ragnostic.records import record_schema
from ragnostic.scoring import Plan, score
from ragnostic.stats import Summary, stage_summary, summarise, values_of

A = {"ids": ["a"]}


def summary(rows, name="RR@5", **options):
    """The summary of one metric over records."""
    named = [{"query_id": f"q{i}", **row} for i, row in enumerate(rows)]
    table = pa.Table.from_pylist(named, record_schema(["retrieve"]))
    plan = Plan((Metric.parse(name),), **options)
    return summarise(score(table, plan).table, plan.metrics)[name]


def test_every_kind_of_query_is_counted_where_it_belongs():
    """Found, missing, missing and unscored, unscored, failed, unjudged, unanswerable."""
    nothing = {"ids": ["a"], "grades": [0]}
    found = summary(
        [
            {"judged": A, "retrieve": A},
            {"judged": A},
            {"judged": nothing},
            {"judged": nothing, "retrieve": A},
            {"judged": A, "retrieve": {"status": "failed"}},
            {"retrieve": A},
            {"judged": A, "retrieve": A, "answerable": False},
        ]
    )
    assert (found.mean, found.n, found.missing) == (0.5, 2, 1)
    assert (found.unscored, found.failed, found.reason) == (2, 1, None)


def test_skipping_what_is_missing_is_one_flag():
    """trec_eval's way: the mean over the queries that came back."""
    found = summary([{"judged": A, "retrieve": A}, {"judged": A}], missing="skip")
    assert (found.mean, found.n, found.missing, found.unscored) == (1.0, 1, 0, 1)


@pytest.mark.parametrize(
    ("rows", "name", "reason"),
    [
        ([], "RR@5", "there are no queries"),
        ([{"judged": A, "retrieve": {"ids": ["a"], "top_k": 3}}], "RR@5", "top_k 3, which is less"),
        ([{"judged": A, "retrieve": A}], "TokenPrecision", "no token counts"),
        ([{"judged": A, "retrieve": A}], "R(budget=9)", "no token counts"),
        ([{"judged": {"ids": []}, "retrieve": A}], "RR@5", "no query has a relevant judgment"),
        ([{"judged": A, "retrieve": A}], "coverage@5", "no judgment names a facet"),
    ],
)
def test_a_mean_that_is_none_says_why(rows, name, reason):
    """And the JSON holds the reason."""
    found = summary(rows, name)
    assert found.mean is None
    assert reason in found.reason
    assert found.as_json()["reason"] == found.reason


def test_a_mean_has_no_reason_in_its_json():
    """Only where it is needed."""
    assert Summary(0.5, 2).as_json() == {
        "mean": 0.5, "n": 2, "missing": 0, "unscored": 0, "failed": 0, "low": None, "high": None,
    }  # fmt: skip


def test_a_column_is_read_with_nan_for_null():
    """Numbers of any type."""
    table = pa.table({"RR@5": pa.array([1, None])})
    assert str(values_of(table, Metric.parse("RR@5")).tolist()) == "[1.0, nan]"


def test_a_table_without_depth_has_a_reason_too():
    """``top_k`` is optional."""
    table = pa.table({"status": ["ok"], "RR@5": pa.array([None], pa.float64())})
    found = summarise(table, [Metric.parse("RR@5")])["RR@5"]
    assert found.reason == "no query has a relevant judgment"


def test_an_empty_plan_has_an_empty_summary():
    """But the counts of the stage."""
    table = pa.Table.from_pylist([{"query_id": "q", "judged": A}], record_schema(["retrieve"]))
    assert stage_summary(score(table, Plan(())))["metrics"] == {}
