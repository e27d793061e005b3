"""Recall, its decay curve, and recall within a token budget (METRICS 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ragnostic.metrics.inputs import Array, Columns, Floats, Gains, divide, undefined_without
from ragnostic.metrics.registry import metric

TOLERANCE = 1e-9
REACHED_SHARE = 0.9
"""No point of the curve is drawn past the depth that this share of queries were asked to."""


@metric(
    "R",
    section="3",
    formula="relevant items in the top k ÷ R; with budget=b: in the ranks that fit into b tokens",
    purpose="How much of what should be found is found? Never capped by k.",
    params={"budget": 0},
    aliases=("recall",),
)
def recall(gains: Gains, *, k: int | None = None, rel: float = 1, budget: int = 0) -> Columns:
    """Recall of the top ``k``, or of the leading ranks whose tokens stay within ``budget``.

    R counts every relevant judged item, retrieved or not. NaN where R = 0, and for a budget where
    no tokens are known. Range [0, 1]. Source: METRICS 3.

    >>> from ragnostic.metrics.inputs import gains
    >>> recall(gains([[1, 0, 1]], ideal=[[1, 1, 1, 1]]), k=3).value.tolist()
    [0.5]
    >>> recall(gains([[1, 0, 1]], tokens=[[900, 900, 900]]), budget=2000).value.tolist()
    [0.5]
    """
    relevant = gains.relevant_items(rel)
    if budget:
        if gains.tokens is None:
            return Columns(np.full(len(gains), np.nan))
        affordable = _affordable(gains.tokens, gains.lengths, budget).sum(axis=1)
        rank = np.arange(1, gains.items.shape[1] + 1)
        rank = rank if gains.place_ranks is None else gains.place_ranks
        within = rank <= np.minimum(affordable, gains.lengths if k is None else k)[:, None]
        return Columns(divide(((gains.items >= rel) & within).sum(axis=1), relevant))
    return Columns(divide(gains.found(k, rel), relevant))


@metric(
    "TokenPrecision",
    section="3",
    formula="tokens inside gold ÷ tokens of the ranks that fit into the budget",
    purpose="How much of the generator's context is signal? Compares chunkers with R(budget=…).",
    cutoff="none",
    params={"budget": 2000},
    needs=("tokens", "gold_tokens"),
)
def token_precision(gains: Gains, *, rel: float = 1, budget: int = 2000) -> Columns:
    """Share of the tokens within ``budget`` that lie inside gold.

    A query whose first chunk alone exceeds the budget scores 0. NaN where R = 0. Range [0, 1].
    Source: METRICS 3.

    >>> from ragnostic.metrics.inputs import gains
    >>> given = gains([[1, 0]], tokens=[[100, 300]], gold_tokens=[[100, 0]])
    >>> token_precision(given).value.tolist()
    [0.25]
    """
    if gains.tokens is None or gains.gold_tokens is None:
        return Columns(np.full(len(gains), np.nan))
    within = _affordable(gains.tokens, gains.lengths, budget)
    spent = np.where(within, gains.tokens, 0).sum(axis=1)
    inside = np.where(within & (gains.matrix >= rel), gains.gold_tokens, 0).sum(axis=1)
    value = np.nan_to_num(divide(inside, spent))
    return Columns(undefined_without(gains.relevant_items(rel), value))


def _affordable(tokens: Array, lengths: Array, budget: int) -> Array:
    inside = np.arange(tokens.shape[1]) < lengths[:, None]
    return inside & (np.cumsum(np.where(inside, tokens, 0), axis=1) <= budget)


def curve_mean(columns: Columns) -> Floats | None:
    """Mean curve over the scored queries, None when there is none.

    ``columns.parts["asked"]`` (n,), where given, is the depth each query was asked to: no point
    is drawn past the depth that 90 % of the queries were asked to (METRICS 3).
    """
    scored = ~np.isnan(columns.value).any(axis=1)
    if not scored.any():
        return None
    curves = columns.value[scored]
    depth = curves.shape[1]
    if "asked" in columns.parts:
        asked = columns.parts["asked"][scored, None]
        reached = (asked >= np.arange(1, depth + 1)).mean(axis=0)
        depth = int((reached >= REACHED_SHARE - TOLERANCE).sum())
    return np.asarray(curves[:, :depth].mean(axis=0))


@metric(
    "RecallCurve",
    section="3",
    formula="mean of R@K for K = 1..D over the scored queries",
    purpose="Where does reading deeper stop paying? Gives half-life, plateau and slope.",
    curve=True,
    reduce=curve_mean,
)
def recall_curve(gains: Gains, *, k: int | None = 100, rel: float = 1) -> Columns:
    """R@K for K = 1..D (D = ``k``, at most the deepest ranking), per query: (n, D).

    A ranking that ended earlier carries its last value on. Source: METRICS 3.

    >>> from ragnostic.metrics.inputs import gains
    >>> recall_curve(gains([[1, 0, 1]]), k=5).value.tolist()
    [[0.5, 0.5, 1.0, 1.0, 1.0]]
    """
    relevant = gains.relevant_items(rel)
    hit: Array = gains.items >= rel
    if gains.place_ranks is not None:
        by_rank = np.zeros(gains.matrix.shape)
        rows, place = np.nonzero(hit)
        np.add.at(by_rank, (rows, gains.place_ranks[rows, place] - 1), 1)
        hit = by_rank
    depth = k or hit.shape[1]
    missing = max(0, depth - hit.shape[1])
    counts = np.cumsum(np.pad(hit[:, :depth], ((0, 0), (0, missing))), axis=1)
    return Columns(divide(counts, relevant[:, None]))


def half_life(curve: Array) -> int | None:
    """Smallest depth with at least half of the final recall; None for an all-zero curve.

    ``curve``: R(1)..R(D). Source: METRICS 3.

    >>> example = [0.2, 0.3, 0.3, 0.3, 0.5, 0.5, 0.5, 0.5, 0.5, 0.6]
    >>> half_life(np.array(example)), plateau(np.array(example))
    (2, 0)
    """
    return _first_at_least(curve, 0.5 * curve[-1]) if curve.size and curve[-1] > 0 else None


def plateau(curve: Array, mode: Literal["relative", "absolute"] = "relative") -> int | None:
    """K95 - K90: the depths that reach 95 % and 90 % of R(D), or of 1.0 (``absolute``).

    None where a level is never reached. Source: METRICS 3.

    >>> plateau(np.array([0.5, 0.9, 0.96]), mode="absolute")
    1
    """
    if not curve.size or curve[-1] <= 0:
        return None
    whole = float(curve[-1]) if mode == "relative" else 1.0
    low, high = (_first_at_least(curve, share * whole) for share in (0.90, 0.95))
    return None if low is None or high is None else high - low


def depth_slope(curve: Array, first: int = 3, last: int = 10) -> float | None:
    """Least-squares slope of R(K) over K = ``first``..``last``; None with fewer than 2 points.

    >>> round(depth_slope(np.array([0.1, 0.2, 0.3, 0.4]), 1, 4), 6)
    0.1
    """
    depth = np.arange(1, curve.size + 1)
    window = (depth >= first) & (depth <= last)
    if window.sum() < 2:
        return None
    x, y = depth[window] - depth[window].mean(), curve[window]
    return float((x * y).sum() / (x * x).sum())


def _first_at_least(curve: Array, level: float) -> int | None:
    reached = np.flatnonzero(curve >= level - TOLERANCE)
    return int(reached[0]) + 1 if reached.size else None


@dataclass(frozen=True, slots=True)
class Decay:
    """Tail decay: mean recall of head queries minus that of tail queries, and both sizes."""

    value: float | None
    head: Floats
    tail: Floats


def tail_decay(recalls: Floats, frequency: Floats, tail_share: float = 0.2) -> Decay:
    """R@k on head queries - R@k on tail queries.

    The tail is the least frequent queries that together make up ``tail_share`` of the traffic;
    queries of equal frequency fall on the same side. ``recalls``, ``frequency``: (n,), NaN values
    are left out. ``value`` is None where a side is empty. Source: METRICS 3.

    >>> tail_decay(np.array([1.0, 1.0, 0.0]), np.array([80.0, 10.0, 10.0])).value
    0.5
    """
    known = ~np.isnan(recalls) & ~np.isnan(frequency)
    values, counts = recalls[known], frequency[known]
    if not counts.sum() > 0:
        return Decay(None, values, values[:0])
    is_tail = in_tail(counts, tail_share)
    head, tail = values[~is_tail], values[is_tail]
    value = float(head.mean() - tail.mean()) if head.size and tail.size else None
    return Decay(value, head, tail)


def in_tail(frequency: Floats, tail_share: float = 0.2) -> npt.NDArray[np.bool_]:
    """Which queries are tail: the least frequent ones that make up ``tail_share`` of the traffic.

    ``frequency`` (n,): how often each is asked, without NaN, not all 0. Queries of equal frequency
    fall on the same side. Where the rarest alone make up more than the share they are the tail all
    the same, unless all are asked equally often. Source: METRICS 3.

    >>> in_tail(np.array([80.0, 10.0, 10.0])).tolist()
    [False, True, True]
    >>> in_tail(np.array([6.0, 1.0, 1.0, 1.0, 1.0])).tolist()
    [False, True, True, True, True]
    """
    levels, inverse = np.unique(frequency, return_inverse=True)
    traffic = np.cumsum(np.bincount(inverse, weights=frequency)) / frequency.sum()
    is_tail = traffic <= tail_share + TOLERANCE
    if len(levels) > 1:
        is_tail[0] = True
    return np.asarray(is_tail[inverse])
