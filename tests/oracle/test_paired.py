"""Paired comparisons against scipy and brute force on real runs, and by simulation."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from ragnostic import evaluate
from ragnostic.stats import (
    Side,
    compare_sides,
    difference_interval_at,
    paired_differences,
    side_from_values,
)

METRICS = ["nDCG@10", "RR@10", "P@10", "AP"]
ROBUST = ("trec/robust03/qrels.txt.gz", "trec/robust03/{}.run.gz")
LECARD = ("lecard/qrels/test.tsv", "lecard/runs/{}.run.gz")
RUNS = [
    (*ROBUST, "pircRBa1", "aplrob03a"),
    (*LECARD, "bm25", "lm"),
    (*LECARD, "bm25", "tfidf"),
]
DRAWS = 10_000


def loaded(folder: Path, run: tuple[str, str, str, str]) -> tuple[Side, Side]:
    """Two real runs on one set of queries."""
    qrels, runs, *names = run
    found = []
    for name in names:
        table = evaluate(folder / qrels, folder / runs.format(name), METRICS).per_query
        ids = table["query_id"].to_pylist()
        values = {m: dict(zip(ids, table[m].to_pylist(), strict=True)) for m in METRICS}
        found.append(side_from_values(name, values))
    return found[0], found[1]


@pytest.fixture(scope="module", params=RUNS, ids=lambda run: f"{run[2]}-{run[3]}")
def sides(request, shared) -> tuple[Side, Side]:
    """Each pair of runs."""
    return loaded(shared / "data", request.param)


def differences(sides: tuple[Side, Side], metric: str) -> np.ndarray:
    """Candidate minus base of the queries with both values, paired by plain dictionaries."""
    base, candidate = (
        dict(zip(side.query_ids.to_pylist(), side.values["retrieve", metric], strict=True))
        for side in sides
    )
    found = np.array([candidate[query] - value for query, value in base.items()])
    return found[~np.isnan(found)]


def significant(low: float, high: float, p: float) -> bool:
    """A verdict without Holm: interval off 0, and p."""
    return p <= 0.05 and not low <= 0 <= high


@pytest.mark.shared
@pytest.mark.parametrize("metric", METRICS)
def test_real_runs_compare_as_in_scipy(sides, metric):
    """Difference, interval and p within the error of resampling; the verdict the same."""
    changes = differences(sides, metric)
    [found] = compare_sides(*sides, [metric]).metrics
    ours = found.difference
    assert (ours.n, ours.method, found.unpaired) == (changes.size, "bca", 0)
    assert ours.value == pytest.approx(changes.mean(), abs=1e-12)
    low, high = scipy.stats.bootstrap(
        (changes,), np.mean, method="BCa", n_resamples=DRAWS, rng=1
    ).confidence_interval
    assert (ours.low, ours.high) == pytest.approx((low, high), abs=0.05 * (high - low))
    p = scipy.stats.permutation_test(
        (changes,), np.mean, permutation_type="samples", n_resamples=DRAWS, rng=2
    ).pvalue
    assert ours.p == pytest.approx(p, abs=5 * (2 * p * (1 - p) / DRAWS) ** 0.5 + 1e-4)
    direction = "better" if changes.mean() > 0 else "worse"
    expected = direction if significant(low, high, p) else "cannot_tell"
    assert found.finding == expected


@pytest.mark.shared
@pytest.mark.parametrize("metric", METRICS)
def test_twelve_queries_of_real_runs_are_enumerated(sides, metric):
    """All 4,096 sign patterns, one after the other, and scipy's exact p."""
    changes = differences(sides, metric)[:12]
    observed = abs(changes.mean())
    reached = [
        abs(np.mean(changes * signs)) >= observed - 1e-12
        for signs in itertools.product([1, -1], repeat=12)
    ]
    [ours] = paired_differences(np.zeros((12, 1)), changes[:, None])
    assert ours.exact
    assert ours.p == pytest.approx(np.mean(reached), abs=1e-12)
    known = scipy.stats.permutation_test(
        (changes,), np.mean, permutation_type="samples", n_resamples=np.inf
    )
    assert ours.p == pytest.approx(known.pvalue, abs=1e-12)


@pytest.mark.shared
def test_a_near_tie_cannot_be_told_and_a_clear_loss_can(shared):
    """Robust03's two runs; LeCaRD's tfidf, whose candidates are mostly unjudged."""
    findings = [compare_sides(*loaded(shared / "data", run))["nDCG@10"].finding for run in RUNS]
    assert findings[0] == "cannot_tell"
    assert findings[2] == "worse"


def populations(draw: np.random.Generator) -> dict[str, np.ndarray]:
    """Changes a query of two systems: a large population each, so that its mean is the truth."""
    count = 200_000
    ranks = np.array([0, 1 / 5, 1 / 4, 1 / 3, 1 / 2, 1])
    moved = draw.random(count) < 0.4
    reciprocal = draw.choice(ranks, count, p=[0.2, 0.05, 0.1, 0.1, 0.15, 0.4])
    after = np.where(moved, draw.choice(ranks, count), reciprocal)
    gain = np.clip(draw.beta(2, 2, count) + draw.normal(0.02, 0.15, count), 0, 1)
    recall = draw.binomial(3, 0.7, count) / 3
    more = np.where(draw.random(count) < 0.3, draw.binomial(3, 0.75, count) / 3, recall)
    return {
        "RR@5": after - reciprocal,
        "nDCG@10": gain - draw.permutation(gain) * 0.5 - 0.25,
        "R@20": more - recall,
    }


def test_intervals_cover_the_truth():
    """2,000 comparisons of 100 to 300 queries: 93 to 97 % of the intervals hold the true mean."""
    draw = np.random.default_rng(20)
    kinds = list(populations(draw).values())
    covered = []
    for turn in range(2_000):
        population = kinds[turn % len(kinds)]
        sample = draw.choice(population, int(draw.integers(100, 301)))
        low, high, _ = difference_interval_at(sample, 0.95, resamples=1_000)
        covered.append(low <= population.mean() <= high)
    assert 0.93 <= np.mean(covered) <= 0.97


def test_two_equal_systems_rarely_fail_a_gate_that_allows_no_loss():
    """2,000 comparisons of equal systems: at most 5 % have their whole interval below 0.

    And at most 5 % are found better or worse, by interval and p together.
    """
    draw = np.random.default_rng(21)
    kinds = list(populations(draw).values())
    failed, told = [], []
    for turn in range(2_000):
        sizes = draw.choice(kinds[turn % len(kinds)], int(draw.integers(100, 301)))
        # Equal systems: either may be the one that is ahead at a query.
        changes = sizes * draw.choice([-1, 1], sizes.size)
        [found] = paired_differences(np.zeros((sizes.size, 1)), changes[:, None], resamples=1_000)
        failed.append(found.high < 0)
        told.append(significant(found.low, found.high, found.p))
    assert np.mean(failed) <= 0.05
    assert np.mean(told) <= 0.05
