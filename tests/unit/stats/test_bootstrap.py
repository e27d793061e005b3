"""The BCa interval of a mean, against scipy, and where it has nothing to stand on."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ragnostic.stats.bootstrap import bca_interval, normal_interval

DRAW = np.random.default_rng(5)
SAMPLES = {
    "skewed": DRAW.exponential(size=40),
    "mostly ties": np.where(DRAW.random(200) < 0.9, 0.0, DRAW.normal(0.3, 0.2, 200)),
    "few values": DRAW.choice([-1.0, -0.5, 0.0, 0.5, 1.0], 400, p=[0.05, 0.1, 0.6, 0.15, 0.1]),
    "a dozen": DRAW.normal(0.1, 0.3, 12),
}


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
@pytest.mark.parametrize("name", SAMPLES)
def test_intervals_are_scipys_within_the_error_of_resampling(name, level):
    """Drawn one by one or by their counts."""
    values = SAMPLES[name]
    found = bca_interval(values, level, 20_000)
    known = scipy.stats.bootstrap(
        (values,), np.mean, confidence_level=level, n_resamples=20_000, method="BCa", rng=3
    ).confidence_interval
    assert found == pytest.approx(tuple(known), abs=0.04 * (known.high - known.low))


def test_values_by_their_counts_give_the_interval_of_values_one_by_one():
    """A grain of noise makes every value distinct; the interval hardly moves."""
    values = SAMPLES["few values"]
    one = bca_interval(values, 0.95, 20_000)
    two = bca_interval(values + np.linspace(0, 1e-7, values.size), 0.95, 20_000)
    assert one == pytest.approx(two, abs=0.04 * (one[1] - one[0]))


def test_one_resample_has_nothing_to_correct_by():
    """All resampled means on one side: no interval rather than an infinite correction."""
    assert bca_interval(SAMPLES["skewed"], 0.95, 1) is None


def test_a_level_past_what_the_skewness_bears_has_no_interval():
    """One value far out, and a level so high that the correction would turn over."""
    values = np.append(np.zeros(300), 1.0)
    assert bca_interval(values, 1 - 1e-15, 2_000) is None


def test_the_normal_interval_is_scipys():
    """Mean and standard error."""
    values = SAMPLES["skewed"]
    known = scipy.stats.norm.interval(0.9, values.mean(), scipy.stats.sem(values))
    assert normal_interval(values, 0.9) == pytest.approx(known)


@settings(max_examples=50)
@given(st.lists(st.floats(-1, 1), min_size=2, max_size=60), st.randoms(use_true_random=False))
def test_an_interval_lies_within_the_values_whatever_their_order(values, random):
    """Finite, inside the smallest and largest value, and the same bytes in any order."""
    given_values = np.array(values)
    assume(np.ptp(given_values) > 1e-9)
    found = bca_interval(given_values, 0.95, 300)
    assume(found is not None)
    low, high = found
    assert given_values.min() - 1e-12 <= low <= high <= given_values.max() + 1e-12
    random.shuffle(values)
    assert bca_interval(np.array(values), 0.95, 300) == found
