"""Success, precision, F1 and R-precision (METRICS 2)."""

from __future__ import annotations

import numpy as np

from ragnostic.metrics.inputs import Columns, Gains, divide, undefined_without
from ragnostic.metrics.registry import metric


@metric(
    "Success",
    section="2",
    formula="1 if any relevant chunk is in the top k, else 0",
    purpose="Does the reader get anything useful at all? Success@1 is the top-1 accuracy.",
    cutoff="required",
    aliases=("hit_rate", "hit"),
)
def success(gains: Gains, *, k: int, rel: float = 1) -> Columns:
    """Hit rate: 1 where a chunk of the top ``k`` has a grade of at least ``rel``.

    NaN where the query has no relevant item. Range {0, 1}. Source: METRICS 2.

    >>> from ragnostic.metrics.inputs import gains
    >>> success(gains([[0, 1], [1, 0], [0, 0]]), k=1).value.tolist()
    [0.0, 1.0, nan]
    """
    hit = (gains.top(k) >= rel).any(axis=1).astype(np.float64)
    return Columns(undefined_without(gains.relevant_items(rel), hit))


@metric(
    "P",
    section="2",
    formula="relevant chunks in the top k ÷ k",
    purpose="How much of what is handed to the generator is useful?",
    cutoff="required",
    aliases=("precision",),
)
def precision(gains: Gains, *, k: int, rel: float = 1) -> Columns:
    """Precision: relevant chunks of the top ``k``, divided by ``k`` even if fewer came back.

    Every matching chunk counts, also a second one of the same item (METRICS 1.8). Range [0, 1].

    >>> from ragnostic.metrics.inputs import gains
    >>> precision(gains([[1, 0, 2]]), k=5).value.tolist()
    [0.4]
    """
    share = (gains.top(k) >= rel).sum(axis=1) / k
    return Columns(undefined_without(gains.relevant_items(rel), share))


@metric(
    "F1",
    section="2",
    formula="harmonic mean of P@k and R@k",
    purpose="One number for precision and recall at the same depth.",
    cutoff="required",
)
def f1(gains: Gains, *, k: int, rel: float = 1) -> Columns:
    """F1 of P@k and R@k; 0 where both are 0. Range [0, 1]. Source: METRICS 2.

    >>> from ragnostic.metrics.inputs import gains
    >>> f1(gains([[1]], ideal=[[1] * 5]), k=5).value.round(4).tolist()
    [0.2]
    """
    relevant = gains.relevant_items(rel)
    precise = (gains.top(k) >= rel).sum(axis=1) / k
    recalled = divide(gains.found(k, rel), relevant)
    value = np.nan_to_num(divide(2 * precise * recalled, precise + recalled))
    return Columns(undefined_without(relevant, value))


@metric(
    "Rprec",
    section="2",
    formula="relevant items found in the top R ÷ R",
    purpose="Precision at the depth where a perfect ranking would have found everything.",
    cutoff="none",
)
def r_precision(gains: Gains, *, rel: float = 1) -> Columns:
    """R-precision: items found by rank R, divided by R. Range [0, 1]. Source: METRICS 2, 1.8.

    >>> from ragnostic.metrics.inputs import gains
    >>> r_precision(gains([[1, 0, 1]])).value.tolist()
    [0.5]
    """
    relevant = gains.relevant_items(rel)
    items = gains.items
    rank = np.arange(1, items.shape[1] + 1) if gains.place_ranks is None else gains.place_ranks
    found = ((items >= rel) & (rank <= relevant[:, None])).sum(axis=1)
    return Columns(divide(found, relevant))
