"""METRICS 5: nDCG and coverage."""

from __future__ import annotations

import numpy as np
import pytest

from ragnostic.metrics.gain import coverage, ndcg
from ragnostic.metrics.inputs import gains


@pytest.mark.parametrize(
    ("grades", "ideal", "k", "gain", "expected"),
    [
        ([3, 1, 2], None, 3, "linear", 0.9725),
        ([3, 1, 2], None, 3, "exp", 0.9721),
        ([3, 2, 1], None, 3, "linear", 1.0),
        ([3, 2, 1], None, 3, "exp", 1.0),
        ([1], [1] * 5, 5, "linear", 0.3392),
        ([1, *[0] * 9], [1, 1], 10, "linear", 0.6131),
    ],
)
def test_the_worked_examples(grades, ideal, k, gain, expected):
    """By hand, to four places."""
    given = gains([grades], None if ideal is None else [ideal])
    assert ndcg(given, k=k, gain=gain).value[0] == pytest.approx(expected, abs=5e-5)


def test_both_gains_are_equal_for_grades_of_nought_and_one():
    """2^1 - 1 = 1."""
    given = gains([[0, 1, -1, 1], [1, 0, 0, 0]], ideal=[[1, 1, 1], [1, 0]])
    assert ndcg(given, k=4).value.tolist() == ndcg(given, k=4, gain="exp").value.tolist()


def test_there_is_no_value_exactly_where_the_ideal_is_nothing():
    """All grades 0: null; one judged above 0 but not found: 0."""
    found = ndcg(gains([[0, 0], [0, -1]], ideal=[[0, 0], [2, 0]]), k=2).value
    assert np.isnan(found[0])
    assert found[1] == 0


def test_grades_of_any_size_stay_within_one():
    """2^5000 does not fit a float; the quotient does."""
    given = gains([[5000.0, 4999.0], [4999.0, 5000.0]])
    found = ndcg(given, k=2, gain="exp").value
    assert found[0] == 1
    half = 1 / np.log2(3)
    assert found[1] == pytest.approx((0.5 + half) / (1 + 0.5 * half))


def test_coverage_counts_facets():
    """One of two facets in the top 2, none in the top 1."""
    given = gains([[-1, 1]], ideal=[[1, 1]])
    assert [coverage(given, k=k).value[0] for k in (1, 2)] == [0.0, 0.5]
