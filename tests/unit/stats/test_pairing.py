"""Which queries two sides share."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragnostic.stats import side_from_values
from ragnostic.stats.pairing import pair_queries

IDS = st.lists(st.sampled_from("abcdefg"), unique=True, max_size=7)


@given(IDS, IDS)
def test_pairs_are_the_shared_queries_and_the_rest_is_listed(base, candidate):
    """Any two lists of queries, also equal ones in the same order, and empty ones."""
    sides = [side_from_values("x", {"AP": dict.fromkeys(ids, 0.5)}) for ids in (base, candidate)]
    found = pair_queries(*sides)
    shared = [query for query in base if query in candidate]
    assert found.query_ids.to_pylist() == shared
    assert [base[row] for row in found.base] == shared
    assert [candidate[row] for row in found.candidate] == shared
    assert found.only_base.to_pylist() == [query for query in base if query not in candidate]
    assert found.only_candidate.to_pylist() == [query for query in candidate if query not in base]


def test_queries_in_one_order_are_paired_as_they_stand():
    """The usual case: nothing is looked up."""
    side = side_from_values("x", {"AP": {"b": 1, "a": 0}})
    found = pair_queries(side, side)
    assert found.base is found.candidate
    assert found.base.tolist() == [0, 1]
