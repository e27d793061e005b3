"""METRICS 1.9: bpref, Judged@k, condensed lists and bounds."""

from __future__ import annotations

import numpy as np
import pytest

from ragnostic.metrics.inputs import UNJUDGED, Gains, gains
from ragnostic.metrics.unjudged import assume_relevant, bpref, condense, judged, spread


@pytest.mark.parametrize(
    ("ranking", "ideal", "expected"),
    [
        ([0, 1, 1], [1, 1, 0], 0.0),  # N = 1 above both: 1 - 1/1 twice
        ([1, 0, 1], [1, 1, 0], 0.5),  # the second has one above it
        ([1, 0, 0, 1], [1, 1, 0, 0], 0.5),  # min(2, 2)/min(2, 2) = 1 for the second
        ([1, 0, 1, 0, 0, 0], [1, 1, 0, 0, 0, 0], 0.75),  # 1/2 * (1 + (1 - 1/2))
        ([-1, 1], [1, 1], 0.5),  # N = 0: each found one counts 1
        ([0, -1], [1, 0], 0.0),
    ],
)
def test_bpref_by_hand(ranking, ideal, expected):
    """1/R * sum of 1 - min(n, R)/min(R, N); unjudged chunks do not matter."""
    assert bpref(gains([ranking], ideal=[ideal])).value.tolist() == [expected]


def test_bpref_of_an_empty_ranking_and_of_nothing_relevant():
    """0 and no value."""
    found = bpref(gains([[], []], ideal=[[1], [0]])).value
    assert found[0] == 0
    assert np.isnan(found[1])


def test_bpref_counts_what_stands_above_the_chunk_that_brought_the_item():
    """Two items in the chunk at rank 2, one irrelevant chunk above it."""
    given = Gains(
        matrix=np.array([[0, 1, -1]], np.int8),
        lengths=np.array([3]),
        ideal=np.array([[1, 1, 0]], np.int8),
        places=np.array([[-1, 1, 1]], np.int8),
        place_ranks=np.array([[0, 2, 2]], np.int32),
    )
    assert bpref(given).value.tolist() == [0.0]


def test_bpref_with_places_and_no_depth_is_zero():
    """No ranking at all in the block."""
    empty = np.zeros((1, 0))
    given = Gains(empty, np.array([0]), np.array([[1]]), empty, np.zeros((1, 0), np.int32))
    assert bpref(given).value.tolist() == [0.0]


def test_judged_is_the_judged_share_of_what_was_shown():
    """Of two shown chunks, not of k; an empty ranking has no share."""
    found = judged(gains([[0, -1, 1, -1], [1, -1], []]), k=4).value
    assert found[:2].tolist() == [0.5, 0.5]
    assert np.isnan(found[2])


def test_condensed_rankings_close_up():
    """Unjudged chunks go, every column with them."""
    given = gains(
        [[-1, 1, -1, 0]],
        weights=[[0.1, 0.2, 0.3, 0.4]],
        tokens=[[1, 2, 3, 4]],
        gold_tokens=[[0, 2, 0, 4]],
    )
    found = condense(given)
    assert found.matrix.tolist() == [[1, 0, -1, -1]]
    assert found.lengths.tolist() == [2]
    assert found.weights[0, :2].tolist() == [0.2, 0.4]
    assert found.tokens[0, :2].tolist() == [2, 4]
    assert found.gold_tokens[0, :2].tolist() == [2, 4]


def test_condensing_moves_the_places_of_items_with_their_chunks():
    """The chunk at rank 3 that brought two items now stands at rank 1."""
    given = Gains(
        matrix=np.array([[-1, -1, 2]], np.int8),
        lengths=np.array([3]),
        ideal=np.array([[2, 1]], np.int8),
        places=np.array([[-1, -1, 2, 1]], np.int8),
        place_ranks=np.array([[0, 0, 3, 3]], np.int32),
    )
    found = condense(given)
    assert found.places.tolist() == [[2, 1]]
    assert found.place_ranks.tolist() == [[1, 1]]


def test_the_best_case_makes_every_unjudged_result_relevant():
    """Only results, not the padding, and only down to the cutoff."""
    found = assume_relevant(gains([[-1, 0, -1], [-1]]), k=2)
    assert found.matrix.tolist() == [[1, 0, -1], [1, -1, -1]]
    assert (found.ideal == 1).sum(axis=1).tolist() == [1, 1]


def test_places_are_the_first_free_ones_and_better_grades_come_first():
    """Ranks 1, 1, 2 fill places 1, 2, 3; rank 5 keeps its place."""
    ranks, places = spread(np.array([[1, 1, 2, 5]]), np.array([[1, 2, 3, 1]]))
    assert places.tolist() == [[2, 1, 3, UNJUDGED, 1]]
    assert ranks.tolist() == [[1, 1, 2, 0, 5]]


def test_no_item_needs_no_place():
    """Width 0."""
    ranks, places = spread(np.zeros((2, 1), int), np.ones((2, 1), int))
    assert ranks.shape == places.shape == (2, 0)
