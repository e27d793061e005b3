"""Rerank by the cosine of the embedder: a second stage that works offline."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import ClassVar, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from ragnostic.adapters import local_index
from ragnostic.adapters.long_text import LongPolicy, Pieces, pieces
from ragnostic.ports import (
    Candidate,
    Embedder,
    Progress,
    Reranking,
    Resources,
    Vectors,
    no_progress,
)

_DECIMALS = 9


class EmbeddingReranker:
    """Candidates by cosine with the query, in [-1, 1]; a long one counts by its best segment.

    All candidates are returned; equal scores keep the candidates' order. Texts told to
    :meth:`prepare` are embedded once, so that :meth:`rerank` only embeds the query.
    """

    class Options(BaseModel):
        """``max_tokens`` by the embedder's own count; ``long`` says what happens above it."""

        model_config = ConfigDict(frozen=True, extra="forbid")

        max_tokens: int = Field(
            default=512,
            ge=16,
            le=100_000,
            description="Longest text in one piece, by the embedder's count.",
        )
        long: LongPolicy = Field(
            default="max_over_segments",
            description="Longer candidates: scored by their best segment, or cut.",
        )

    needs_embedder: ClassVar[bool] = True
    workers = 1
    """The embedder uses all cores."""

    def __init__(self, options: Options, embedder: Embedder) -> None:
        self._options = options
        self._embedder = embedder
        self._pieces: dict[str, Pieces] = {}
        self._vectors: dict[str, Vectors] = {}

    @classmethod
    def build(cls, options: Options, resources: Resources) -> Self:
        """Raises UsageError without an embedder."""
        return cls(options, local_index.embedder(resources, "reranker embedding"))

    def prepare(self, texts: Iterable[str], progress: Progress = no_progress) -> None:
        """Cut and embed what is new, all segments in one go; text → (segments, d) vectors."""
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        options = self._options
        for done, text in enumerate(new, 1):
            self._pieces[text] = pieces(
                text, options.max_tokens, options.long, self._embedder.count_tokens
            )
            progress("cut candidates", done, len(new))
        segments = [segment for text in new for segment in self._pieces[text].texts]
        vectors = self._embedder.embed(segments, "passage", progress)
        position = 0
        for text in new:
            count = len(self._pieces[text].texts)
            self._vectors[text] = vectors[position : position + count]
            position += count

    def rerank(self, query: str, candidates: Sequence[Candidate], top_n: int) -> Reranking:  # noqa: ARG002 (all are kept)
        """All candidates, best first; ``top_n`` changes nothing."""
        started = time.perf_counter()
        if not candidates:
            return Reranking(order=(), scores=(), truncated=(), took_ms=0.0)
        self.prepare(candidate.text for candidate in candidates)
        vector = self._embedder.embed([query], "query")[0].astype(np.float64)
        scores = np.array([self._score(candidate.text, vector) for candidate in candidates])
        order = np.argsort(-scores, kind="stable")
        return Reranking(
            order=tuple(order.tolist()),
            scores=tuple(scores[order].tolist()),
            truncated=tuple(self._pieces[candidate.text].truncated for candidate in candidates),
            took_ms=(time.perf_counter() - started) * 1000,
        )

    def _score(self, text: str, query: np.ndarray) -> float:
        cosines = self._vectors[text].astype(np.float64) @ query
        return float(np.round(cosines.max(), _DECIMALS))
