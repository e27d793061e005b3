"""METRICS 2: success, precision, F1, R-precision."""

from __future__ import annotations

import numpy as np
import pytest

from ragnostic.metrics.inputs import gains
from ragnostic.metrics.success import f1, precision, r_precision, success


def test_success_asks_only_whether_anything_useful_is_in_the_top_k():
    """1 or 0; no value where nothing relevant is judged."""
    found = success(gains([[0, 1], [1, 0], [0, 0], []], ideal=[[1], [1], [0], [1]]), k=1).value
    assert found.tolist()[:2] == [0.0, 1.0]
    assert np.isnan(found[2])
    assert found[3] == 0.0


def test_precision_divides_by_k_even_if_fewer_came_back():
    """2 of k = 5, of three results."""
    assert precision(gains([[1, 0, 2]]), k=5).value.tolist() == [0.4]


def test_a_higher_bar_makes_fewer_chunks_relevant():
    """P(rel=2)@5 counts the one chunk of grade 2."""
    assert precision(gains([[1, 0, 2]]), k=5, rel=2).value.tolist() == [0.2]


def test_f1_is_the_harmonic_mean():
    """P@5 = 1/5, R@5 = 1/5 → 0.2; both 0 → 0; nothing relevant → no value."""
    found = f1(gains([[1], [0], [0]], ideal=[[1] * 5, [1], [0]]), k=5).value
    assert found[:2].tolist() == pytest.approx([0.2, 0.0])
    assert np.isnan(found[2])


def test_r_precision_looks_as_deep_as_there_are_relevant_items():
    """R = 2: the second relevant one at rank 3 is too late."""
    assert r_precision(gains([[1, 0, 1], [1, 1, 0]])).value.tolist() == [0.5, 1.0]
