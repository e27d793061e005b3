"""Student's t and percentiles without scipy, against scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from ragnostic.stats import difference_interval, mean_interval, nearest_rank, t_quantile


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 5, 10, 29, 99, 100, 199, 200, 201, 500, 20_000])
@pytest.mark.parametrize("probability", [0.5, 0.75, 0.9, 0.95, 0.975, 0.995, 0.9995])
def test_quantiles_are_scipys(degrees, probability):
    """Odd and even, exact and by expansion."""
    expected = scipy.stats.t.ppf(probability, degrees)
    assert t_quantile(probability, degrees) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.floats(-5, 5), min_size=2, max_size=40), st.sampled_from([0.8, 0.95, 0.99]))
def test_intervals_are_scipys(values, level):
    """Of any values that differ."""
    given_values = np.array(values)
    if np.ptp(given_values) < 1e-6:
        return
    error = scipy.stats.sem(given_values)
    expected = scipy.stats.t.interval(level, len(values) - 1, given_values.mean(), error)
    assert mean_interval(given_values, level=level) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("value", [0.0, 0.1, 1.0])
def test_without_variance_the_point_is_its_interval(value):
    """Also where the rounded mean differs in its last bit."""
    low, high = mean_interval(np.full(3, value))
    assert low == high == pytest.approx(value)


def test_one_value_has_no_interval():
    """Nor has none."""
    assert mean_interval(np.array([0.5])) is None
    assert mean_interval(np.zeros(0)) is None


def test_an_interval_stays_within_the_metrics_range():
    """0 and 1 alternate: the plain interval is wider."""
    assert mean_interval(np.array([0.0, 1.0]), (0.0, 1.0)) == (0.0, 1.0)
    low, high = mean_interval(np.array([0.0, 1.0]))
    assert low < 0
    assert high > 1


def test_percentiles_are_values_that_occurred():
    """Nearest rank: 95 % of 100 is the 95th value, 50 % of two the first."""
    assert nearest_rank(np.array([0.1] * 90 + [2.0] * 10), 95) == 2.0
    assert nearest_rank(np.arange(1.0, 101.0), 95) == 95
    assert nearest_rank(np.array([2.0, 1.0]), 50) == 1
    assert nearest_rank(np.array([3.0]), 0) == 3
    assert nearest_rank(np.array([1.0, 3.0]), 100) == 3
    assert nearest_rank(np.zeros(0), 50) is None


@settings(deadline=None, max_examples=60)
@given(st.lists(st.floats(0, 1e3), min_size=1, max_size=50), st.integers(1, 100))
def test_a_percentile_is_the_smallest_value_that_covers_its_share(values, percent):
    """The definition itself."""
    found = nearest_rank(np.array(values), percent)
    ordered = sorted(values)
    assert found == ordered[math.ceil(percent * len(values) / 100) - 1]


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.floats(0, 1), min_size=2, max_size=30),
    st.lists(st.floats(0, 1), min_size=2, max_size=30),
)
def test_the_interval_of_a_difference_is_welchs_or_a_little_wider(first, second):
    """Degrees of freedom are rounded down; the centre is the difference of the means."""
    sides = np.array(first), np.array(second)
    if min(np.ptp(side) for side in sides) < 1e-3:
        return
    low, high = difference_interval(*sides)
    known = scipy.stats.ttest_ind(*sides, equal_var=False).confidence_interval(0.95)
    assert (low + high) / 2 == pytest.approx(sides[0].mean() - sides[1].mean(), abs=1e-9)
    assert low <= known.low + 1e-9
    assert high >= known.high - 1e-9


def test_a_difference_needs_two_values_on_each_side():
    """One value has no variance."""
    assert difference_interval(np.array([1.0]), np.array([0.0, 1.0])) is None
