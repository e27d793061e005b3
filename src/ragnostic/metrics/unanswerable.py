"""Queries that the corpus cannot answer (METRICS 9)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragnostic.metrics.inputs import Columns


def false_retrieval(
    scores: Sequence[Sequence[float] | None],
    *,
    k: int,
    threshold: float | None = None,
    distance: bool = False,
) -> Columns:
    """1 where an unanswerable query has any result of the top ``k`` scoring at least ``threshold``.

    ``scores``: of each unanswerable query, best first; without scores or threshold any non-empty
    result is a false retrieval. ``distance``: lower is better, so a result counts when it is
    nearer than or at the threshold. Range {0, 1}; the mean is FalseRetrieval(t=…)@k.

    >>> false_retrieval([[0.85, 0.95], [0.3]], k=3, threshold=0.7, distance=True).value.tolist()
    [0.0, 1.0]
    >>> false_retrieval([[], [0.1]], k=3).value.tolist()
    [0.0, 1.0]
    """
    found = []
    for results in scores:
        top = list(results or ())[:k]
        if threshold is None:
            found.append(bool(top))
        else:
            found.append(any(s <= threshold if distance else s >= threshold for s in top))
    return Columns(np.array(found, dtype=np.float64))
