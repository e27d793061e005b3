"""BM25 over the chunks, as Lucene computes it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field

from ragnostic.adapters import local_index
from ragnostic.adapters.tokeniser import Language, tokeniser
from ragnostic.ports import Progress, Resources, no_progress
from ragnostic.records import Chunk, Hits

_REPORT_EVERY = 500


class Bm25Retriever:
    """Exact BM25 (bm25s, Lucene variant); a chunk that shares no term with the query is not a hit.

    Scores fall from rank to rank; equal scores are in order of chunk id descending.
    """

    class Options(BaseModel):
        """``k1`` dampens repeated terms, ``b`` long chunks; ``language`` as in ``tokeniser``."""

        model_config = ConfigDict(frozen=True, extra="forbid")

        k1: float = Field(
            default=1.2,
            ge=0,
            le=1000,
            description="How soon repeating a term stops to help; 0: at once.",
        )
        b: float = Field(
            default=0.75, ge=0, le=1, description="How much long chunks are held back; 0: not."
        )
        language: Language = Field(
            default="auto",
            description="How words are found: Chinese segmented and English stemmed (auto), or "
            "one of them only.",
        )

    needs_corpus: ClassVar[bool] = True
    needs_embedder: ClassVar[bool] = False
    workers = 1
    """The stemmer is not thread-safe."""

    def __init__(
        self, options: Options, chunks: Sequence[Chunk], progress: Progress = no_progress
    ) -> None:
        self._chunks = chunks
        self._terms = tokeniser(options.language)
        self._vocabulary: dict[str, int] = {}
        documents = _index(chunks, self._terms, self._vocabulary, progress)
        self._index = _bm25(options, documents, self._vocabulary)

    @classmethod
    def build(cls, options: Options, resources: Resources) -> Self:
        """Index the chunks of the run; raises UsageError when there are none."""
        return cls(options, local_index.corpus(resources, "bm25"), resources.progress)

    def retrieve(self, query: str, top_k: int) -> Mapping[str, Hits]:
        """The ``top_k`` chunks with the highest score, fewer if fewer share a term."""
        started = time.perf_counter()
        scores = self.scores(query)
        positions = local_index.best(scores, top_k)
        positions = positions[scores[positions] > 0]
        took_ms = (time.perf_counter() - started) * 1000
        ranked = [self._chunks[position] for position in positions.tolist()]
        hits = local_index.hits(ranked, scores[positions].astype(float).tolist(), top_k, took_ms)
        return {"retrieve": hits}

    def scores(self, query: str) -> npt.NDArray[np.float32]:
        """The score of every chunk, in the order in which they were given; (n,), 0 and more."""
        known = [self._vocabulary[term] for term in self._terms(query) if term in self._vocabulary]
        if not known:
            return np.zeros(len(self._chunks), dtype=np.float32)
        found: npt.NDArray[np.float32] = self._index.get_scores_from_ids(known)
        return found


def _index(
    chunks: Sequence[Chunk],
    terms: Callable[[str], list[str]],
    vocabulary: dict[str, int],
    progress: Progress,
) -> list[list[int]]:
    """Term numbers of each chunk; fills ``vocabulary`` in order of first appearance."""
    documents: list[list[int]] = []
    for done, chunk in enumerate(chunks, 1):
        found = terms(chunk.searchable)
        documents.append([vocabulary.setdefault(term, len(vocabulary)) for term in found])
        if done % _REPORT_EVERY == 0 or done == len(chunks):
            progress("index", done, len(chunks))
    return documents


def _bm25(
    options: Bm25Retriever.Options, documents: list[list[int]], vocabulary: dict[str, int]
) -> Any:
    import bm25s  # noqa: PLC0415 (heavy, loaded on use)

    index = bm25s.BM25(k1=options.k1, b=options.b, method="lucene")
    if vocabulary:
        index.index((documents, dict(vocabulary)), create_empty_token=False, show_progress=False)
    return index
