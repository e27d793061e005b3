"""Building what a configuration chose: embedder, retriever, reranker."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragnostic.adapters.vector_cache import CachedEmbedder, default_cache_path
from ragnostic.config import Choice, Configuration, needs
from ragnostic.offline.calls import CallPolicy
from ragnostic.offline.memo import Memo, embedder_key
from ragnostic.offline.retrying_embedder import RetryingEmbedder
from ragnostic.ports import (
    Embedder,
    Progress,
    Reranker,
    Resources,
    Retriever,
    VectorStore,
    no_progress,
)
from ragnostic.records import Chunk

_CACHE_FILE = "vectors.sqlite"


@dataclass
class Workshop:
    """Builds the implementations of one run; the embedder once, when first needed.

    ``fresh`` ignores vectors that earlier runs stored; ``memo`` holds what other runs made.
    """

    configuration: Configuration
    chunks: Sequence[Chunk] = ()
    progress: Progress = no_progress
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    fresh: bool = False
    memo: Memo = field(default_factory=Memo)
    cached: CachedEmbedder | None = None

    def retriever(self) -> Retriever:
        """The retriever, its index made."""
        found: Retriever = self._build(self.configuration.choices["retrieve"])
        return found

    def reranker(self) -> Reranker | None:
        """The reranker, or None where the stage is switched off."""
        choice = self.configuration.choices.get("rerank")
        return None if choice is None else self._build(choice)

    def store(self) -> VectorStore:
        """The vector index of [index], opened; the caller closes it."""
        choice = self.configuration.choices["index"]
        found: VectorStore = choice.plugin.build(choice.options, self._resources(None))
        return found

    def embedder(self) -> CachedEmbedder:
        """The embedder behind its cache."""
        if self.cached is None:
            key = embedder_key(self.configuration)
            self.cached = self.memo.once("embedder", key, self._new_embedder)
        return self.cached

    def _new_embedder(self) -> CachedEmbedder:
        choice = self.configuration.choices["embed"]
        built = choice.plugin.build(choice.options, self._resources(None))
        policy = CallPolicy(retries=self.configuration.settings.run.retries)
        retrying = RetryingEmbedder(built, policy)
        return CachedEmbedder(retrying, self._cache_path(), fresh=self.fresh)

    def _build(self, choice: Choice) -> Any:
        embedder = self.embedder() if needs(choice, "embedder") else None
        return choice.plugin.build(choice.options, self._resources(embedder))

    def _resources(self, embedder: Embedder | None) -> Resources:
        return Resources(
            base_dir=self.configuration.base_dir,
            chunks=self.chunks,
            embedder=embedder,
            environment=self.environment,
            progress=self.progress,
            top_k=self.configuration.settings.retrieve.top_k,
        )

    def _cache_path(self) -> Path | None:
        cache = self.configuration.settings.embed.cache
        if cache is False:
            return None
        if cache is True:
            return default_cache_path(self.environment)
        return self.configuration.path(str(cache)) / _CACHE_FILE
