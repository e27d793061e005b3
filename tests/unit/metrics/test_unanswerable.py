"""METRICS 9: false retrieval and AUROC."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.metrics import Metric, per_query
from ragnostic.metrics.inputs import results
from ragnostic.metrics.unanswerable import (
    best_score,
    contributions,
    false_retrieval,
    placements,
    placements_of,
)


def test_a_result_that_reaches_the_threshold_is_a_false_retrieval():
    """At it counts; below it, or beyond the cutoff, does not."""
    scores = results([[0.7, 0.1], [0.69], [], [0.1, 0.1, 0.9]])
    assert false_retrieval(scores, k=2, t=0.7).value.tolist() == [1, 0, 0, 0]


def test_without_a_threshold_or_scores_any_result_is_one():
    """An empty list is none."""
    assert false_retrieval(results([[], [0.1], None]), k=3).value.tolist() == [0, 1, 1]
    assert false_retrieval(results([[], [0.1], None]), k=3, t=0.5).value.tolist() == [0, 0, 1]


def test_scores_that_are_ranks_have_no_value_against_a_threshold():
    """But whether anything came back can be told."""
    ranks = results([[0.03], []], ranks_only=True)
    assert np.isnan(false_retrieval(ranks, k=3, t=0.01).value).all()
    assert np.isnan(best_score(ranks).value).all()
    assert false_retrieval(ranks, k=3).value.tolist() == [1, 0]


def test_the_best_score_puts_an_empty_result_lowest():
    """Results without scores are all alike, above it."""
    assert best_score(results([[-3.0, -2.0], [], None])).value.tolist() == [-2, -np.inf, np.inf]


def test_the_metrics_are_in_the_registry():
    """With their parameter, by name."""
    metric = Metric.parse("FalseRetrieval(t=0.5)@1")
    assert per_query(metric, results([[0.1, 0.9], [0.5]])).value.tolist() == [0, 1]
    assert not metric.definition.higher_is_better
    assert not metric.graded
    assert Metric.parse("AUROC").definition.on == "both"


def auroc(best: np.ndarray, unanswerable: np.ndarray) -> float:
    """Every pair counted."""
    pairs = itertools.product(best[~unanswerable], best[unanswerable])
    return float(np.mean([1.0 if a > u else 0.5 if a == u else 0.0 for a, u in pairs]))


scores = st.lists(st.sampled_from([-np.inf, -1.0, 0.0, 0.25, 0.5, 2.0]), min_size=1, max_size=12)


@given(scores, scores)
def test_the_mean_over_all_or_one_kind_is_the_auroc(answerable, unanswerable):
    """Counted pair by pair; the contributions have the same mean, and give the placements back."""
    best = np.array([*answerable, *unanswerable])
    marks = np.arange(len(best)) >= len(answerable)
    wanted = auroc(best, marks)
    placed = placements(best, marks)
    for rows in (marks, ~marks, marks | True):
        assert placed[rows].mean() == pytest.approx(wanted)
    added = contributions(best, marks)
    assert added.mean() == pytest.approx(wanted)
    assert placements_of(added, marks) == pytest.approx(placed)


def test_a_query_without_a_score_is_left_out():
    """And without one of the kinds there is no AUROC."""
    best = np.array([0.9, np.nan, 0.5])
    assert placements(best, np.array([False, False, True])).tolist()[0] == 1.0
    assert np.isnan(placements(best, np.array([False, False, True]))[1])
    assert np.isnan(contributions(best, np.array([False, False, False]))).all()
