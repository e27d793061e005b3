"""Two rankings of one query at two times."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.metrics.retrieval_change import retrieval_overlap, retrieval_rank_overlap

RANKINGS = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)


def test_short_lists_that_are_the_same_are_one():
    """Unlike RCS, where the candidates are given: here they are what is compared."""
    pairs = [(["a", "b"], ["b", "a"])]
    assert retrieval_overlap(pairs).value.tolist() == [1.0]
    assert retrieval_rank_overlap(pairs).value[0] < 1.0


def test_only_the_top_is_compared():
    """What changes below the cutoff does not show."""
    assert retrieval_overlap([(["a", "b", "c"], ["b", "a", "d"])], k=2).value.tolist() == [1.0]


@pytest.mark.parametrize("function", [retrieval_overlap, retrieval_rank_overlap])
def test_nothing_found_any_more_is_zero_and_nothing_to_compare_is_none(function):
    """An index that lost everything must show; a query that is new must not."""
    values = function([(["a"], []), ([], ["a"]), ([], []), (None, ["a"]), (None, [])]).value
    assert values[:2].tolist() == [0.0, 0.0]
    assert all(math.isnan(value) for value in values[2:])


@given(RANKINGS, RANKINGS, st.integers(1, 9))
def test_both_stay_in_range_and_are_symmetric(before, now, k):
    """Whatever the lists."""
    for function in (retrieval_overlap, retrieval_rank_overlap):
        one, other = function([(before, now), (now, before)], k=k).value
        assert math.isnan(one) == (not before and not now)
        assert math.isnan(one) or (one == pytest.approx(other) and -1e-12 <= one <= 1 + 1e-12)
