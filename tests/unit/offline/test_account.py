"""The stage account by hand."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from ragnostic.metrics import parse_list
from ragnostic.offline.summary import score_run
from ragnostic.records import record_schema


def account(rows, stages=("retrieve", "rerank"), names="RR@5,R@5", **options):
    """``account`` of run.json, checked to be strict JSON."""
    named = [{"query_id": f"q{at}", **row} for at, row in enumerate(rows)]
    table = pa.Table.from_pylist(named, record_schema(list(stages)))
    found = score_run(table, parse_list(names), **options).account
    json.dumps(found, allow_nan=False)
    return found


def ids(text, **more):
    """A stage from letters."""
    return {"ids": list(text), "top_k": 8, **more}


AB = {"ids": ["a", "b"]}
ROWS = [
    {"judged": AB, "retrieve": ids("xaybz"), "rerank": ids("axyzb")},
    {"judged": AB, "retrieve": ids("bxyzw"), "rerank": ids("xyzwb")},
    {"judged": AB, "retrieve": ids("xyz"), "rerank": ids("zyx")},
]


def test_the_ceiling_is_the_ideal_order_of_the_candidates():
    """RR: .5, 1, 0 could be 1, 1, 0 and became 1, .2, 0."""
    found = account(ROWS)
    row = found["metrics"]["RR@5"]
    assert (found["candidates"], found["stage"], found["top_k"]) == ("retrieve", "rerank", 8)
    assert row["n"] == 3
    assert row["before"] == pytest.approx(0.5)
    assert row["ceiling"] == pytest.approx(2 / 3)
    assert row["after"] == pytest.approx(0.4)
    assert row["difference"] == pytest.approx(-0.1)
    assert (row["wins"], row["ties"], row["losses"]) == (1, 1, 1)
    assert row["gain"] == pytest.approx(0.5 / 3)
    assert row["harm"] == pytest.approx(-0.8 / 3)
    assert row["reached"] == pytest.approx(-0.6)
    assert row["low"] < -0.1 < row["high"]


def test_a_metric_without_room_has_no_share_of_it():
    """All that can be found within five is found."""
    assert account(ROWS)["metrics"]["R@5"]["reached"] is None


def test_moved_gold_is_named_with_its_ranks():
    """The largest change of 1/rank first; only gold counts."""
    found = account(ROWS)
    assert found["promoted"] == {
        "items": 1,
        "queries": 1,
        "largest": [{"query_id": "q0", "id": "a", "from": 2, "to": 1, "items": 1}],
    }
    rows = [(r["query_id"], r["id"], r["from"], r["to"]) for r in found["demoted"]["largest"]]
    assert rows == [("q1", "b", 1, 5), ("q0", "b", 4, 5)]


def test_gold_beyond_the_candidates_is_counted_in_items_and_queries():
    """Of six items three: ``a`` of q1 and both of q2."""
    assert account(ROWS)["beyond"] == {
        "items": 3, "of_items": 6, "queries": 2, "of_queries": 3, "without_any": 1,
        "ids": ["q1", "q2"],
    }  # fmt: skip


def test_what_the_last_stage_drops_is_demoted():
    """And what a list holds behind its top_k is not among the candidates."""
    rows = [
        {"judged": AB, "retrieve": {"ids": ["a", "x", "b"], "top_k": 2}, "rerank": ids("x")},
    ]
    found = account(rows)
    [row] = found["demoted"]["largest"]
    assert (row["id"], row["from"], row["to"]) == ("a", 1, None)
    assert found["beyond"]["items"] == 1


def test_items_that_one_chunk_brings_are_one_row():
    """Alternatives count as one item; the first of them that is there is named."""
    judged = {"ids": ["a", "a", "c", "d"], "items": [0, 1, 2, 2]}
    rows = [{"judged": judged, "retrieve": ids("xad"), "rerank": ids("axd")}]
    found = account(rows)
    [row] = found["promoted"]["largest"]
    assert (row["id"], row["items"], found["promoted"]["items"]) == ("a", 2, 2)
    assert found["beyond"] == {
        "items": 0, "of_items": 3, "queries": 0, "of_queries": 1, "without_any": 0, "ids": [],
    }  # fmt: skip


def test_an_item_found_only_by_the_last_stage_is_promoted():
    """A service may bring new chunks."""
    rows = [{"judged": {"ids": ["a"]}, "retrieve": ids("x"), "rerank": ids("a")}]
    [row] = account(rows)["promoted"]["largest"]
    assert (row["id"], row["from"], row["to"]) == ("a", None, 1)
    nowhere = [{"judged": {"ids": [None], "items": [0]}, "retrieve": ids("x"), "rerank": ids("x")}]
    assert account(nowhere)["beyond"]["items"] == 1


def test_unanswerable_and_failed_queries_take_no_part():
    """Nor do they change what the others could reach."""
    rows = [
        *ROWS,
        {"answerable": False, "judged": AB, "retrieve": ids("xa"), "rerank": ids("ax")},
        {"judged": AB, "retrieve": ids("xa"), "rerank": {"status": "failed"}},
        {"judged": None, "retrieve": ids("xa"), "rerank": ids("ax")},
    ]
    assert account(rows) == account(ROWS)


def test_a_single_stage_has_a_ceiling_and_nothing_else():
    """No moves, no truncation."""
    rows = [{key: row[key] for key in ("judged", "retrieve")} for row in ROWS]
    found = account(rows, ["retrieve"])
    assert found["metrics"]["RR@5"] == {
        "n": 3, "before": 0.5, "ceiling": pytest.approx(2 / 3),
    }  # fmt: skip
    assert (found["stage"], found["promoted"], found["demoted"]) == (None, None, None)
    assert found["truncated_share"] is None
    assert account([{}], []) is None


def test_the_stage_before_the_last_gives_the_candidates():
    """Not the first of three."""
    rows = [{"judged": AB, "recall": ids("ab"), "fuse": ids("xa"), "rank": ids("ax")}]
    found = account(rows, ["recall", "fuse", "rank"])
    assert (found["candidates"], found["stage"]) == ("fuse", "rank")
    assert found["metrics"]["RR@5"]["before"] == 0.5


def test_metrics_that_order_alone_does_not_decide_are_left_out():
    """Token budgets, and those of unanswerable queries."""
    found = account(ROWS, names="RR@5,R(budget=50),TokenPrecision,AUROC,FalseRetrieval@1")
    assert list(found["metrics"]) == ["RR@5"]


def test_the_share_of_truncated_candidates():
    """Of all that the last stage says something of."""
    rows = [
        {"judged": AB, "retrieve": ids("ab"), "rerank": ids("ab", truncated=[True, False])},
        {"judged": AB, "retrieve": ids("ab"), "rerank": ids("ab", truncated=[False, False])},
    ]
    assert account(rows)["truncated_share"] == 0.25


def test_many_moves_are_named_in_part():
    """Fifty; the totals are of all."""
    rows = [{"judged": {"ids": ["a"]}, "retrieve": ids("xa"), "rerank": ids("ax")}] * 60
    found = account(rows)["promoted"]
    assert (found["items"], found["queries"], len(found["largest"])) == (60, 60, 50)
