"""A comparison slice by slice: where the candidate gained, and where it lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ragnostic.metrics.inputs import Floats
from ragnostic.stats.paired import Difference, is_upward, paired_differences, with_holm
from ragnostic.stats.score_blocks import Rows

SMALLEST_SLICE = 5
"""Pairs below which a slice is only counted."""
MOST_SLICES = 100
"""Slices of a column that are compared; one with more values is an id rather than a slice."""


@dataclass(frozen=True, slots=True)
class SliceComparison:
    """The first metric over the queries whose column has this value; Holm within the column."""

    value: str
    metric: str
    difference: Difference

    def as_json(self) -> dict[str, Any]:
        """The object of ``compare --json``."""
        return {"value": self.value, "metric": self.metric, **self.difference.as_json()}


def compare_slices(
    metric: str, base: Floats, candidate: Floats, columns: Mapping[str, pa.Array]
) -> tuple[dict[str, tuple[SliceComparison, ...]], dict[str, int]]:
    """Column -> its slices, worst first; and column -> how many values were not compared.

    ``base``, ``candidate``, and each of ``columns``: (n,) of the same queries. Not compared are
    values with fewer than 5 pairs and those past the 100 largest.

    >>> old, new = np.zeros(12), np.array([0.0] * 5 + [1.0] * 7)
    >>> column = pa.array(["hr"] * 5 + ["it"] * 6 + ["law"])
    >>> slices, small = compare_slices("RR@5", old, new, {"category": column})
    >>> [(found.value, found.difference.value) for found in slices["category"]], small
    ([('hr', 0.0), ('it', 1.0)], {'category': 1})
    """
    slices: dict[str, tuple[SliceComparison, ...]] = {}
    small: dict[str, int] = {}
    paired = np.isfinite(base) & np.isfinite(candidate)
    for column, values in columns.items():
        groups = _groups(values, paired)
        large = [group for group in groups if group[1].size >= SMALLEST_SLICE][:MOST_SLICES]
        found = [_slice(metric, base[rows], candidate[rows]) for _, rows in large]
        rows = [
            SliceComparison(value, metric, difference)
            for (value, _), difference in zip(large, with_holm(found), strict=True)
        ]
        slices[column] = tuple(sorted(rows, key=_gain))
        if len(groups) > len(large):
            small[column] = len(groups) - len(large)
    return slices, small


def _groups(values: pa.Array, paired: npt.NDArray[np.bool_]) -> list[tuple[str, Rows]]:
    """The paired rows of each value, largest group first, then by the value."""
    encoded = values.dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy()
    rows = np.flatnonzero(paired & (codes >= 0))
    rows = rows[np.argsort(codes[rows], kind="stable")]
    ends = np.searchsorted(codes[rows], np.arange(len(encoded.dictionary) + 1))
    names = encoded.dictionary.to_pylist()
    groups = [(name, rows[ends[at] : ends[at + 1]]) for at, name in enumerate(names)]
    return sorted(groups, key=lambda group: (-group[1].size, group[0]))


def _slice(metric: str, base: Floats, candidate: Floats) -> Difference:
    [found] = paired_differences(
        base[:, None], candidate[:, None], higher_is_better=[is_upward(metric)]
    )
    return found


def _gain(row: SliceComparison) -> float:
    value = row.difference.value or 0.0
    return value if is_upward(row.metric) else -value
