"""METRICS 9: false retrieval."""

from __future__ import annotations

from ragnostic.metrics.unanswerable import false_retrieval


def test_a_result_that_reaches_the_threshold_is_a_false_retrieval():
    """At it counts; below it, or beyond the cutoff, does not."""
    scores = [[0.7, 0.1], [0.69], [], [0.1, 0.1, 0.9]]
    assert false_retrieval(scores, k=2, threshold=0.7).value.tolist() == [1, 0, 0, 0]


def test_lower_is_nearer_for_distances():
    """0.3 is within 0.7, 0.85 is not."""
    found = false_retrieval([[0.85, 0.95], [0.3]], k=3, threshold=0.7, distance=True)
    assert found.value.tolist() == [0, 1]


def test_without_scores_any_result_is_one():
    """An empty or absent list is none."""
    assert false_retrieval([[], [0.1], None], k=3).value.tolist() == [0, 1, 0]
