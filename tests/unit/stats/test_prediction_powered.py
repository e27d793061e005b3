"""Means of a judge, corrected by a labelled sample."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragnostic.stats.intervals import mean_interval
from ragnostic.stats.prediction_powered import TUNED_FROM, corrected_mean

RUNS = 2000


def array(*values):
    """Numbers as the functions take them."""
    return np.array(values, dtype=np.float64)


def graded(rng, count):
    """Reciprocal ranks, and a judge that tells them right in seven of ten."""
    values, shares = (
        array(1, 1 / 2, 1 / 3, 1 / 4, 1 / 5, 0),
        array(0.6, 0.15, 0.05, 0.05, 0.05, 0.1),
    )
    gold = rng.choice(values, count, p=shares)
    guess = rng.choice(values, count, p=[0.2, 0.1, 0.1, 0.1, 0.1, 0.4])
    return gold, np.where(rng.random(count) < 0.7, gold, guess), float(values @ shares)


def binary(rng, count):
    """Success, and a judge that errs and misses."""
    gold = (rng.random(count) < 0.7).astype(np.float64)
    judge = np.where(rng.random(count) < 0.15, 1 - gold, gold)
    return gold, np.where(rng.random(count) < 0.1, 0.0, judge), 0.7


def skewed(rng, count):
    """Success nearly always, and a judge that errs once in ten."""
    gold = (rng.random(count) < 0.93).astype(np.float64)
    return gold, np.where(rng.random(count) < 0.1, 1 - gold, gold), 0.93


def useless(rng, count):
    """A judge that knows nothing."""
    return rng.beta(2, 2, count), rng.random(count), 0.5


@pytest.mark.parametrize(
    ("draw", "labelled", "unlabelled"),
    [
        (graded, 30, 500),
        (binary, 50, 500),
        (graded, 200, 1000),
        (skewed, 200, 1000),
        (useless, 200, 1000),
    ],
)
def test_the_interval_holds_the_truth_as_often_as_it_says(draw, labelled, unlabelled):
    """In 93 to 97 % of 2,000 samples, with few labels and with the tuned weight of many; the mean
    is right on average, where the judge's own is far off.
    """
    rng = np.random.default_rng(20)
    held, off, judge_off = 0, 0.0, 0.0
    for _ in range(RUNS):
        gold, judge, truth = draw(rng, labelled + unlabelled)
        found = corrected_mean(gold[:labelled], judge[:labelled], judge[labelled:])
        low, high = found.interval
        held += low <= truth <= high
        off += (found.mean - truth) / RUNS
        judge_off += (found.judge - truth) / RUNS
    assert 0.93 <= held / RUNS <= 0.97
    assert abs(off) < 0.006
    assert draw is useless or abs(judge_off) > 5 * abs(off)


def test_the_plain_correction_by_hand():
    """mean(judge of the rest) + mean(gold - judge); the bias is what was taken away."""
    gold, judge = array(1, 0, 0.5, 0.5), array(1, 0.4, 0.9, 0.7)
    found = corrected_mean(gold, judge, array(0.6, 0.8, 0.7), weight="plain")
    assert found.weight == 1
    assert found.bias == pytest.approx(0.25)
    assert found.mean == pytest.approx(0.7 - 0.25)
    assert found.judge == pytest.approx((3.0 + 2.1) / 7)
    assert found.gold == 0.5
    assert found.gold_interval == mean_interval(gold)
    assert found.bias_interval == mean_interval(judge - gold)
    error = (np.var(gold - judge, ddof=1) / 4 + np.var([0.6, 0.8, 0.7], ddof=1) / 3) ** 0.5
    low, high = found.interval
    assert (low + high) / 2 == pytest.approx(found.mean)
    assert (high - low) / 2 > 2 * error


def test_a_good_judge_narrows_the_interval_and_a_useless_one_costs_nothing():
    """With the tuned weight; plain belief in a useless judge widens it."""
    rng = np.random.default_rng(4)
    gold = rng.beta(2, 2, 2200)
    noise = rng.random(2200)
    for judge, most in ((gold * 0.8, 0.5), (noise, 1.05)):
        parts = gold[:200], judge[:200], judge[200:]
        tuned, plain = (corrected_mean(*parts, weight=w) for w in ("tuned", "plain"))
        alone = np.ptp(tuned.gold_interval)
        assert np.ptp(tuned.interval) < most * alone
        assert judge is not noise or np.ptp(plain.interval) > 1.3 * alone


def test_the_weight_is_tuned_from_two_hundred_labels_on():
    """Below, an interval with an estimated weight promises too much."""
    rng = np.random.default_rng(1)
    gold, judge, _ = graded(rng, 1000)
    few, many = (
        corrected_mean(gold[:n], judge[:n], judge[n:]) for n in (TUNED_FROM - 1, TUNED_FROM)
    )
    assert few.weight == 1
    assert 0 < many.weight < 1


def test_too_little_to_correct_with():
    """No label: no mean. One: a mean without interval. Nothing unlabelled: the mean of gold."""
    assert corrected_mean(array(), array(), array(0.5, 0.5)) is None
    one = corrected_mean(array(0.5), array(1.0), array(1.0, 0.5))
    assert (one.mean, one.interval, one.bias_interval) == (0.25, None, None)
    for rest in (array(), array(0.9)):
        alone = corrected_mean(array(0.2, 0.4), array(0.1, 0.9), rest)
        assert (alone.weight, alone.mean) == (0.0, pytest.approx(0.3))
        assert alone.interval == pytest.approx(mean_interval(array(0.2, 0.4)))
    few = corrected_mean(array(0, 1, 1), array(0, 1, 1), array(0, 1, 1), weight="tuned")
    assert few.weight == 0


def test_a_judge_that_always_says_the_same_is_not_believed():
    """There is nothing to tune."""
    gold, judge = array(0, 1, 1, 0, 1), np.full(5, 0.5)
    assert corrected_mean(gold, judge, np.full(9, 0.5), weight="tuned").weight == 0
    plain = corrected_mean(gold, judge, np.full(9, 0.5), weight="plain")
    assert plain.mean == pytest.approx(0.6)


def test_values_without_any_spread_give_the_point():
    """Everybody agrees on everything."""
    found = corrected_mean(np.ones(4), np.ones(4), np.ones(9))
    assert (found.mean, found.interval) == (1.0, (1.0, 1.0))


VALUES = st.lists(st.floats(0, 1), min_size=2, max_size=30)


@example([(0.0, 0.0), (0.0, 7e-162)], [0.0, 0.0])
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=30), VALUES)
def test_means_and_intervals_stay_in_their_range(pairs, rest):
    """For either weight; JSON is strict; the mean lies in its interval."""
    gold, judge = (np.array(side) for side in zip(*pairs, strict=True))
    for weight in ("plain", "tuned"):
        found = corrected_mean(gold, judge, np.array(rest), weight=weight, bounds=(0.0, 1.0))
        low, high = found.interval
        assert 0 <= low <= high <= 1
        assert low - 1e-12 <= found.mean <= high + 1e-12
        assert 0 <= found.weight <= 1
        told = json.loads(json.dumps(found.as_json(), allow_nan=False))
        assert (told["mean"], told["low"], told["high"]) == (found.mean, low, high)
        assert told["labelled"] + told["unlabelled"] == len(pairs) + len(rest)
