"""The exchange rate's slope, against scipy and against HC3 written as matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ragnostic.report.answer_link import REASONS
from ragnostic.stats.slope import Slope, slope, spearman

GRADES = st.integers(0, 3)
VALUES = st.sampled_from([0.0, 0.2, 0.25, 1 / 3, 0.5, 1.0])
PAIRS = st.lists(st.tuples(VALUES, GRADES), min_size=3, max_size=40)


def columns(pairs) -> tuple[np.ndarray, np.ndarray]:
    """The two columns of pairs."""
    x, y = zip(*pairs, strict=True)
    return np.array(x, dtype=np.float64), np.array(y, dtype=np.float64)


@given(PAIRS)
def test_the_slope_is_scipys(pairs):
    """Value, textbook error and Spearman's rho, with many ties."""
    x, y = columns(pairs)
    found = slope(x, y)
    if found.value is None:
        assert np.ptp(x) == 0 or np.ptp(y) == 0
        return
    expected = stats.linregress(x, y)
    assert found.value == pytest.approx(expected.slope, abs=1e-9)
    assert found.plain_error == pytest.approx(expected.stderr, abs=1e-6)
    assert found.rho == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9)


@given(PAIRS)
def test_the_error_is_hc3_as_matrices_give_it(pairs):
    """(X'X)⁻¹ X' diag(e² / (1 − h)²) X (X'X)⁻¹, and Student's quantile."""
    x, y = columns(pairs)
    found = slope(x, y)
    if found.error is None:
        assert found.reason in REASONS
        return
    design = np.column_stack([np.ones_like(x), x])
    bread = np.linalg.inv(design.T @ design)
    rest = y - design @ bread @ design.T @ y
    leverage = np.einsum("ij,jk,ik->i", design, bread, design)
    meat = design.T @ np.diag((rest / (1 - leverage)) ** 2) @ design
    expected = np.sqrt((bread @ meat @ bread)[1, 1])
    assert found.error == pytest.approx(expected, rel=1e-6, abs=1e-9)
    half = stats.t.ppf(0.975, x.size - 2) * expected
    assert found.high - found.value == pytest.approx(half, rel=1e-6, abs=1e-6)
    assert found.value - found.low == pytest.approx(half, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([0, 1], [0, 3], "fewer than 3"),
        ([], [], "fewer than 3"),
        ([0.5] * 4, [0, 1, 2, 3], "all values of the metric"),
        ([0, 0.5, 1], [2, 2, 2], "all grades"),
    ],
)
def test_without_variance_there_is_no_slope(x, y, reason):
    """Null with its reason, never zero."""
    found = slope(np.array(x, dtype=np.float64), np.array(y, dtype=np.float64))
    assert found == Slope(len(x), reason=found.reason)
    assert found.reason is not None
    assert found.reason.startswith(reason)
    assert found.reason in REASONS


def test_one_query_that_fixes_the_line_leaves_no_interval():
    """All others have one value: HC3 has no error for that."""
    found = slope(np.array([0.0, 0.0, 0.0, 1.0]), np.array([0.0, 1.0, 2.0, 3.0]))
    assert found.value == pytest.approx(2.0)
    assert (found.low, found.high, found.error) == (None, None, None)
    assert found.reason in REASONS


def test_pairs_with_nothing_are_left_out():
    """The count is of those that are used."""
    nan = np.nan
    x, y = np.array([0, 0.5, nan, 1, 1, 0]), np.array([0, 1, 3, nan, 3, 1.0])
    assert slope(x, y) == slope(np.array([0, 0.5, 1, 0]), np.array([0, 1, 3, 1.0]))
    assert slope(x, y).n == 4


def test_the_interval_covers_the_truth():
    """About 95 % of 1,000 sets of 60 grades whose spread grows with the metric."""
    draw = np.random.default_rng(5)
    hits = 0
    for _ in range(1000):
        x = draw.choice([0.0, 0.2, 0.5, 1.0], 60)
        y = 1 + 1.5 * x + draw.normal(size=60) * (0.2 + x)
        found = slope(x, y)
        hits += found.low <= 1.5 <= found.high
    assert 930 <= hits <= 975


def test_ranks_that_run_against_each_other():
    """−1, and never below it."""
    values = np.arange(50.0)
    assert spearman(values, -(values**3)) == -1.0
