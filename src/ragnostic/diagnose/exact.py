"""Exact search: where an item really stands for a query, whatever the index returned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ragnostic.adapters.bm25 import Bm25Retriever
from ragnostic.ports import Embedder, Progress, no_progress
from ragnostic.records import Chunk

_MARGIN = 1e-6
"""More than float32 is wrong in a product of unit vectors; what is that near counts as equal."""
_BLOCK = 64
"""Queries whose scores against all chunks are in memory at a time."""


@dataclass(frozen=True, slots=True)
class Rank:
    """Where the best of some chunks stands, from 1, behind those of equal score; 0 where no score
    speaks for it.
    """

    rank: int
    score: float


class ExactSearch(Protocol):
    """Ranks without an index."""

    def ranks(
        self, queries: Sequence[str], wanted: Sequence[Sequence[int]], progress: Progress
    ) -> list[Rank | None]:
        """For each query the best rank of the chunks wanted (positions in :class:`Searched`).

        Passages beside the corpus are ranked among the chunks, and are no competition to them.
        None where nothing is wanted.
        """
        ...


@dataclass(frozen=True, slots=True)
class Searched:
    """The chunks of the corpus, and behind them passages that are ranked as if they were."""

    chunks: tuple[Chunk, ...]
    passages: tuple[Chunk, ...] = ()

    @property
    def all(self) -> tuple[Chunk, ...]:
        """Chunks, then passages."""
        return (*self.chunks, *self.passages)

    def positions(self) -> Mapping[str, int]:
        """Where each id stands."""
        return {chunk.id: n for n, chunk in enumerate(self.all)}


class DenseSearch:
    """By cosine."""

    def __init__(
        self, searched: Searched, embedder: Embedder, progress: Progress = no_progress
    ) -> None:
        self._embedder = embedder
        self._corpus = len(searched.chunks)
        texts = [chunk.searchable for chunk in searched.all]
        self._vectors = embedder.embed(texts, "passage", progress)

    def ranks(
        self, queries: Sequence[str], wanted: Sequence[Sequence[int]], progress: Progress
    ) -> list[Rank | None]:
        """As the port says."""

        def scores(texts: Sequence[str]) -> Any:
            return self._embedder.embed(texts, "query") @ self._vectors.T

        return _ranks(queries, wanted, scores, self._corpus, progress)


class LexicalSearch:
    """By BM25; a chunk without any word of the query has rank 0."""

    def __init__(
        self,
        searched: Searched,
        options: Bm25Retriever.Options | None = None,
        progress: Progress = no_progress,
    ) -> None:
        self._corpus = len(searched.chunks)
        self._index = Bm25Retriever(options or Bm25Retriever.Options(), searched.all, progress)

    def ranks(
        self, queries: Sequence[str], wanted: Sequence[Sequence[int]], progress: Progress
    ) -> list[Rank | None]:
        """As the port says."""

        def scores(texts: Sequence[str]) -> Any:
            return np.stack([self._index.scores(text) for text in texts])

        return _ranks(queries, wanted, scores, self._corpus, progress, positive=True)


class BestOf:
    """Several searches, of which the better one counts: as a hybrid retriever has them."""

    def __init__(self, *searches: ExactSearch) -> None:
        self._searches = searches

    def ranks(
        self, queries: Sequence[str], wanted: Sequence[Sequence[int]], progress: Progress
    ) -> list[Rank | None]:
        """As the port says; the score is that of the search whose rank counts."""
        found = [search.ranks(queries, wanted, progress) for search in self._searches]
        return [_better(ranks) for ranks in zip(*found, strict=True)]


def _better(ranks: Sequence[Rank | None]) -> Rank | None:
    known = [rank for rank in ranks if rank is not None]
    return min(known, key=lambda one: one.rank or 1 << 62, default=None)


def _ranks(
    queries: Sequence[str],
    wanted: Sequence[Sequence[int]],
    score: Any,
    corpus: int,
    progress: Progress,
    *,
    positive: bool = False,
) -> list[Rank | None]:
    """Ranks by the scores of whole blocks; equal queries are scored once."""
    found: list[Rank | None] = [None] * len(queries)
    rows: dict[str, list[int]] = {}
    for row, query in enumerate(queries):
        if wanted[row]:
            rows.setdefault(query, []).append(row)
    texts = list(rows)
    for start in range(0, len(texts), _BLOCK):
        block = texts[start : start + _BLOCK]
        for query, scores in zip(block, score(block), strict=True):
            known = scores[:corpus]
            for row in rows[query]:
                best = float(scores[list(wanted[row])].max())
                equal_or_better = int((known >= best - _MARGIN).sum())
                found[row] = Rank(0 if positive and best <= 0 else max(1, equal_or_better), best)
        progress("exact search", min(start + _BLOCK, len(texts)), len(texts))
    return found
