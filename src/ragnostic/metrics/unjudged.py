"""What to do about chunks that nobody judged (METRICS 1.9)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ragnostic.metrics.inputs import UNJUDGED, Columns, Gains, divide, row_sums
from ragnostic.metrics.registry import metric


@metric(
    "Judged",
    section="1.9",
    formula="judged chunks in the top k ÷ chunks in the top k",
    purpose="Can the graded scores be trusted? Low means that many results were never judged.",
    cutoff="required",
    graded=False,
)
def judged(gains: Gains, *, k: int) -> Columns:
    """Share of the top ``k`` that has a judgment; NaN for an empty ranking. Range [0, 1].

    >>> from ragnostic.metrics.inputs import gains
    >>> judged(gains([[0, -1, 1, -1]]), k=4).value.tolist()
    [0.5]
    """
    shown = np.minimum(gains.lengths, k)
    return Columns(divide((gains.top(k) != UNJUDGED).sum(axis=1), shown))


@metric(
    "bpref",
    section="1.9",
    formula="1/R · sum over relevant found of (1 - min(n, R)/min(R, N))",
    purpose="Ranking quality from judged chunks alone, for sets with few judgments.",
    cutoff="none",
)
def bpref(gains: Gains, *, rel: float = 1) -> Columns:
    """Binary preference: how seldom judged-irrelevant chunks stand above relevant ones.

    n = judged-irrelevant chunks above, N = judged-irrelevant in all; with N = 0 every relevant
    item found counts 1. NaN where R = 0. Range [0, 1]. Source: Buckley & Voorhees 2004;
    METRICS 1.9.

    >>> from ragnostic.metrics.inputs import gains
    >>> bpref(gains([[0, 1, 1]], ideal=[[1, 1, 0]])).value.tolist()
    [0.0]
    >>> bpref(gains([[-1, 1]], ideal=[[1, 1]])).value.tolist()
    [0.5]
    """
    relevant = gains.relevant_items(rel)
    irrelevant = ((gains.ideal != UNJUDGED) & (gains.ideal < rel)).sum(axis=1)
    chunk_irrelevant = (gains.matrix != UNJUDGED) & (gains.matrix < rel)
    above = np.cumsum(chunk_irrelevant, axis=1)
    hit = gains.items >= rel
    if gains.place_ranks is not None:
        column = np.clip(gains.place_ranks.astype(np.int64) - 1, 0, max(above.shape[1] - 1, 0))
        above = np.take_along_axis(above, column, axis=1) if above.shape[1] else column
    most = np.minimum(relevant, irrelevant)[:, None]
    penalty = np.nan_to_num(divide(np.minimum(above, relevant[:, None]), most))
    worth = np.where(hit, 1 - np.minimum(penalty, 1), 0)
    return Columns(divide(row_sums(worth), relevant))


def condense(gains: Gains) -> Gains:
    """The rankings with unjudged chunks taken out and closed up (``judged_only``).

    >>> from ragnostic.metrics.inputs import gains
    >>> condense(gains([[-1, 1, -1, 0]])).matrix.tolist()
    [[1, 0, -1, -1]]
    """
    kept = gains.matrix != UNJUDGED
    order = np.argsort(~kept, axis=1, kind="stable")
    position = np.cumsum(kept, axis=1)

    def moved(column: np.ndarray | None) -> np.ndarray | None:
        return None if column is None else np.take_along_axis(column, order, axis=1)

    ranks, items = gains.place_ranks, gains.places
    if ranks is not None and items is not None:
        column = np.clip(ranks.astype(np.int64) - 1, 0, max(position.shape[1] - 1, 0))
        new_ranks = np.where(items != UNJUDGED, np.take_along_axis(position, column, axis=1), 0)
        ranks, items = spread(new_ranks, items)
    return replace(
        gains,
        matrix=np.take_along_axis(gains.matrix, order, axis=1),
        lengths=kept.sum(axis=1),
        places=items,
        place_ranks=ranks,
        weights=moved(gains.weights),
        tokens=moved(gains.tokens),
        gold_tokens=moved(gains.gold_tokens),
    )


def assume_relevant(gains: Gains, k: int | None) -> Gains:
    """Every unjudged chunk of the top ``k`` as relevant with grade 1 (``unjudged=relevant``).

    The plain score is the other end: every unjudged chunk irrelevant.

    >>> from ragnostic.metrics.inputs import gains
    >>> assume_relevant(gains([[-1, 1]]), k=2).matrix.tolist()
    [[1, 1]]
    """
    inside = np.arange(gains.matrix.shape[1]) < gains.lengths[:, None]
    if k is not None:
        inside[:, k:] = False
    assumed = inside & (gains.matrix == UNJUDGED)
    matrix = np.where(assumed, gains.matrix.dtype.type(1), gains.matrix)
    extra = np.where(assumed, 1, UNJUDGED).astype(gains.ideal.dtype)
    ideal = -np.sort(-np.concatenate([gains.ideal, extra], axis=1), axis=1)
    places, ranks = gains.places, gains.place_ranks
    if places is not None and ranks is not None:
        rank = np.arange(1, matrix.shape[1] + 1)
        all_ranks = np.concatenate([ranks, np.where(assumed, rank, 0)], axis=1)
        all_items = np.concatenate([places, extra], axis=1)
        ranks, places = spread(all_ranks, all_items)
    return replace(gains, matrix=matrix, ideal=ideal, places=places, place_ranks=ranks)


def spread(ranks: np.ndarray, items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Found items to places: the first free place at or after the chunk's rank.

    ``ranks`` (n, m): rank from 1 of the chunk that brought each item, 0 for none; ``items``
    (n, m): their grades. Returns (place_ranks, places), both (n, p). Within a chunk better grades
    come first.

    >>> ranks, places = spread(np.array([[1, 1, 2]]), np.array([[1, 2, 3]]))
    >>> places.tolist(), ranks.tolist()
    ([[2, 1, 3]], [[1, 1, 2]])
    """
    last = np.iinfo(np.int64).max // 2
    key = np.where(ranks > 0, ranks.astype(np.int64), last)
    order = np.lexsort((-items, key), axis=1)
    sorted_ranks = np.take_along_axis(key, order, axis=1)
    sorted_items = np.take_along_axis(items, order, axis=1)
    index = np.arange(key.shape[1])
    place = np.maximum.accumulate(sorted_ranks - index, axis=1) + index
    real = sorted_ranks < last
    width = int(place[real].max(initial=0))
    place_ranks = np.zeros((len(key), width), dtype=np.int32)
    places = np.full((len(key), width), UNJUDGED, dtype=items.dtype)
    rows = np.broadcast_to(np.arange(len(key))[:, None], key.shape)[real]
    place_ranks[rows, place[real] - 1] = sorted_ranks[real]
    places[rows, place[real] - 1] = sorted_items[real]
    return place_ranks, places
