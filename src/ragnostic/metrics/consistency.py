"""Rerank consistency: two rerankings of the same candidates (METRICS 8)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragnostic.metrics.inputs import Columns
from ragnostic.metrics.registry import signal

Pair = tuple[Sequence[str], Sequence[str]]


@signal(
    "RCS",
    section="8",
    formula="|A ∩ B| ÷ |A ∪ B| of two top tens",
    purpose="does the reranker give the same chunks when nothing that matters has changed",
    needs="pairs of rerankings: ragnostic rcs",
    write="RCS@10",
)
def rerank_consistency(pairs: Sequence[Pair], *, k: int = 10) -> Columns:
    """RCS@k: Jaccard of the two top-k sets; high is stable. Range [0, 1].

    NaN where both lists are empty, and where they hold no more than ``k`` candidates in all and
    the same ones, so that the value would be 1 by construction.

    >>> a, b = ["101", "205", "302", "110", "408"], ["101", "302", "205", "501", "110"]
    >>> rerank_consistency([(a, b)], k=5).value.round(4).tolist()
    [0.6667]
    """
    return Columns(np.array([_jaccard(a, b, k) for a, b in pairs], dtype=np.float64))


def _jaccard(first: Sequence[str], second: Sequence[str], k: int) -> float:
    a, b = set(first[:k]), set(second[:k])
    if not a | b or (set(first) == set(second) and len(set(first)) <= k):
        return float("nan")
    return len(a & b) / len(a | b)


@signal(
    "RBO",
    section="8",
    formula="rank-biased overlap with persistence p, extrapolated",
    purpose="the same, and does it give them in the same order",
    needs="pairs of rerankings: ragnostic rcs",
    write="RBO(p=0.9)@10",
)
def rank_biased_overlap(pairs: Sequence[Pair], *, k: int = 10, p: float = 0.9) -> Columns:
    """RBO(p)@k, extrapolated: sees order, where Jaccard is blind. Range [0, 1].

    Identical lists give 1; NaN where both are empty. Source: Webber, Moffat & Zobel 2010,
    equation 32; METRICS 8.

    >>> rank_biased_overlap([(["a", "b"], ["a", "b"]), (["a"], ["b"])]).value.round(6).tolist()
    [1.0, 0.0]
    """
    return Columns(np.array([_rbo(a[:k], b[:k], p) for a, b in pairs], dtype=np.float64))


def _rbo(first: Sequence[str], second: Sequence[str], p: float) -> float:
    short, long = sorted((first, second), key=len)
    s, n = len(short), len(long)
    if not n:
        return float("nan")
    seen_short: set[str] = set()
    seen_long: set[str] = set()
    overlap = [0]
    for depth in range(1, n + 1):
        seen_long.add(long[depth - 1])
        if depth <= s:
            seen_short.add(short[depth - 1])
        overlap.append(len(seen_short & seen_long))
    if not s:
        return 0.0
    x_s, x_l = overlap[s], overlap[n]
    total: float = sum(overlap[d] / d * p**d for d in range(1, n + 1))
    total += sum(x_s * (d - s) / (s * d) * p**d for d in range(s + 1, n + 1))
    rest: float = ((x_l - x_s) / n + x_s / s) * p**n
    return (1 - p) / p * total + rest
