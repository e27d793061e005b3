"""The moving average that figures are held against."""

from __future__ import annotations

from math import fsum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.stats.ewma import Baseline

VALUES = st.lists(st.floats(-1e6, 1e6), max_size=60)
ALPHAS = st.floats(0.01, 1.0)
FIRST = st.integers(1, 10)


def at_once(values: list[float], alpha: float, min_windows: int) -> float | None:
    """The same from the whole history: weights of all values, worked out in one go."""
    if len(values) < min_windows:
        return None
    start, later = values[:min_windows], values[min_windows:]
    last = len(later)
    weighted = [alpha * (1 - alpha) ** (last - 1 - place) * x for place, x in enumerate(later)]
    return fsum([(1 - alpha) ** last * fsum(start) / min_windows, *weighted])


@given(VALUES, ALPHAS, FIRST)
def test_streaming_equals_batch_at_every_prefix(values, alpha, min_windows):
    """Value by value is the weighted sum of all of them."""
    known = Baseline(alpha, min_windows)
    for count in range(len(values) + 1):
        expected = at_once(values[:count], alpha, min_windows)
        assert known.value == (expected if expected is None else pytest.approx(expected, abs=1e-6))
        assert known.seen == count
        if count < len(values):
            known = known.updated(values[count])


@given(VALUES.filter(bool), ALPHAS, FIRST)
def test_it_stays_between_the_values(values, alpha, min_windows):
    """An average is never outside of what it is an average of."""
    known = Baseline(alpha, min_windows)
    for value in values:
        known = known.updated(value)
    if known.value is not None:
        assert min(values) - 1e-6 <= known.value <= max(values) + 1e-6


def test_it_starts_at_the_mean_of_the_first_windows():
    """Before there are enough there is none, and not 0."""
    known = Baseline(alpha=0.2, min_windows=3)
    levels = []
    for value in (0.6, 0.9, 0.6, 0.8):
        known = known.updated(value)
        levels.append(known.value)
    assert levels == [None, None, pytest.approx(0.7), pytest.approx(0.72)]


def test_updating_leaves_the_old_one_alone():
    """Who compares first holds on to what was."""
    before = Baseline(min_windows=1).updated(0.5)
    before.updated(1.0)
    assert before.value == 0.5


@pytest.mark.parametrize("wrong", [{"alpha": 0.0}, {"alpha": 1.1}, {"min_windows": 0}])
def test_weights_that_are_none_are_refused(wrong):
    """At once, not when a value comes."""
    with pytest.raises(ValueError, match="alpha"):
        Baseline(**wrong)
