"""Reciprocal rank, plain and weighted (METRICS 2)."""

from __future__ import annotations

import numpy as np

from ragnostic.metrics.inputs import Columns, Gains, undefined_without
from ragnostic.metrics.registry import metric


@metric(
    "RR",
    section="2",
    formula="1 ÷ rank of the first relevant chunk in the top k, else 0",
    purpose="How far must one read to the first useful passage? Its mean is MRR.",
    params={"weight": ("hard", "soft")},
    aliases=("mrr",),
    mean_name="MRR",
)
def reciprocal_rank(
    gains: Gains, *, k: int | None = None, rel: float = 1, weight: str = "hard"
) -> Columns:
    """Reciprocal rank of the first relevant chunk within the top ``k``.

    ``weight="soft"``: max over i <= k of w(r_i)/i with the weights of the judge (hard-relevant 1,
    soft-relevant 0.3 by default); equal to the plain form when all judgments are hard.
    NaN where the query has no relevant item. Range [0, 1]. Source: METRICS 2.

    >>> from ragnostic.metrics.inputs import gains
    >>> reciprocal_rank(gains([[0, 1], [0, 0, 0, 0, 2]])).value.tolist()
    [0.5, 0.2]
    >>> reciprocal_rank(gains([[0, 1]], weights=[[0.3, 1]]), weight="soft").value.tolist()
    [0.5]
    """
    top = gains.top(k)
    worth = (top >= rel).astype(np.float64)
    if weight == "soft" and gains.weights is not None:
        worth = np.maximum(gains.weights[:, : top.shape[1]], worth)
    best = (worth / np.arange(1, top.shape[1] + 1)).max(axis=1, initial=0.0)
    return Columns(undefined_without(gains.relevant_items(rel), best))
