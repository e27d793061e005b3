"""Recall curves: stored up to their last rise, and the mean of many of them (METRICS 3)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.metrics import depth_slope, half_life, plateau
from ragnostic.metrics.inputs import Floats
from ragnostic.metrics.recall import REACHED_SHARE, TOLERANCE
from ragnostic.monitor.live_metrics import CURVE, CURVE_DEPTH
from ragnostic.scoring.rankings import flat


def until_last_rise(curve: pa.Array | None, size: int) -> pa.Array:
    """``size`` curves without their flat ends, which say nothing; list<double>.

    ``curve``: as ``score_batch`` gives it, None for a batch without any depth. Null where it is
    undefined.

    >>> until_last_rise(pa.array([[0.0, 0.5, 0.5], [None] * 3]), 2).to_pylist()
    [[0.0, 0.5], None]
    """
    kind = pa.list_(pa.float64())
    if curve is None:
        return pa.nulls(size, kind)
    values = curve.flatten()
    depth = len(values) // size if size else 0
    filled = pc.fill_null(values, np.nan).to_numpy(zero_copy_only=False)
    matrix = np.asarray(filled, dtype=np.float64).reshape(size, depth)
    known = ~np.isnan(matrix).any(axis=1)
    last = matrix[:, -1:]
    kept = np.where(known & (last[:, 0] > 0), (matrix < last).sum(axis=1) + 1, 0)
    offsets = np.concatenate([[0], np.cumsum(kept)]).astype(np.int32)
    inside = np.arange(depth) < kept[:, None]
    return pa.ListArray.from_arrays(
        pa.array(offsets), pa.array(matrix[inside]), mask=pa.array(~known)
    )


def curve_summary(table: pa.Table, top_k: Floats, results: Floats) -> dict[str, Any] | None:
    """Mean recall by depth with half-life, plateau and slope; None where no row is scored.

    ``table`` holds :data:`CURVE`, each row's curve up to its last rise; ``top_k`` (NaN where it
    was not logged) and ``results`` are parallel to it. The same as
    :func:`ragnostic.stats.stage.curve_summary` gives for whole curves.
    """
    column = table[CURVE].combine_chunks()
    scored = column.is_valid().to_numpy(zero_copy_only=False)
    n = int(scored.sum())
    asked = np.where(np.isnan(top_k), results.max(initial=0), top_k)[scored]
    values, starts, lengths = flat(column)
    numbers = np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)
    deepest = int(min(CURVE_DEPTH, max(asked.max(initial=0), lengths.max(initial=0))))
    depths = np.arange(1, deepest + 1)
    reached = n - np.searchsorted(np.sort(asked), depths, side="left")
    depth = int((reached >= (REACHED_SHARE - TOLERANCE) * n).sum()) if n else 0
    if not depth:
        return None
    curve = _mean(numbers, starts, lengths, deepest)[:depth] / n
    return {
        "depth": list(range(1, depth + 1)),
        "recall": curve.tolist(),
        "half_life": half_life(curve),
        "plateau": plateau(curve),
        "plateau_absolute": plateau(curve, "absolute"),
        "slope": depth_slope(curve),
        "carried_share": float((results[scored] < depth).mean()),
    }


def _mean(values: Floats, starts: Any, lengths: Any, deepest: int) -> Floats:
    """Sum of the curves at each depth, each carried on from its end."""
    rises = np.diff(values, prepend=0.0)
    begins = starts[lengths > 0]
    rises[begins] = values[begins]
    place = np.arange(len(values)) - np.repeat(starts, lengths)
    summed = np.bincount(place, weights=rises, minlength=deepest)
    return np.asarray(np.cumsum(summed), dtype=np.float64)
