"""Exact nearest neighbours by cosine over the embedded chunks."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from ragnostic.adapters import local_index
from ragnostic.ports import Embedder, Progress, Resources, Vectors, no_progress
from ragnostic.records import Chunk, Hits

_BLOCK = 64
"""Queries in one matrix product: 64 rows of scores over a million chunks are 256 MB."""
_MARGIN = 1e-5
"""More than float32 can be wrong in a product of unit vectors."""
_DECIMALS = 9


class DenseRetriever:
    """All chunks compared with the query; scores are cosines in [-1, 1].

    A float32 product picks the candidates, a float64 product orders them, so that equal texts
    have equal scores and neither thread count nor batch size changes a ranking. Equal scores are
    in order of chunk id descending.
    """

    class Options(BaseModel):
        """No options: exact search has nothing to set."""

        model_config = ConfigDict(frozen=True, extra="forbid")

    needs_corpus: ClassVar[bool] = True
    needs_embedder: ClassVar[bool] = True
    workers = 1
    """One product uses all cores."""

    def __init__(
        self, chunks: Sequence[Chunk], embedder: Embedder, progress: Progress = no_progress
    ) -> None:
        self._chunks = chunks
        self._embedder = embedder
        texts = [chunk.searchable for chunk in chunks]
        self._vectors = embedder.embed(texts, "passage", progress)

    @classmethod
    def build(cls, options: Options, resources: Resources) -> Self:  # noqa: ARG003 (the port's form)
        """Embed the chunks of the run; raises UsageError without chunks or embedder."""
        chunks = local_index.corpus(resources, "dense")
        embedder = local_index.embedder(resources, "retriever dense")
        return cls(chunks, embedder, resources.progress)

    def retrieve(self, query: str, top_k: int) -> Mapping[str, Hits]:
        """The ``top_k`` nearest chunks; ``took_ms`` includes the embedding of the query."""
        return self.retrieve_batch([query], top_k)[0]

    def retrieve_batch(self, queries: Sequence[str], top_k: int) -> list[Mapping[str, Hits]]:
        """As :meth:`retrieve` for many queries; ``took_ms`` is the mean over each batch."""
        answers: list[Mapping[str, Hits]] = []
        for start in range(0, len(queries), _BLOCK):
            started = time.perf_counter()
            block = self._embedder.embed(queries[start : start + _BLOCK], "query")
            ranked = [
                nearest(self._vectors, vector, rough, top_k)
                for vector, rough in zip(block, block @ self._vectors.T, strict=True)
            ]
            took_ms = (time.perf_counter() - started) * 1000 / len(block)
            for positions, scores in ranked:
                chunks = [self._chunks[position] for position in positions.tolist()]
                hits = local_index.hits(chunks, scores.tolist(), top_k, took_ms)
                answers.append({"retrieve": hits})
        return answers


def nearest(
    vectors: Vectors, query: Vectors, rough: Vectors, top_k: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]:
    """Positions and exact cosines of the ``top_k`` nearest rows of ``vectors`` (n, d).

    ``rough`` (n,) are their float32 products with ``query`` (d,).

    >>> rows = np.eye(3, dtype=np.float32)
    >>> positions, scores = nearest(rows, rows[1], rows @ rows[1], 2)
    >>> positions.tolist(), scores.tolist()
    ([1, 0], [1.0, 0.0])
    """
    candidates = np.arange(len(rough))
    if 0 < top_k < len(rough):
        threshold = np.partition(rough, -top_k)[-top_k] - _MARGIN
        candidates = np.flatnonzero(rough >= threshold)
    exact = np.round(vectors[candidates].astype(np.float64) @ query.astype(np.float64), _DECIMALS)
    order = local_index.best(exact, top_k)
    return candidates[order], exact[order]
