"""BM25 and dense rankings fused by reciprocal rank."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field

from ragnostic.adapters.bm25 import Bm25Retriever
from ragnostic.adapters.dense import DenseRetriever
from ragnostic.ports import Resources
from ragnostic.records import Hits


class Weights(BaseModel):
    """How much each ranking counts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    bm25: float = Field(default=1.0, ge=0, le=1000, description="Weight of the BM25 ranking.")
    dense: float = Field(default=1.0, ge=0, le=1000, description="Weight of the dense ranking.")


class HybridRetriever:
    """Reciprocal rank fusion; scores are RRF scores: they encode ranks, not relevance."""

    class Options(BaseModel):
        """``depth`` hits are taken from each side; ``bm25`` holds that retriever's options."""

        model_config = ConfigDict(frozen=True, extra="forbid")

        rrf_k: float = Field(
            default=60.0,
            gt=0,
            le=100_000,
            description="Constant of the fusion; larger: top ranks count less.",
        )
        depth: int = Field(default=100, ge=1, le=100_000, description="Hits taken from each side.")
        weights: Weights = Field(default=Weights(), description="How much each side counts.")
        bm25: Bm25Retriever.Options = Field(
            default=Bm25Retriever.Options(), description="Options of the BM25 side."
        )

    needs_corpus: ClassVar[bool] = True
    needs_embedder: ClassVar[bool] = True
    workers = 1

    def __init__(self, options: Options, bm25: Bm25Retriever, dense: DenseRetriever) -> None:
        self._options = options
        self._bm25 = bm25
        self._dense = dense

    @classmethod
    def build(cls, options: Options, resources: Resources) -> Self:
        """Build both retrievers over the chunks of the run."""
        bm25 = Bm25Retriever.build(options.bm25, resources)
        dense = DenseRetriever.build(DenseRetriever.Options(), resources)
        return cls(options, bm25, dense)

    def retrieve(self, query: str, top_k: int) -> Mapping[str, Hits]:
        """The ``top_k`` chunks with the highest fused score."""
        started = time.perf_counter()
        depth = max(self._options.depth, top_k)
        sides = [
            self._bm25.retrieve(query, depth)["retrieve"],
            self._dense.retrieve(query, depth)["retrieve"],
        ]
        weights = [self._options.weights.bm25, self._options.weights.dense]
        fused = fuse([_ids(side) for side in sides], weights, self._options.rrf_k)[:top_k]
        doc_ids = {
            chunk_id: doc_id
            for side in sides
            for chunk_id, doc_id in zip(side.ids, side.doc_ids or (), strict=True)
        }
        hits = Hits(
            ids=tuple(chunk_id for chunk_id, _ in fused),
            scores=tuple(score for _, score in fused),
            doc_ids=tuple(doc_ids[chunk_id] for chunk_id, _ in fused),
            top_k=top_k,
            took_ms=(time.perf_counter() - started) * 1000,
            scores_are_ranks=True,
        )
        return {"retrieve": hits}


def _ids(hits: Hits) -> list[str]:
    return [chunk_id for chunk_id in hits.ids if chunk_id is not None]


def fuse(
    rankings: Sequence[Sequence[str]], weights: Sequence[float], rrf_k: float = 60.0
) -> list[tuple[str, float]]:
    """Ids with Σ weight / (rrf_k + rank), highest first, ties by id descending.

    Ids that only stand in a ranking of weight 0 are left out. Source: Cormack, Clarke &
    Büttcher 2009.

    >>> fuse([["a", "b"], ["b", "c"]], [1, 1], rrf_k=1)
    [('b', 0.8333333333333333), ('a', 0.5), ('c', 0.3333333333333333)]
    """
    scores: dict[str, float] = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        if weight == 0:
            continue
        for rank, chunk_id in enumerate(ranking, 1):
            scores[chunk_id] = scores.get(chunk_id, 0.0) + weight / (rrf_k + rank)
    by_id = sorted(scores.items(), reverse=True)
    return sorted(by_id, key=lambda pair: -pair[1])
