"""Scores beside rankings, and the metrics of METRICS 9 in a batch."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from ragnostic.metrics import Metric, parse_list
from ragnostic.records import record_schema
from ragnostic.scoring import Plan, score, score_batch
from ragnostic.stats import summarise

A = {"ids": ["a"]}
NO = {"answerable": False}


def table(rows):
    """Records of one stage."""
    named = [{"query_id": f"q{at}", **row} for at, row in enumerate(rows)]
    return pa.Table.from_pylist(named, record_schema(["retrieve"]))


def hits(*scores, **more):
    """A stage with these scores; ids d0, d1 and so on."""
    return {"ids": [f"d{at}" for at in range(len(scores))], "scores": list(scores), **more}


def values(rows, metric, **options):
    """Values of one metric, and its summary."""
    plan = Plan((Metric.parse(metric),), **options)
    found = score(table(rows), plan).table
    return found[metric].to_pylist(), summarise(found, plan.metrics)[metric]


def test_only_unanswerable_queries_have_a_false_retrieval():
    """And they have nothing else."""
    rows = [
        {"judged": A, "retrieve": hits(0.9)},
        {**NO, "retrieve": hits(0.2, 0.7)},
        {**NO, "judged": A, "retrieve": {"ids": ["a"], "scores": [0.1]}},
        {**NO, "retrieve": hits()},
    ]
    found, summary = values(rows, "FalseRetrieval(t=0.5)@2")
    assert found == [None, 1, 0, 0]
    assert (summary.mean, summary.n, summary.unscored) == (pytest.approx(1 / 3), 3, 0)
    assert values(rows, "Success@1")[0] == [0, None, None, None]


def test_a_failed_query_is_counted_and_left_out():
    """A missing one is an empty result, or left out where missing ones are."""
    rows = [
        {**NO, "retrieve": {"status": "failed"}},
        {**NO, "retrieve": None},
        {**NO, "retrieve": hits(1.0)},
    ]
    found, summary = values(rows, "FalseRetrieval@2")
    assert found == [None, 0, 1]
    assert (summary.n, summary.failed, summary.unscored) == (2, 1, 0)
    assert values(rows, "FalseRetrieval@2", missing="skip")[0] == [None, None, 1]


def test_a_list_that_was_not_asked_deep_enough_has_no_value():
    """As everywhere (METRICS 1.2)."""
    found, summary = values([{**NO, "retrieve": hits(1.0, top_k=3)}], "FalseRetrieval@5")
    assert found == [None]
    assert summary.reason == "the stage was asked for top_k 3, which is less than 5"


@pytest.mark.parametrize(
    ("rows", "metric", "options", "reason"),
    [
        ([{"judged": A, "retrieve": hits(1.0)}], "AUROC", {}, "no query is marked unanswerable"),
        ([{**NO, "retrieve": hits(1.0)}], "AUROC", {}, "every query is marked unanswerable"),
        (
            [{**NO, "retrieve": hits(1.0)}],
            "FalseRetrieval(t=1)@1",
            {"score_order": "rank"},
            "the scores only encode a rank",
        ),
        (
            [{**NO, "retrieve": {"status": "failed"}}],
            "FalseRetrieval@1",
            {},
            "no unanswerable query was retrieved for",
        ),
    ],
)
def test_an_empty_mean_says_why(rows, metric, options, reason):
    """In the summary."""
    assert values(rows, metric, **options)[1].reason == reason


def test_auroc_compares_over_all_batches():
    """0.9 and 0.4 against 0.5 and nothing: three of four pairs; batches of one row each."""
    rows = [
        {"judged": A, "retrieve": hits(0.9)},
        {"judged": A, "retrieve": hits(0.1, 0.4)},
        {**NO, "retrieve": hits(0.5)},
        {**NO, "retrieve": hits()},
        {"retrieve": hits(0.7)},
    ]
    plan = Plan(tuple(parse_list("AUROC")))
    whole = score(table(rows), plan)
    single = score(iter(table(rows).to_batches(max_chunksize=1)), plan)
    assert whole.table["AUROC"].equals(single.table["AUROC"])
    assert whole.table["AUROC"].to_pylist()[-1] is None
    found = summarise(whole.table, plan.metrics)["AUROC"]
    assert (found.mean, found.n) == (0.75, 4)
    assert found.low < 0.75 < found.high


def test_a_batch_gives_the_best_score():
    """The AUROC is made of it when all batches are there; distances are turned round."""
    batch = table([{"judged": A, "retrieve": hits(0.5, 0.2)}, {**NO, "retrieve": hits()}])
    plan = Plan(tuple(parse_list("AUROC")), score_order="distance")
    found = score_batch(batch.to_batches()[0], plan)["AUROC"].to_pylist()
    assert found == [-0.2, -np.inf]


def test_duplicates_and_what_lies_behind_top_k_do_not_count():
    """The second ``a`` is gone, and ``c`` is the third of two asked for."""
    stage = {"ids": ["a", "a", "b", "c"], "scores": [0.1, 0.9, 0.2, 0.8], "top_k": 3}
    rows = [{**NO, "retrieve": stage}]
    assert values(rows, "FalseRetrieval(t=0.2)@2")[0] == [1]
    assert values(rows, "FalseRetrieval(t=0.5)@2")[0] == [0]


def test_scores_that_are_null_or_too_few_are_none():
    """A result without a score reaches no threshold beside one that has one."""
    rows = [
        {**NO, "retrieve": {"ids": ["a", "b"], "scores": [None, 0.3]}},
        {**NO, "retrieve": {"ids": ["a", "b"], "scores": [0.3]}},
        {**NO, "retrieve": {"ids": ["a", "b"], "scores": [float("nan"), 0.3]}},
        {**NO, "retrieve": {"ids": ["a"], "scores": None}},
    ]
    assert values(rows, "FalseRetrieval(t=0.5)@2")[0] == [0, 0, 0, 1]


def test_a_stage_without_a_member_for_scores_is_one_without_scores():
    """Records of others may hold ids alone."""
    stage = pa.array([{"ids": ["a"]}, {"ids": []}], pa.struct([("ids", pa.list_(pa.string()))]))
    batch = pa.RecordBatch.from_pydict(
        {
            "query_id": pa.array(["q1", "q2"]),
            "answerable": pa.array([False, False]),
            "retrieve": stage,
            "judged": pa.nulls(2, record_schema(["x"]).field("judged").type),
        }
    )
    plan = Plan(tuple(parse_list("FalseRetrieval(t=1)@1")))
    assert score_batch(batch, plan)[2].to_pylist() == ["unanswerable", "unanswerable"]
    assert score_batch(batch, plan)["FalseRetrieval(t=1)@1"].to_pylist() == [1, 0]
