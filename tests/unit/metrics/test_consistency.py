"""METRICS 8: RCS and RBO."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragnostic.metrics.consistency import rank_biased_overlap, rerank_consistency

LISTS = st.lists(st.sampled_from("abcdefghijkl"), unique=True, max_size=10)


def test_the_worked_example():
    """[101,205,302,110,408] and [101,302,205,501,110]: 4/6 = 0.6667."""
    pair = (["101", "205", "302", "110", "408"], ["101", "302", "205", "501", "110"])
    assert rerank_consistency([pair], k=5).value[0] == pytest.approx(4 / 6)


def test_rcs_is_undefined_where_it_would_be_one_by_construction():
    """Both hold the same k or fewer candidates; RBO stays."""
    pair = (["a", "b"], ["b", "a"])
    assert np.isnan(rerank_consistency([pair], k=10).value).all()
    assert 0 < rank_biased_overlap([pair], k=10).value[0] < 1


def test_two_empty_lists_have_neither():
    """Nothing to compare."""
    assert np.isnan(rerank_consistency([([], [])]).value).all()
    assert np.isnan(rank_biased_overlap([([], [])]).value).all()


def test_an_empty_list_agrees_with_nothing():
    """0 in both."""
    assert rerank_consistency([([], ["a"])]).value.tolist() == [0.0]
    assert rank_biased_overlap([([], ["a"])]).value.tolist() == [0.0]


def test_rbo_of_lists_of_different_length_by_hand():
    """[a] and [a, b], p = 0.9: agreement stays complete as far as both go, so 1."""
    assert rank_biased_overlap([(["a"], ["a", "b"])]).value[0] == pytest.approx(1.0)


def test_rbo_by_hand():
    """[a, b], [b, a], p = 0.5: 1/2·(0·1 + ... ) = (1-p)/p·(1·p²) + 1·p² = 0.5."""
    assert rank_biased_overlap([(["a", "b"], ["b", "a"])], p=0.5).value[0] == pytest.approx(0.5)


@settings(deadline=None, max_examples=100)
@given(LISTS, LISTS, st.integers(1, 12))
def test_both_stay_in_range_and_are_symmetric(first, second, k):
    """And identical lists give RBO 1."""
    for function in (rerank_consistency, rank_biased_overlap):
        there, back = (
            function([pair], k=k).value[0] for pair in ((first, second), (second, first))
        )
        assert np.isnan(there) or -1e-12 <= there <= 1 + 1e-12
        assert np.isnan(there) == np.isnan(back)
        assert np.isnan(there) or there == pytest.approx(back)
    if first:
        assert rank_biased_overlap([(first, first)], k=k).value[0] == pytest.approx(1)
