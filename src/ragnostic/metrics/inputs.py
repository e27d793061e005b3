"""What metrics are computed from: the gain matrix, and what they give back: columns.

Numpy only, no I/O. A metric sees arrays; which chunk matched which judgment was settled before,
in :mod:`ragnostic.scoring`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Array = npt.NDArray[Any]

UNJUDGED = -1
"""Mark of an unjudged chunk, and of the padding after a ranking's end, in a gain matrix."""


@dataclass(frozen=True, slots=True)
class Gains:
    """Rankings of n queries as grades, best first, padded to one depth.

    ``matrix`` (n, depth): grade of the chunk at each rank; :data:`UNJUDGED` where no judgment
    names it and behind the end. A chunk that holds several items carries the highest grade.
    ``lengths`` (n,): ranks in each ranking.
    ``ideal`` (n, m): the grades of all judged *items*, best first, padded with UNJUDGED; items
    that were never retrieved are in it (METRICS 5).
    ``places``, ``place_ranks`` (n, p), only where a chunk may hold several items or an item
    several chunks (METRICS 1.8): grade of the item found at each place, and the rank (from 1) of
    the chunk that brought it. The j-th item found takes the first free place at or after its
    chunk's rank, so a chunk with two items fills two places and no metric can exceed 1.
    Optional columns: ``weights`` (n, depth) soft relevance in [0, 1]; ``tokens`` and
    ``gold_tokens`` (n, depth) tokens of each chunk and how many of them lie inside gold.
    """

    matrix: Array
    lengths: npt.NDArray[np.int64]
    ideal: Array
    places: Array | None = None
    place_ranks: Array | None = None
    weights: Array | None = None
    tokens: Array | None = None
    gold_tokens: Array | None = None
    _relevant: dict[float, Floats] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def items(self) -> Array:
        """Grades of newly found items by place: :attr:`places`, or the matrix itself."""
        return self.matrix if self.places is None else self.places

    def top(self, k: int | None) -> Array:
        """The matrix down to rank ``k`` (all of it for ``None``)."""
        return self.matrix if k is None else self.matrix[:, :k]

    def relevant_items(self, rel: float) -> Floats:
        """R of each query: judged items with a grade of at least ``rel``; (n,)."""
        known = self._relevant.get(rel)
        if known is None:
            known = np.asarray((self.ideal >= rel).sum(axis=1), dtype=np.float64)
            self._relevant[rel] = known
        return known

    def found(self, k: int | None, rel: float) -> Floats:
        """Relevant items whose chunk stands in the top ``k``; (n,)."""
        hit = self.items >= rel
        if self.place_ranks is None:
            hit = hit if k is None else hit[:, :k]
        elif k is not None:
            hit = hit & (self.place_ranks <= k)
        return np.asarray(hit.sum(axis=1), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Results:
    """Rankings of n queries as scores, best first, for the metrics of METRICS 9.

    ``scores`` (n, depth): higher is better; -inf where a result has no score and behind the end.
    ``lengths`` (n,): results of each query. ``scored`` (n,): queries whose results have scores.
    ``ranks_only``: the scores only encode a rank (RRF), so that no threshold means anything.
    """

    scores: Floats
    lengths: npt.NDArray[np.int64]
    scored: npt.NDArray[np.bool_]
    ranks_only: bool = False

    def __len__(self) -> int:
        return len(self.lengths)


@dataclass(frozen=True, slots=True)
class Columns:
    """A metric per query: ``value`` (n,), or (n, D) for a curve; NaN where undefined.

    ``parts`` are further columns that the metric's ``reduce`` needs (a numerator, a depth).
    """

    value: Floats
    parts: Mapping[str, Floats] = field(default_factory=dict)


def gains(
    rankings: Sequence[Sequence[float]],
    ideal: Sequence[Sequence[float]] | None = None,
    **columns: Any,
) -> Gains:
    """Gains from plain lists of grades in rank order, for tests and examples.

    -1 marks an unjudged chunk. Without ``ideal`` all judged chunks were retrieved.

    >>> gains([[3, -1], [1]]).matrix.tolist()
    [[3, -1], [1, -1]]
    >>> gains([[3, -1]], ideal=[[3, 2]]).ideal.tolist()
    [[3, 2]]
    """
    judged = rankings if ideal is None else ideal
    return Gains(
        matrix=_padded(rankings),
        lengths=np.array([len(row) for row in rankings], dtype=np.int64),
        ideal=_padded([sorted((g for g in row if g >= 0), reverse=True) for row in judged]),
        **{name: np.asarray(values, dtype=np.float64) for name, values in columns.items()},
    )


def results(scores: Sequence[Sequence[float] | None], *, ranks_only: bool = False) -> Results:
    """Results from plain lists of scores, best first, for tests and examples.

    None stands for one result without a score.

    >>> results([[0.5, 0.25], None, []]).scored.tolist()
    [True, False, False]
    """
    lists = [[-np.inf] if row is None else row for row in scores]
    matrix = np.full((len(lists), max((len(row) for row in lists), default=0)), -np.inf)
    for index, row in enumerate(lists):
        matrix[index, : len(row)] = row
    lengths = np.array([len(row) for row in lists], dtype=np.int64)
    scored = np.array([bool(row) for row in scores], dtype=np.bool_)
    return Results(matrix, lengths, scored, ranks_only)


def _padded(rows: Sequence[Sequence[float]]) -> Array:
    whole = all(float(grade).is_integer() and grade <= 127 for row in rows for grade in row)
    depth = max((len(row) for row in rows), default=0)
    matrix = np.full((len(rows), depth), UNJUDGED, dtype=np.int8 if whole else np.float32)
    for index, row in enumerate(rows):
        matrix[index, : len(row)] = row
    return matrix


def row_sums(values: Array) -> Floats:
    """Sums along axis 1, added rank by rank; (n,).

    numpy's own sum adds in another order for another width or layout, and so the last bit of a
    value would depend on the other queries of its block (METRICS 1.7).

    >>> row_sums(np.array([[1, 2], [3, 4]])).tolist()
    [3.0, 7.0]
    """
    total = np.zeros(len(values))
    for rank in values.T:
        total += rank
    return total


def undefined_without(relevant: Floats, values: Any) -> Floats:
    """``values`` with NaN where a query has no relevant item (METRICS 1.2)."""
    return np.where(relevant > 0, values, np.nan)


def divide(numerator: Array, denominator: Array) -> Floats:
    """Element-wise quotient, NaN where the denominator is 0, without a warning.

    >>> divide(np.array([1.0, 1.0]), np.array([2.0, 0.0])).tolist()
    [0.5, nan]
    """
    result = np.full(np.broadcast(numerator, denominator).shape, np.nan)
    np.divide(numerator, denominator, out=result, where=np.asarray(denominator) != 0)
    return result
