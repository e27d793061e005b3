"""Intervals of ratios and deviations, against brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ragnostic.monitor.estimators import deviation_interval, ratio_interval

VALUES = st.lists(st.floats(0, 2), min_size=3, max_size=30)


@given(VALUES)
def test_the_deviation_interval_is_the_jackknife(values):
    """Leaving each value out in turn gives the same."""
    numbers = np.array(values)
    n = numbers.size
    without = np.array([np.delete(numbers, place).std() for place in range(n)])
    error = math.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum())
    half = stats.t.ppf(0.975, n - 1) * error
    low, high = deviation_interval(numbers)
    assert low == pytest.approx(max(0.0, numbers.std() - half), abs=1e-6)
    assert high == pytest.approx(numbers.std() + half, abs=1e-6)


def test_the_ratio_interval_covers_the_truth():
    """In about 95 of 100 samples."""
    draw = np.random.default_rng(0)
    hits = 0
    for _ in range(400):
        lower = draw.exponential(1.0, 80)
        upper = 2.5 * lower + draw.normal(0, 0.5, 80)
        low, high = ratio_interval(upper, lower)
        hits += low <= 2.5 <= high
    assert 0.92 <= hits / 400 <= 0.98


def test_too_few_rows_have_no_interval():
    """Nor has a sum of nothing."""
    assert ratio_interval(np.array([1.0]), np.array([1.0])) is None
    assert ratio_interval(np.array([1.0, 1.0]), np.zeros(2)) is None
    assert deviation_interval(np.array([1.0, 2.0])) is None
