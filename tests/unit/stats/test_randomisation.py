"""The paired randomisation test, against enumeration, scipy and its own symmetries."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from ragnostic.stats.randomisation import normal_p, randomisation_p

CHANGES = st.sampled_from([-1.0, -0.5, -0.3, -0.1, 0.0, 0.0, 0.1, 0.2, 0.5, 1.0])


@settings(max_examples=40)
@given(st.lists(CHANGES, min_size=1, max_size=9))
def test_p_of_few_pairs_is_that_of_all_sign_patterns(changes):
    """Counted one by one, with exact ties between sums."""
    observed = abs(sum(changes))
    patterns = list(itertools.product([1, -1], repeat=len(changes)))
    reached = sum(
        abs(sum(s * c for s, c in zip(signs, changes, strict=True))) >= observed - 1e-9
        for signs in patterns
    )
    p, exact = randomisation_p(np.array(changes), 10)
    assert exact
    assert p == pytest.approx(reached / len(patterns))


def test_twelve_pairs_are_counted_and_thirteen_are_drawn():
    """The border of METRICS 11; a drawn p is never 0."""
    assert randomisation_p(np.ones(12), 10_000) == (2 / 4096, True)
    p, exact = randomisation_p(np.ones(13), 999)
    assert not exact
    assert p == pytest.approx(2 / 8192, abs=0.004)
    assert p >= 1 / 1000


@pytest.mark.parametrize("shift", [0.0, 0.05, 0.1])
def test_a_drawn_p_is_scipys_within_its_error(shift):
    """Ties, and values of many sizes."""
    draw = np.random.default_rng(8)
    changes = np.where(draw.random(80) < 0.4, 0.0, draw.normal(shift, 0.3, 80))
    known = scipy.stats.permutation_test(
        (changes,), np.mean, permutation_type="samples", n_resamples=20_000, rng=4
    ).pvalue
    p, exact = randomisation_p(changes, 20_000)
    assert not exact
    assert p == pytest.approx(known, abs=5 * (2 * known * (1 - known) / 20_000) ** 0.5 + 1e-3)


def test_no_difference_is_no_evidence():
    """All ties: every pattern reaches the sum 0."""
    assert randomisation_p(np.zeros(4), 10) == (1.0, True)
    assert randomisation_p(np.zeros(40), 10) == (1.0, False)
    assert normal_p(np.zeros(40)) == 1


def test_the_normal_approximation_meets_the_drawn_p():
    """At the number of pairs where it takes over."""
    draw = np.random.default_rng(9)
    changes = draw.choice([-0.5, 0.0, 0.5], 20_000, p=[0.104, 0.79, 0.106])
    p, _ = randomisation_p(changes, 10_000)
    assert normal_p(changes) == pytest.approx(p, abs=0.02)


@settings(max_examples=40)
@given(st.lists(CHANGES, min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_p_knows_neither_order_nor_direction(changes, random):
    """Swapping the systems or the queries changes no bit."""
    p, exact = randomisation_p(np.array(changes), 200)
    assert 0 < p <= 1
    random.shuffle(changes)
    assert randomisation_p(-np.array(changes), 200) == (p, exact)
