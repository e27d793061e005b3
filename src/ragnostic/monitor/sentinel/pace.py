"""Calls at a steady pace, so that probing is no load test."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from ragnostic.ports import (
    Candidate,
    Clock,
    Progress,
    Reranker,
    Reranking,
    Retriever,
    no_progress,
)
from ragnostic.records import Hits


class Pace:
    """At most ``rate`` calls a second in all threads together; None: as fast as it goes.

    Calls that were not made are not made up for: after a pause the pace is the same.
    """

    def __init__(self, rate: float | None, clock: Clock) -> None:
        self._apart_s = 0.0 if rate is None else 1 / rate
        self._clock = clock
        self._next = 0.0
        self._lock = threading.Lock()

    def wait(self) -> None:
        """Wait until the next call may begin."""
        if not self._apart_s:
            return
        with self._lock:
            now = self._clock.now()
            # A clock that was set back must not make it wait for what has long been over.
            begin = max(now, min(self._next, now + self._apart_s))
            self._next = begin + self._apart_s
            if begin > now:
                self._clock.sleep(begin - now)


class PacedRetriever:
    """A retriever that waits for its turn before every call."""

    needs_corpus: ClassVar[bool] = False
    needs_embedder: ClassVar[bool] = False

    def __init__(self, inner: Retriever, pace: Pace) -> None:
        self._inner = inner
        self._pace = pace
        self.workers = inner.workers

    def retrieve(self, query: str, top_k: int) -> Mapping[str, Hits]:
        """As the retriever itself."""
        self._pace.wait()
        return self._inner.retrieve(query, top_k)


class PacedReranker:
    """A reranker that waits for its turn before every call."""

    needs_embedder: ClassVar[bool] = False

    def __init__(self, inner: Reranker, pace: Pace) -> None:
        self._inner = inner
        self._pace = pace
        self.workers = inner.workers

    def prepare(self, texts: Iterable[str], progress: Progress = no_progress) -> None:
        """As the reranker itself."""
        self._inner.prepare(texts, progress)

    def rerank(self, query: str, candidates: Sequence[Candidate], top_n: int) -> Reranking:
        """As the reranker itself."""
        self._pace.wait()
        return self._inner.rerank(query, candidates, top_n)
