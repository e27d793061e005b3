"""Paired differences: interval, p, Holm, wins and losses, and where there is nothing to say."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragnostic.stats import Difference, difference_interval_at, holm, paired_differences
from ragnostic.stats.paired import BOOTSTRAP_LIMIT, is_upward

VALUE = st.sampled_from([0.0, 0.2, 0.25, 1 / 3, 0.5, 1.0])
PAIRS = st.lists(st.tuples(VALUE, VALUE), min_size=1, max_size=40)


def difference(base, candidate, **options) -> Difference:
    """One metric's difference."""
    columns = np.array(base, dtype=float)[:, None], np.array(candidate, dtype=float)[:, None]
    [found] = paired_differences(*columns, **options)
    return found


def test_a_system_compared_with_itself_is_the_point_zero():
    """No variance: interval [0, 0], p 1, all ties, and no power to speak of."""
    values = [1, 0.5, 0, 0.2]
    assert difference(values, values) == Difference(
        n=4,
        base=0.425,
        candidate=0.425,
        value=0.0,
        low=0.0,
        high=0.0,
        method="point",
        p=1.0,
        p_holm=1.0,
        exact=True,
        ties=4,
    )


def test_equal_changes_are_the_point_and_still_tested():
    """Every query gains 0.3, in numbers whose last bits differ."""
    base = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    found = difference(base, base + 0.3)
    assert found.low == found.high == found.value == pytest.approx(0.3)
    assert (found.method, found.p, found.exact) == ("point", 2 / 64, True)
    assert found.detectable is None


def test_changes_within_the_tolerance_are_ties():
    """1e-9 on either side."""
    found = difference([0.5, 0.5, 0.5], [0.5 + 9e-10, 0.5 - 9e-10, 0.5 + 2e-9])
    assert (found.wins, found.ties, found.losses) == (1, 2, 0)


def test_one_pair_that_differs_has_no_interval():
    """Nothing is known of the spread; one that ties is the point."""
    found = difference([0.5], [0.0])
    assert (found.value, found.low, found.high, found.method) == (-0.5, None, None, None)
    assert (found.p, found.losses) == (1.0, 1)
    assert difference([0.5], [0.5]).method == "point"


def test_no_pair_is_no_difference():
    """Empty, or never a value on both sides."""
    assert difference([], []) == Difference()
    assert difference([math.nan, 1.0], [1.0, math.nan]) == Difference()
    assert difference_interval_at(np.array([math.nan]), 0.95) == (None, None, None)


def test_two_pairs_are_between_their_values():
    """The smallest number that has a spread."""
    found = difference([0.0, 0.0], [0.1, 0.3])
    assert (found.low, found.high, found.method) == (pytest.approx(0.1), pytest.approx(0.3), "bca")
    assert found.p == 0.5


def test_the_bootstrap_falls_back_to_the_normal_interval():
    """A single resample corrects nothing."""
    changes = np.array([0.1, 0.2, 0.4])
    low, high, method = difference_interval_at(changes, 0.95, resamples=1)
    assert method == "normal"
    assert low < changes.mean() < high


def test_both_intervals_and_tests_agree_at_the_border():
    """20,000 pairs are resampled, one more is not; ends and p hardly move (METRICS 11)."""
    draw = np.random.default_rng(2)
    base = draw.choice([0, 0.2, 0.25, 1 / 3, 0.5, 1], BOOTSTRAP_LIMIT)
    candidate = np.where(draw.random(BOOTSTRAP_LIMIT) < 0.3, draw.permutation(base), base)
    at = difference(base, candidate)
    above = difference([*base, 0.5], [*candidate, 0.5])
    assert (at.method, above.method) == ("bca", "normal")
    width = at.high - at.low
    assert above.low == pytest.approx(at.low, abs=0.03 * width)
    assert above.high == pytest.approx(at.high, abs=0.03 * width)
    assert above.p == pytest.approx(at.p, abs=0.02)
    assert above.detectable == pytest.approx(at.detectable, rel=1e-3)


def test_lower_is_better_turns_wins_but_not_the_sign():
    """A false retrieval fewer is a win, and a difference below 0."""
    found = difference([1, 1, 0], [0, 0, 0], higher_is_better=[False])
    assert (found.wins, found.ties, found.losses) == (2, 1, 0)
    assert found.value == pytest.approx(-2 / 3)
    assert (is_upward("FalseRetrieval@5"), is_upward("ndcg@5")) == (False, True)


def test_the_detectable_difference_is_found_four_times_in_five():
    """Sets drawn with that very difference: about 80 % of them show it."""
    draw = np.random.default_rng(6)
    first = draw.normal(0, 0.3, 60)
    smallest = difference(np.zeros(60), first).detectable * 0.3 / first.std(ddof=1)
    found = [
        difference_interval_at(draw.normal(smallest, 0.3, 60), 0.95, resamples=500)[0] > 0
        for _ in range(600)
    ]
    assert np.mean(found) == pytest.approx(0.8, abs=0.05)


def test_holm_steps_down():
    """The smallest p times m, the next times m - 1, never smaller than the one before."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, None, 0.9]) == [1.0, None, 1.0]
    assert holm([]) == []


@given(st.lists(st.none() | st.floats(0, 1), max_size=8))
def test_holm_keeps_the_order_and_never_sharpens(p):
    """At least p, at most 1 and at most Bonferroni's; smaller p, no larger result."""
    found = holm(p)
    known = [(a, b) for a, b in zip(p, found, strict=True) if a is not None]
    assert [b for a, b in zip(p, found, strict=True) if a is None] == [None] * p.count(None)
    assert all(a <= b <= min(1, a * len(known)) + 1e-12 or b == 1 for a, b in known)
    assert [b for _, b in sorted(known)] == sorted(b for _, b in known)


@settings(max_examples=50)
@given(PAIRS)
def test_a_difference_is_finite_and_whole(pairs):
    """Any values: no NaN, counts that add up, the value inside what it may be."""
    base, candidate = np.array(pairs).T
    found = difference(base, candidate, resamples=300)
    numbers = [v for v in dataclasses.asdict(found).values() if isinstance(v, float)]
    assert all(math.isfinite(number) for number in numbers)
    assert found.wins + found.ties + found.losses == found.n == len(pairs)
    assert found.value == pytest.approx(found.candidate - found.base)
    assert 0 < found.p <= 1
    assert found.exact == (len(pairs) <= 12)
    assert (found.low is None) == (found.method is None)


@settings(max_examples=50)
@given(PAIRS)
def test_swapping_the_systems_swaps_the_result(pairs):
    """To the bit for p; wins for losses, the value's sign."""
    base, candidate = np.array(pairs).T
    one = difference(base, candidate, resamples=300)
    two = difference(candidate, base, resamples=300)
    assert (one.p, one.wins, one.losses) == (two.p, two.losses, two.wins)
    assert one.value == pytest.approx(-two.value)
    assert one.detectable == pytest.approx(two.detectable)


@settings(max_examples=30)
@given(st.lists(st.tuples(VALUE, VALUE, VALUE, VALUE), min_size=1, max_size=25), st.data())
def test_a_column_depends_on_nothing_but_its_own_pairs(rows, data):
    """Alone, beside others in any order, with undefined pairs and reordered queries: the same."""
    values = np.array(rows)
    base, candidate = values[:, :2], values[:, 2:]
    alone = difference(base[:, 0], candidate[:, 0], resamples=300)
    order = data.draw(st.permutations(range(len(rows))))
    gap = np.full((1, 2), [math.nan, 0.5])
    many = paired_differences(
        np.vstack([base[order], gap])[:, ::-1],
        np.vstack([candidate[order], gap])[:, ::-1],
        resamples=300,
    )
    for name in ("n", "low", "high", "method", "p", "wins", "ties", "losses", "detectable"):
        assert getattr(many[1], name) == getattr(alone, name)
    assert many[1].value == pytest.approx(alone.value)


@settings(max_examples=30)
@given(PAIRS)
def test_a_higher_level_gives_a_wider_interval(pairs):
    """Gates judge at 1 - 0.05/m."""
    base, candidate = np.array(pairs).T
    low, high, method = difference_interval_at(candidate - base, 0.95, resamples=300)
    wide_low, wide_high, wide_method = difference_interval_at(candidate - base, 0.99, resamples=300)
    assert wide_method == method
    if method:
        assert wide_low <= low <= high <= wide_high
