"""Rank correlation and AUROC against scipy and against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from ragnostic.metrics.unanswerable import contributions, placements
from ragnostic.stats.auroc import delong_interval
from ragnostic.stats.intervals import mean_interval
from ragnostic.stats.robustness import spearman

numbers = st.lists(
    st.tuples(st.integers(1, 8), st.sampled_from([0.0, 0.2, 0.25, 0.5, 1.0])),
    min_size=2,
    max_size=40,
)


@given(numbers)
def test_spearman_is_scipys(pairs):
    """With ties on both sides."""
    x, y = (np.array(side, dtype=np.float64) for side in zip(*pairs, strict=True))
    assume(len(set(x.tolist())) > 1 and len(set(y.tolist())) > 1)
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)


def two_kinds(seed, answerable=60, unanswerable=25):
    """Best scores of two kinds that overlap."""
    chance = np.random.default_rng(seed)
    best = np.concatenate([chance.normal(1, 1, answerable), chance.normal(0, 1, unanswerable)])
    return best, np.arange(len(best)) >= answerable


def test_auroc_is_the_mann_whitney_statistic():
    """Divided by the number of pairs."""
    best, marks = two_kinds(1)
    u = stats.mannwhitneyu(best[~marks], best[marks]).statistic
    assert placements(best, marks)[marks].mean() == pytest.approx(u / (60 * 25))


def test_delongs_interval_is_that_of_a_bootstrap():
    """Both kinds resampled; ends agree to 0.02."""
    best, marks = two_kinds(2)
    chance = np.random.default_rng(3)
    drawn = []
    for _ in range(2000):
        a = chance.choice(best[~marks], 60)
        u = chance.choice(best[marks], 25)
        drawn.append((a[:, None] > u).mean())
    low, high = delong_interval(placements(best, marks), marks)
    assert np.percentile(drawn, [2.5, 97.5]) == pytest.approx([low, high], abs=0.02)


def test_the_contributions_carry_delongs_error():
    """So that intervals of a mean hold for the AUROC, up to z against t."""
    best, marks = two_kinds(4, 400, 200)
    low, high = delong_interval(placements(best, marks), marks)
    assert mean_interval(contributions(best, marks)) == pytest.approx((low, high), abs=5e-4)


def test_delongs_interval_covers_the_truth():
    """In 93 to 97 % of 1,000 sets."""
    truth = stats.norm.cdf(1 / np.sqrt(2))
    hits = 0
    for seed in range(1000):
        best, marks = two_kinds(seed, 120, 80)
        low, high = delong_interval(placements(best, marks), marks)
        hits += low <= truth <= high
    assert 0.93 <= hits / 1000 <= 0.97
