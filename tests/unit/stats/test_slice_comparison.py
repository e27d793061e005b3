"""A comparison by slices of the first metric."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ragnostic.stats.slice_comparison import MOST_SLICES, compare_slices


def test_the_worst_slice_comes_first_and_small_ones_are_counted():
    """Five pairs with values make a slice; null is no slice; ties go by name."""
    base = np.zeros(23)
    candidate = np.array([0.5] * 5 + [-0.5] * 5 + [0.5] * 5 + [1.0] * 4 + [np.nan] + [1.0] * 3)
    names = ["b"] * 5 + ["lost"] * 5 + ["a"] * 5 + ["four and a gap"] * 5 + [None] * 3
    slices, small = compare_slices("RR@5", base, candidate, {"category": pa.array(names)})
    assert [(s.value, s.difference.n) for s in slices["category"]] == [
        ("lost", 5),
        ("a", 5),
        ("b", 5),
    ]
    assert small == {"category": 1}
    assert slices["category"][0].metric == "RR@5"


def test_a_metric_whose_small_values_are_good_is_turned():
    """More false retrievals are the worst slice, and losses."""
    candidate = np.array([1.0] * 5 + [-1.0] * 5)
    column = pa.array(["more"] * 5 + ["less"] * 5)
    slices, _ = compare_slices("FalseRetrieval@5", np.zeros(10), candidate, {"source": column})
    assert [s.value for s in slices["source"]] == ["more", "less"]
    assert slices["source"][0].difference.losses == 5


def test_p_is_corrected_over_the_slices_of_a_column():
    """Two slices: twice p."""
    column = {"source": pa.array(["a"] * 6 + ["b"] * 6)}
    slices, _ = compare_slices("AP", np.zeros(12), np.ones(12) / 2, column)
    for found in slices["source"]:
        assert found.difference.p == 2 / 64
        assert found.difference.p_holm == 4 / 64


def test_a_column_of_ids_is_cut_to_its_largest_slices():
    """100 are compared, the rest is counted."""
    names = np.repeat([f"user{n:03d}" for n in range(MOST_SLICES + 3)], 5)
    names[:2] = "user102"
    slices, small = compare_slices(
        "AP", np.zeros(names.size), np.zeros(names.size), {"labels.user": pa.array(names)}
    )
    assert len(slices["labels.user"]) == MOST_SLICES
    assert small == {"labels.user": 3}
    assert "user102" in {found.value for found in slices["labels.user"]}
    assert "user000" not in {found.value for found in slices["labels.user"]}


def test_without_pairs_or_columns_there_are_no_slices():
    """Empty in, empty out."""
    assert compare_slices("AP", np.zeros(0), np.zeros(0), {}) == ({}, {})
    none = pa.array([None] * 2, pa.string())
    assert compare_slices("AP", np.zeros(2), np.ones(2), {"source": none}) == ({"source": ()}, {})
