"""Rankings as matrices; duplicates (METRICS 1.3)."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from ragnostic.scoring.rankings import flat, rankings

ROWS = st.lists(
    st.none() | st.lists(st.none() | st.sampled_from(["", "a", "b", "c", "丁"]), max_size=8),
    min_size=1, max_size=6,
)  # fmt: skip


def shown(found):
    """Each ranking as a list of ids, null and empty ids as they are."""
    ids = found.ids.to_pylist()
    return [
        [ids[p] for p in found.positions[row, : found.lengths[row]]]
        for row in range(len(found.lengths))
    ]


def without_duplicates(row, limit=None):
    """What METRICS 1.3 says, in plain Python."""
    kept = []
    for identity in (row or [])[:limit]:
        if not identity or identity not in kept:
            kept.append(identity)
    return kept


@settings(deadline=None, max_examples=150)
@given(ROWS)
def test_later_repetitions_go_and_the_ranking_closes_up(rows):
    """Nulls and empty ids keep their ranks however often they come."""
    found = rankings(pa.array(rows, pa.list_(pa.string())))
    assert shown(found) == [without_duplicates(row) for row in rows]
    removed = sum(len(row or []) - len(without_duplicates(row)) for row in rows)
    assert len(found.duplicates) == removed


@settings(deadline=None, max_examples=50)
@given(ROWS, st.integers(1, 5))
def test_the_cut_comes_before_duplicates_are_taken_out(rows, limit):
    """What stands below top_k was not asked for."""
    limits = np.full(len(rows), limit)
    found = rankings(pa.array(rows, pa.list_(pa.string())), limits)
    assert shown(found) == [without_duplicates(row, limit) for row in rows]


def test_a_a_b_makes_b_the_second():
    """The worked example."""
    found = rankings(pa.array([["A", "A", "B"], ["C"]]))
    assert shown(found) == [["A", "B"], ["C"]]
    assert found.duplicates == ((0, 1),)


def test_a_slice_of_lists_is_read_at_its_own_place():
    """And a null row has length 0."""
    values, starts, lengths = flat(pa.array([["x"], ["a", "b"], None, ["c"]]).slice(1))
    assert values.to_pylist() == ["a", "b", "c"]
    assert starts.tolist() == [0, 2, 2]
    assert lengths.tolist() == [2, 0, 1]


def test_ids_of_one_hash_are_no_duplicates(forge):
    """Only the true repetition goes, whatever stands between."""
    first, second = forge(7, 2)
    found = rankings(pa.array([[first, second], [first, second, first, None], ["x", "x"]]))
    assert shown(found) == [[first, second], [first, second, None], ["x"]]
    assert found.duplicates == ((1, 4), (2, 7))


def test_an_id_with_the_hash_of_padding_is_no_duplicate(forge):
    """Padding of row 0 has the hash ~1 and points at the block's first id."""
    (odd,) = forge(~1 & 2**64 - 1)
    assert shown(rankings(pa.array([[odd], ["a", "b"]]))) == [[odd], ["a", "b"]]
    assert shown(rankings(pa.array([["a"], ["b", "c"], [odd]]))) == [["a"], ["b", "c"], [odd]]


def test_empty_rankings_have_no_depth():
    """Rows without results, and no rows at all."""
    assert rankings(pa.array([[], None], pa.list_(pa.string()))).hashes.shape == (2, 0)
    assert rankings(pa.array([], pa.list_(pa.string()))).hashes.shape == (0, 0)
