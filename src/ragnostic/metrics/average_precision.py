"""Average precision (METRICS 4)."""

from __future__ import annotations

import numpy as np

from ragnostic.metrics.inputs import Columns, Gains, divide, undefined_without
from ragnostic.metrics.registry import metric


@metric(
    "AP",
    section="4",
    formula="sum of P@i over the relevant ranks i ≤ k ÷ R",
    purpose="Are all useful passages near the top? Its mean is MAP.",
    params={"norm": ("relevant", "min", "hits")},
    aliases=("map",),
    mean_name="MAP",
)
def average_precision(
    gains: Gains, *, k: int | None = None, rel: float = 1, norm: str = "relevant"
) -> Columns:
    """Average precision of the top ``k`` (trec_eval's ``map_cut``).

    ``norm``: what the sum is divided by. ``relevant``: R; ``min``: min(R, k); ``hits``: the
    relevant items found in the top k. Range [0, 1]; NaN where R = 0. Source: METRICS 4.

    >>> from ragnostic.metrics.inputs import gains
    >>> average_precision(gains([[1, 0, 1, 1, 0]])).value.round(4).tolist()
    [0.8056]
    """
    items = gains.items if k is None else gains.items[:, :k]
    # Rank by rank: vectors of n stay in the cache, and the order of the sum is always the same.
    total, found = np.zeros(len(items)), np.zeros(len(items))
    for rank in range(items.shape[1]):
        hit = items[:, rank] >= rel
        found += hit
        total += hit * (found / (rank + 1))
    relevant = gains.relevant_items(rel)
    if norm == "hits":
        value = np.nan_to_num(divide(total, found))
    elif norm == "min" and k is not None:
        value = divide(total, np.minimum(relevant, k))
    else:
        value = divide(total, relevant)
    return Columns(undefined_without(relevant, value))
