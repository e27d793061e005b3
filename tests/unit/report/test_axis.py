"""Intervals around 0 on one axis."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.report.axis import reach_of, round_up, span_of
from ragnostic.stats.paired import Difference


@given(st.floats(1e-12, 1e12))
def test_rounding_up_is_the_next_round_number(value):
    """Never below the value, and at most two and a half times of it."""
    found = round_up(value)
    assert value <= found * (1 + 1e-9)
    assert found <= value * 2.5 * (1 + 1e-9)


def test_an_axis_holds_all_its_intervals():
    """The widest end decides."""
    assert reach_of([Difference(n=2, value=0.0, low=-0.031, high=0.02)]) == 0.05


def test_an_axis_without_any_difference_is_one_long():
    """Nothing to measure by."""
    assert reach_of([]) == 1.0
    assert reach_of([Difference(n=2, value=0.0, low=0.0, high=0.0)]) == 1.0


def test_values_of_another_size_do_not_stretch_the_axis():
    """A metric that is no share is left undrawn instead of flattening the others."""
    large = Difference(n=2, value=30.0, low=20.0, high=40.0)
    small = Difference(n=2, value=0.1, low=0.05, high=0.2)
    reach = reach_of([large, small])
    assert reach == 0.2
    assert span_of(large, reach) is None


def test_a_span_says_where_an_interval_lies():
    """Shares of the axis from its left end."""
    span = span_of(Difference(n=2, value=0.0, low=-0.1, high=0.05), 0.1)
    assert (span.low, span.at, span.high) == pytest.approx((0.0, 0.5, 0.75))


def test_without_ends_there_is_no_span():
    """A single pair has no interval."""
    assert span_of(Difference(n=1, value=0.1), 0.1) is None
