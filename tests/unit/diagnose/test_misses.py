"""What is missed: by the last stage, by what the generator was given, and what is left out."""

from __future__ import annotations

import pytest
from tests.unit.report.small_run import small_run

from ragnostic.diagnose.misses import Item, read_items

STAGES = ("retrieve", "rerank")


def items(query, k=2, stages=STAGES):
    """The items of one query."""
    return read_items(small_run([{"id": "q", **query}], stages=stages).records, stages, k).items


def test_an_item_beyond_k_of_the_last_stage_is_missed():
    """Whatever the stage before had."""
    found = items(
        {"gold": {"a": 1, "b": 1, "c": 1}, "retrieve": ["a", "b", "c"], "rerank": ["c", "b", "a"]}
    )
    assert {one.ids[0]: one.missed for one in found} == {"a": True, "b": False, "c": False}
    assert {one.ids[0]: one.ranks for one in found}["a"] == (1, 3)


def test_weights_of_a_query_sum_to_one():
    """So that their sums are recall."""
    found = items({"gold": {"a": 1, "b": 2, "c": 1}, "retrieve": ["a"], "rerank": ["a"]})
    assert sum(one.weight for one in found) == pytest.approx(1.0)
    assert [one.grade for one in found] == [2, 1, 1]


def test_chunks_of_one_item_count_once():
    """It is found if any of them is."""
    (one,) = items({"gold": {"a": 1, "b": 1}, "items": [0, 0], "retrieve": ["b"], "rerank": ["b"]})
    assert one == Item("q", 0, ("a", "b"), 1, (1, 1), weight=1.0, missed=False, number=0)


@pytest.mark.parametrize(
    ("context", "missed", "given"),
    [(["a"], False, True), (["z"], True, False), (None, False, None)],
)
def test_what_the_generator_was_not_given_is_missed(context, missed, given):
    """Only where it was logged what was given."""
    (one,) = items({"gold": {"a": 1}, "retrieve": ["a"], "rerank": ["a"], "context_ids": context})
    assert (one.missed, one.given) == (missed, given)


def test_queries_that_cannot_be_scored_are_counted_or_left_out():
    """Failed and empty ones are counted; unanswerable ones are no loss."""
    failed = {"id": "f", "gold": {"a": 1}, "retrieve": {"ids": [], "status": "failed"}}
    run = small_run(
        [
            failed,
            {"id": "n", "gold": {}, "retrieve": ["a"]},
            {"id": "u", "gold": {"a": 1}, "answerable": False, "retrieve": ["b"]},
            {"id": "q", "gold": {"a": 1}, "retrieve": ["a"]},
        ],
        stages=("retrieve",),
    )
    found = read_items(run.records, ("retrieve",), 5)
    assert (set(found.asked), found.failed, found.without) == ({"q"}, 1, 1)
    assert found.recall == 1.0
    assert found.missed == []


def test_without_queries_there_is_no_recall():
    """None, not 0."""
    assert read_items(small_run().records, ("retrieve",), 5).recall is None


def test_what_was_sent_is_kept_beside_what_was_asked():
    """The user's words where nothing else was sent."""
    run = small_run(
        [
            {"id": "a", "query": "vpn", "searched": ["vpn client"], "gold": {"c": 1}},
            {"id": "b", "query": "vpn", "gold": {"c": 1}, "category": "it"},
        ]
    )
    found = read_items(run.records, ("retrieve",), 5).asked
    assert found["a"].sent == ("vpn client",)
    assert found["b"].sent == ("vpn",)
    assert found["b"].slices == {"category": "it"}
