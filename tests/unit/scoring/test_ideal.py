"""The best order of a query's candidates."""

from __future__ import annotations

from itertools import permutations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.metrics import parse_list
from ragnostic.records import record_schema
from ragnostic.scoring import Plan, score
from ragnostic.scoring.ideal import ideal_order


def test_grades_decide_and_equal_ones_keep_their_order():
    """Unjudged, irrelevant and null ids stay behind, as they stood."""
    judged = {"ids": ["a", "b", "c", "x"], "grades": [1, 3, 1, 0]}
    assert ideal_order(["y", "a", None, "x", "c", "b"], judged) == [5, 1, 4, 0, 2, 3]


def test_an_item_is_worth_something_once():
    """Two alternatives of one item: the second one comes after the other item."""
    judged = {"ids": ["a", "b", "c"], "grades": [3, 3, 1], "items": [0, 0, 1]}
    assert ideal_order(["a", "b", "c"], judged) == [0, 2, 1]


def test_a_chunk_that_holds_two_items_comes_first():
    """It finds both at rank 1."""
    judged = {"ids": ["a", "b", "b", "c"], "grades": [1, 1, 1, 1], "items": [0, 0, 1, 1]}
    assert ideal_order(["a", "b", "c"], judged) == [1, 0, 2]


def test_facets_are_items_of_their_own():
    """A chunk with two facets is worth more than one with one."""
    judged = {"ids": ["a", "b", "b"], "grades": [1, 1, 1], "facets": ["x", "x", "y"]}
    assert ideal_order(["a", "b"], judged) == [1, 0]


def test_nothing_judged_leaves_the_order():
    """Also where there is nothing at all."""
    assert ideal_order(["a", "b"], {}) == [0, 1]
    assert ideal_order([], {"ids": ["a"]}) == []


def values(orders, judged, names):
    """Values of the metrics for each order of ids."""
    rows = [{"query_id": "q", "retrieve": {"ids": ids}, "judged": judged} for ids in orders]
    found = score(
        pa.Table.from_pylist(rows, record_schema(["retrieve"])), Plan(tuple(parse_list(names)))
    )
    return [found.table[name].to_pylist() for name in names.split(",")]


@given(st.lists(st.tuples(st.sampled_from("abcdx"), st.integers(0, 3)), min_size=1, max_size=5))
def test_no_order_is_better_where_chunks_are_items(entries):
    """All permutations of five candidates tried."""
    judged = {"ids": [id_ for id_, _ in entries], "grades": [grade for _, grade in entries]}
    ids = list("abcde")
    best = [ids[at] for at in ideal_order(ids, judged)]
    columns = values([best, *permutations(ids)], judged, "nDCG@3,RR@5,R@2,AP,P@3")
    for column in columns:
        assert column[0] is None or column[0] >= max(column) - 1e-12
