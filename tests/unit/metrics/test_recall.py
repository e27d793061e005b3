"""METRICS 3: recall, its curve, budgets and tail decay."""

from __future__ import annotations

import numpy as np
import pytest

from ragnostic.metrics.inputs import Columns, gains
from ragnostic.metrics.recall import (
    curve_mean,
    depth_slope,
    half_life,
    plateau,
    recall,
    recall_curve,
    tail_decay,
    token_precision,
)

EXAMPLE = np.array([0.2, 0.3, 0.3, 0.3, 0.5, 0.5, 0.5, 0.5, 0.5, 0.6])


def test_recall_is_never_capped_by_k():
    """2 of 4 in the top 2 is a half, although 2 could not hold more."""
    assert recall(gains([[1, 1, 0]], ideal=[[1] * 4]), k=2).value.tolist() == [0.5]


def test_the_curve_example():
    """Half-life 2 (0.3 >= 0.3), K90 = K95 = 10, so the plateau is 0."""
    assert half_life(EXAMPLE) == 2
    assert plateau(EXAMPLE) == 0


def test_an_absolute_plateau_may_never_be_reached():
    """0.6 is below 0.9."""
    assert plateau(EXAMPLE, mode="absolute") is None
    assert plateau(np.array([0.5, 0.9, 0.96]), mode="absolute") == 1
    assert plateau(np.array([0.5, 0.9]), mode="absolute") is None


@pytest.mark.parametrize("curve", [np.zeros(0), np.zeros(3)])
def test_a_flat_zero_curve_has_neither_half_life_nor_plateau(curve):
    """Nothing was ever found."""
    assert half_life(curve) is None
    assert plateau(curve) is None


def test_comparisons_of_the_curve_have_a_tolerance():
    """0.1 + 0.2 reaches half of 0.6."""
    assert half_life(np.array([0.1 + 0.2 - 1e-12, 0.6])) == 1


def test_a_short_ranking_carries_its_last_value_on():
    """Two queries, the second with one result only."""
    found = recall_curve(gains([[0, 1, 0], [1]]), k=4).value
    assert found.tolist() == [[0, 1, 1, 1], [1, 1, 1, 1]]


def test_without_a_depth_the_curve_is_as_deep_as_the_deepest_ranking():
    """Three ranks."""
    assert recall_curve(gains([[0, 1, 0]]), k=None).value.shape == (1, 3)


def test_no_point_is_drawn_past_the_depth_that_nine_in_ten_were_asked_to():
    """One of ten was asked to 2 only: all drawn; two of ten: only 2 points."""
    values = np.ones((10, 4))
    asked = np.array([2.0] + [4.0] * 9)
    assert len(curve_mean(Columns(values, {"asked": asked}))) == 4
    asked[1] = 2
    assert len(curve_mean(Columns(values, {"asked": asked}))) == 2


def test_a_curve_over_no_scored_query_is_none():
    """NaN rows are left out."""
    assert curve_mean(Columns(np.full((2, 3), np.nan))) is None
    mixed = np.array([[np.nan, np.nan], [0.5, 1.0]])
    assert curve_mean(Columns(mixed)).tolist() == [0.5, 1.0]


def test_the_slope_is_that_of_the_window():
    """0.1 a rank; fewer than two points have none."""
    curve = np.array([0.0, 0.0, 0.1, 0.2, 0.3])
    assert depth_slope(curve, 2, 5) == pytest.approx(0.1)
    assert depth_slope(curve, 5, 10) is None


def test_recall_at_a_budget_stops_where_the_tokens_are_spent():
    """900 + 900 fit into 2000, a third 900 does not."""
    given = gains([[1, 0, 1]], tokens=[[900, 900, 900]])
    assert recall(given, budget=2000).value.tolist() == [0.5]
    assert recall(given, budget=2700).value.tolist() == [1.0]
    assert recall(given, k=2, budget=2700).value.tolist() == [0.5]
    assert recall(given, budget=10).value.tolist() == [0.0]


def test_a_budget_without_token_counts_has_no_value():
    """Plain recall under that name would be another number."""
    assert np.isnan(recall(gains([[1]]), budget=5).value).all()
    assert np.isnan(token_precision(gains([[1]])).value).all()


def test_a_chunk_of_unknown_size_ends_the_budget():
    """What follows it cannot be known to fit."""
    given = gains([[0, 1, 1]], tokens=[[10, np.nan, 10]])
    assert recall(given, budget=100).value.tolist() == [0.0]


def test_token_precision_is_the_share_inside_gold():
    """100 of 400; a first chunk beyond the budget gives 0."""
    given = gains([[1, 0]], tokens=[[100, 300]], gold_tokens=[[100, 0]])
    assert token_precision(given).value.tolist() == [0.25]
    assert token_precision(given, budget=50).value.tolist() == [0.0]


def test_tail_decay_is_head_minus_tail():
    """80 + 10 of 100 is head, equal frequencies stay together."""
    decay = tail_decay(np.array([1.0, 1.0, 0.0]), np.array([80.0, 10.0, 10.0]))
    assert decay.value == 0.5
    assert sorted(decay.tail.tolist()) == [0.0, 1.0]


def test_tail_decay_needs_both_sides():
    """No traffic, or no tail: None."""
    nothing = np.zeros(0)
    assert tail_decay(nothing, nothing).value is None
    assert tail_decay(np.array([1.0]), np.array([5.0])).value is None
    assert tail_decay(np.array([1.0, np.nan]), np.array([5.0, 1.0])).head.tolist() == [1.0]
