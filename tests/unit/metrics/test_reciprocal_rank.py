"""METRICS 2: reciprocal rank and its mean."""

from __future__ import annotations

import pytest

from ragnostic.metrics.inputs import gains
from ragnostic.metrics.reciprocal_rank import reciprocal_rank
from ragnostic.offline.evaluation import evaluate


def test_relevant_at_rank_two_and_five():
    """0.5 and 0.2."""
    assert reciprocal_rank(gains([[0, 1], [0, 0, 0, 0, 2]])).value.tolist() == [0.5, 0.2]


def test_the_cutoff_hides_what_comes_later():
    """Rank 5 is outside the top 4."""
    assert reciprocal_rank(gains([[0, 0, 0, 0, 1]]), k=4).value.tolist() == [0.0]


def _mean(ranks: list[int], metric: str) -> float | None:
    qrels = {f"q{i}": ["gold"] for i in range(len(ranks))}
    run = {f"q{i}": [*(f"x{j}" for j in range(rank - 1)), "gold"] for i, rank in enumerate(ranks)}
    return evaluate(qrels, run, [metric])[metric].mean


def test_ninety_queries_at_rank_one_and_ten_at_rank_a_hundred():
    """MRR@100 = 0.901, MRR@5 = 0.9."""
    ranks = [1] * 90 + [100] * 10
    assert _mean(ranks, "RR@100") == pytest.approx(0.901)
    assert _mean(ranks, "RR@5") == pytest.approx(0.9)


def test_a_hundred_queries_at_rank_ten():
    """MRR@100 = 0.1, MRR@5 = 0."""
    assert _mean([10] * 100, "RR@100") == pytest.approx(0.1)
    assert _mean([10] * 100, "RR@5") == 0


def test_a_soft_relevant_chunk_counts_three_tenths():
    """max(0.3/1, 1/4) = 0.3; a hard one at rank 2 beats it with 0.5."""
    given = gains([[0, 0, 0, 1], [0, 1, 0, 0]], weights=[[0.3, 0, 0, 1], [0.3, 1, 0, 0]])
    assert reciprocal_rank(given, weight="soft").value.tolist() == [0.3, 0.5]
    assert reciprocal_rank(given).value.tolist() == [0.25, 0.5]


def test_with_only_hard_judgments_the_weighted_form_is_the_plain_one():
    """No weights at all, or weight 1 for each relevant chunk."""
    plain = gains([[0, 1, 1], [0, 0, 1]])
    weighted = gains([[0, 1, 1], [0, 0, 1]], weights=[[0, 1, 1], [0, 0, 1]])
    expected = reciprocal_rank(plain).value.tolist()
    assert reciprocal_rank(plain, weight="soft").value.tolist() == expected
    assert reciprocal_rank(weighted, weight="soft").value.tolist() == expected
