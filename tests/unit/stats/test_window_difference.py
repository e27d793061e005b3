"""Two windows compared by what a roll-up keeps of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_ind

from ragnostic.monitor.rollups.estimates import Sums, estimate
from ragnostic.stats.estimates import wilson_interval
from ragnostic.stats.window_difference import Measured, window_difference


def measured(values: np.ndarray) -> Measured:
    """A window as a roll-up knows it: from n, Σ and Σ² alone."""
    sums = Sums(values.size, float(values.sum()), float((values * values).sum()))
    value, low, high = estimate("RR@5", sums)
    return Measured(value, values.size, low, high)


@given(st.integers(0, 1000), st.integers(205, 3000), st.integers(205, 3000), st.floats(0.2, 0.9))
def test_for_means_it_is_welchs_interval_of_the_rows(seed, many, more, share):
    """As scipy has it from the rows themselves."""
    draw = np.random.default_rng(seed)
    first = draw.choice([0.0, 0.25, 0.5, 1.0], size=many)
    second = np.where(draw.random(more) < share, 1.0, 0.2)
    expected = ttest_ind(first, second, equal_var=False).confidence_interval(0.95)
    found = window_difference(measured(first), measured(second))
    assert found == pytest.approx((expected.low, expected.high), abs=1e-5)


def test_an_interval_that_was_cut_gives_its_error_by_the_other_side():
    """A value near an end of the range has no room on one side."""
    whole = Measured(0.95, 30, 0.85, 1.05)
    cut = Measured(0.95, 30, 0.85, 1.0)
    assert cut.variance() == pytest.approx(whole.variance())


def test_windows_without_variance_differ_by_a_point():
    """Nothing is uncertain about them."""
    apart = window_difference(Measured(1.0, 300, 1.0, 1.0), Measured(0.5, 300, 0.5, 0.5))
    assert apart == (0.5, 0.5)


def test_shares_of_single_rows_are_no_error():
    """Their interval is Wilson's, which one row has too."""
    one = Measured(1.0, 1, *wilson_interval(1.0, 1))
    low, high = window_difference(one, one)
    assert low < 0 < high
