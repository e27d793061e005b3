"""Rankings met with judgments: the gain matrix that every relevance metric reads (METRICS 1.8)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ragnostic.metrics.inputs import UNJUDGED, Gains
from ragnostic.metrics.unjudged import spread
from ragnostic.scoring.judgments import Judgments, has_repeats
from ragnostic.scoring.rankings import Rankings
from ragnostic.scoring.strings import Indices

_CELLS = 1 << 22
"""Comparisons made at once, to bound memory."""


def find(ranked: Rankings, judged: Judgments) -> Indices:
    """The column (rank - 1) of each entry's chunk in its ranking, -1 where it is not there.

    The first occurrence wins; every hit is verified byte by byte.
    """
    found = np.full(len(judged.rows), -1, dtype=np.int64)
    depth = ranked.hashes.shape[1]
    if not depth:
        return found
    usable = np.flatnonzero(~judged.strings.missing[judged.positions])
    # Half a hash finds the same places with half the memory traffic; hits are verified below.
    results, wanted = ranked.hashes.astype(np.uint32), judged.hashes.astype(np.uint32)
    for block in _blocks(usable, depth):
        same = results[judged.rows[block]] == wanted[block, None]
        column = same.argmax(axis=1)
        hit = same[np.arange(len(block)), column]
        found[block[hit]] = column[hit]
    hits = np.flatnonzero(found >= 0)
    where = ranked.positions[judged.rows[hits], found[hits]]
    wrong = ~ranked.strings.equal(where, judged.strings, judged.positions[hits])
    wrong |= found[hits] >= ranked.lengths[judged.rows[hits]]  # padding points at some id
    for entry in hits[wrong].tolist():  # a hash collision: look this entry up exactly
        found[entry] = _exact(ranked, judged, entry)
    return found


def _blocks(entries: Indices, depth: int) -> Iterator[Indices]:
    step = max(1, _CELLS // depth)
    for start in range(0, len(entries), step):
        yield entries[start : start + step]


def _exact(ranked: Rankings, judged: Judgments, entry: int) -> int:
    wanted = judged.strings.bytes_at(int(judged.positions[entry]))
    row = int(judged.rows[entry])
    for column in range(int(ranked.lengths[row])):
        if ranked.strings.bytes_at(int(ranked.positions[row, column])) == wanted:
            return column
    return -1


def gain_matrix(ranked: Rankings, judged: Judgments, *, with_weights: bool = False) -> Gains:
    """Gains of a block: grades by rank, the ideal, and places where items and chunks differ."""
    column = find(ranked, judged)
    hit = column >= 0
    rows, ranks, grades = judged.rows[hit], column[hit], judged.grades[hit]
    dtype = _dtype(judged.grades)
    # Column order: metrics read whole ranks, [:, :k], and sum along a ranking.
    matrix = np.full(ranked.hashes.shape, UNJUDGED, dtype=dtype, order="F")
    np.maximum.at(matrix, (rows, ranks), grades.astype(dtype))
    weights = None
    if with_weights:
        weights = np.zeros(matrix.shape)
        np.maximum.at(weights, (rows, ranks), np.nan_to_num(judged.weights[hit]))
    ideal, places, place_ranks = _items(ranked, judged, column, dtype)
    return Gains(matrix, ranked.lengths, ideal, places, place_ranks, weights=weights)


def _dtype(grades: npt.NDArray[np.float64]) -> npt.DTypeLike:
    whole = bool((grades == np.rint(grades)).all()) and grades.max(initial=0) <= 127
    return np.int8 if whole else np.float32


def _items(
    ranked: Rankings, judged: Judgments, column: Indices, dtype: npt.DTypeLike
) -> tuple[npt.NDArray[np.generic], npt.NDArray[np.generic] | None, npt.NDArray[np.int32] | None]:
    """The ideal of each row; and the places of found items where they are not just the chunks."""
    size = len(judged.judged)
    rows, items, grades = judged.rows, judged.items, judged.grades
    shared_item = has_repeats(_keys(rows, items))
    shared_chunk = has_repeats(_keys(rows, column)[column >= 0])
    if not shared_item and not shared_chunk:
        return _by_row(rows, grades, size, UNJUDGED, dtype, descending=True), None, None
    order = np.lexsort((items, rows))
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (rows[order][1:] != rows[order][:-1]) | (items[order][1:] != items[order][:-1])
    starts = np.flatnonzero(new)
    item_rows = rows[order][starts]
    item_grades = np.maximum.reduceat(grades[order], starts) if starts.size else grades[:0]
    never = ranked.hashes.shape[1]
    first = np.where(column < 0, never, column)[order]
    item_ranks = np.minimum.reduceat(first, starts) if starts.size else first
    item_ranks = np.where(item_ranks == never, 0, item_ranks + 1)
    ideal = _by_row(item_rows, item_grades, size, UNJUDGED, dtype, descending=True)
    found = _by_row(item_rows, item_grades, size, UNJUDGED, dtype, descending=False)
    ranks = _by_row(item_rows, item_ranks, size, 0, np.int64, descending=False)
    place_ranks, places = spread(ranks, found)
    return ideal, places, place_ranks


def _keys(rows: Indices, values: Indices) -> Indices:
    """One number for each (row, value); distinct as long as values stay below 2^32."""
    return rows * np.int64(1 << 33) + values


def _by_row(
    rows: Indices,
    values: npt.NDArray[np.generic],
    size: int,
    filler: int,
    dtype: npt.DTypeLike,
    *,
    descending: bool,
) -> npt.NDArray[np.generic]:
    """Values of each row side by side, (size, most), padded; ``rows`` is sorted."""
    counts = np.bincount(rows, minlength=size)
    table = np.full((size, int(counts.max(initial=0))), filler, dtype=dtype)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    table[rows, within] = values
    return np.asfortranarray(-np.sort(-table, axis=1) if descending else table)
