"""Relevance distribution skew: how unevenly relevant chunks scatter (METRICS 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from ragnostic.errors import Fault
from ragnostic.metrics.inputs import Columns
from ragnostic.metrics.registry import signal

SAMPLED_ABOVE = 64
"""More relevant chunks than this: pairs are sampled, seeded by the query id."""


@signal(
    "RDS",
    section="7",
    formula="σ over queries of the median cosine distance of their relevant chunks",
    purpose="do relevant chunks scatter evenly, or has chunking or the model changed",
    needs="vectors of the chunks in the corpus snapshot",
    write="RDS or RDS(norm=random)",
    higher_is_better=False,
    range=(0.0, 2.0),
)
def relevance_spread(
    vectors: Mapping[str, Sequence[Sequence[float]]],
) -> tuple[Columns, list[Fault]]:
    """Spread of each query: median pairwise cosine distance of its relevant chunks' vectors.

    NaN with fewer than two vectors, and where a vector is zero or of another dimension, which is
    reported. Range [0, 2]. Reduce with :func:`skew`.

    >>> columns, _ = relevance_spread({"q1": [[1, 0], [0, 1]], "q2": [[1, 0], [1, 0]]})
    >>> columns.value.tolist(), skew(columns)
    ([1.0, 0.0], 0.5)
    """
    faults: list[Fault] = []
    spreads = [_spread(query, list(found), faults) for query, found in vectors.items()]
    return Columns(np.array(spreads, dtype=np.float64)), faults


def skew(columns: Columns) -> float | None:
    """RDS: population standard deviation of the spreads; None without any."""
    values = columns.value[~np.isnan(columns.value)]
    return float(values.std()) if values.size else None


def _spread(query: str, vectors: list[Sequence[float]], faults: list[Fault]) -> float:
    if len(vectors) < 2:
        return float("nan")
    dimensions = sorted({len(vector) for vector in vectors})
    if len(dimensions) > 1:
        text = f"{query}: relevant chunks have vectors of {dimensions} dimensions"
        faults.append(Fault("dimension_mismatch", text, ids=(query,)))
        return float("nan")
    matrix = np.asarray(vectors, dtype=np.float64)
    norms = np.linalg.norm(matrix, axis=1)
    if not (np.isfinite(norms).all() and norms.all()):
        text = f"{query}: a relevant chunk has a zero or broken vector, which has no direction"
        faults.append(Fault("zero_vector", text, ids=(query,)))
        return float("nan")
    unit = matrix / norms[:, None]
    pairs = np.array(list(combinations(range(len(unit)), 2)))
    if len(unit) > SAMPLED_ABOVE:
        seed = int.from_bytes(query.encode("utf-8", "surrogatepass"), "little")
        size = SAMPLED_ABOVE * (SAMPLED_ABOVE - 1) // 2
        pairs = np.random.default_rng(seed).choice(pairs, size=size, replace=False)
    cosines = (unit[pairs[:, 0]] * unit[pairs[:, 1]]).sum(axis=1)
    return float(np.median(1 - np.clip(cosines, -1, 1)))
