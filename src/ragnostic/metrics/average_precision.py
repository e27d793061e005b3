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
    hit = items >= rel
    place = np.arange(1, items.shape[1] + 1)
    total = np.where(hit, np.cumsum(hit, axis=1) / place, 0.0).sum(axis=1)
    relevant = gains.relevant_items(rel)
    if norm == "hits":
        value = np.nan_to_num(divide(total, hit.sum(axis=1)))
    elif norm == "min" and k is not None:
        value = divide(total, np.minimum(relevant, k))
    else:
        value = divide(total, relevant)
    return Columns(undefined_without(relevant, value))
