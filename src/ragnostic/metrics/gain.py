"""Normalised discounted cumulative gain, and coverage of facets (METRICS 5)."""

from __future__ import annotations

import numpy as np

from ragnostic.metrics.inputs import Array, Columns, Floats, Gains, divide
from ragnostic.metrics.registry import metric


@metric(
    "nDCG",
    section="5",
    formula="DCG@k ÷ IDCG@k, DCG@k = sum over i ≤ k of gain(g(r_i)) ÷ log2(i+1)",
    purpose="Is the order right, with better passages higher and graded relevance counted?",
    params={"gain": ("linear", "exp")},
)
def ndcg(gains: Gains, *, k: int | None = None, gain: str = "linear") -> Columns:
    """Normalised discounted cumulative gain of the top ``k``, per query.

    The ideal ranking takes the k highest of all judged grades, retrieved or not. ``gain``:
    ``linear`` g, or ``exp`` 2^g - 1. NaN where no item is judged above 0. Range [0, 1].
    Source: Järvelin & Kekäläinen 2002; METRICS 5.

    >>> from ragnostic.metrics.inputs import gains
    >>> ndcg(gains([[3, 1, 2]]), k=3).value.round(4).tolist()
    [0.9725]
    >>> ndcg(gains([[3, 1, 2]]), k=3, gain="exp").value.round(4).tolist()
    [0.9721]
    """
    if gain == "exp":
        best = np.maximum(gains.ideal.max(axis=1, initial=0), 0).astype(np.float64)[:, None]
        return Columns(divide(_dcg(gains.items, k, best), _dcg(gains.ideal, k, best)))
    return Columns(divide(_dcg(gains.items, k), _dcg(gains.ideal, k)))


def _dcg(grades: Array, k: int | None, best: Floats | None = None) -> Floats:
    worth = np.maximum(grades if k is None else grades[:, :k], 0).astype(np.float64)
    if best is not None:  # 2^g - 1, divided by 2^best so that no grade is too large
        worth = np.exp2(worth - best) - np.exp2(-best)
    # Summing rank by rank keeps the same floating-point order for every depth, block and engine.
    total = np.zeros(len(worth))
    for rank in range(worth.shape[1]):
        total += worth[:, rank] / np.log2(rank + 2)
    return total


@metric(
    "coverage",
    section="5",
    formula="facets found with grade ≥ rel in the top k ÷ facets judged ≥ rel",
    purpose="Are all sides of the answer (conclusion, basis, procedure …) there?",
    needs=("facets",),
)
def coverage(gains: Gains, *, k: int | None = None, rel: float = 1) -> Columns:
    """Share of a query's facets that the top ``k`` covers.

    Expects gains whose *items* are the facets (``needs=("facets",)`` makes the scorer build them).
    NaN where no facet is judged. Range [0, 1]. Source: METRICS 5.

    >>> from ragnostic.metrics.inputs import gains
    >>> coverage(gains([[1, 0]], ideal=[[1, 1]]), k=2).value.tolist()
    [0.5]
    """
    return Columns(divide(gains.found(k, rel), gains.relevant_items(rel)))
