"""Every Protocol of the system: what an implementation must offer, and no vendor's name.

An implementation is a class with an ``Options`` pydantic model (its own config table) and a
``build(options, resources)`` class method; it is found by name through :mod:`ragnostic.plugins`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel

from ragnostic.records import Chunk, Document, EvalQuery, Hits

Vectors = npt.NDArray[np.float32]
Role = Literal["query", "passage"]


class Progress(Protocol):
    """Told of work done; draws a bar, or nothing."""

    def __call__(self, label: str, done: int, total: int) -> None:
        """``done`` of ``total`` units of the work named by ``label`` are finished."""
        ...


def no_progress(label: str, done: int, total: int) -> None:
    """The silent :class:`Progress`."""


class Clock(Protocol):
    """Time as a port, so that tests need not wait."""

    def now(self) -> float:
        """Seconds since the epoch."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


@runtime_checkable
class Embedder(Protocol):
    """Texts to unit vectors."""

    name: str
    """Identity of model and its settings; part of the key under which vectors are cached."""

    def embed(self, texts: Sequence[str], role: Role, progress: Progress = no_progress) -> Vectors:
        """(n, d) float32, each row of length 1; in the order of ``texts``."""
        ...

    def count_tokens(self, text: str) -> int:
        """Tokens the model sees, special ones included."""
        ...


@dataclass(frozen=True, slots=True)
class Resources:
    """What an implementation may ask for when it is built."""

    base_dir: Path = field(default_factory=Path)
    chunks: Sequence[Chunk] = ()
    embedder: Embedder | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    progress: Progress = no_progress
    top_k: int = 20


class Plugin(Protocol):
    """What every pluggable class offers beside its port."""

    Options: ClassVar[type[BaseModel]]

    @classmethod
    def build(cls, options: Any, resources: Resources) -> Self:
        """An instance from its validated options."""
        ...


class Retriever(Protocol):
    """Query text to ranked chunks; may answer for several stages at once."""

    workers: int
    """How many calls may run at the same time."""
    needs_corpus: ClassVar[bool]
    needs_embedder: ClassVar[bool]

    def retrieve(self, query: str, top_k: int) -> Mapping[str, Hits]:
        """Stage name → hits, in pipeline order; raises RetrievalError. Usually one stage,
        ``retrieve``. Called from several threads when ``workers`` > 1.
        """
        ...


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk offered to a reranker."""

    id: str
    text: str
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Reranking:
    """A reranker's answer: ``order[i]`` is the index (into the candidates) at rank i+1.

    A candidate that the reranker did not return is not in ``order``.
    """

    order: tuple[int, ...]
    scores: tuple[float, ...] | None = None
    truncated: tuple[bool, ...] | None = None
    """Per *candidate*: was its text cut before it was read?"""
    took_ms: float | None = None


class Reranker(Protocol):
    """Candidates of one query into a better order."""

    workers: int
    needs_embedder: ClassVar[bool]

    def prepare(self, texts: Iterable[str], progress: Progress = no_progress) -> None:
        """Told of all candidate texts before the first :meth:`rerank`, to work in batches."""
        ...

    def rerank(self, query: str, candidates: Sequence[Candidate], top_n: int) -> Reranking:
        """The new order of all candidates; raises RetrievalError."""
        ...


class Chunker(Protocol):
    """A document into chunks with offsets."""

    def chunk(self, document: Document) -> list[Chunk]:
        """The document's chunks in order."""
        ...


class Judge(Protocol):
    """Records to judgments: for each query, the parallel lists of ``records.JUDGED_TYPE``."""

    name: str

    def judge(self, query: EvalQuery, stages: Mapping[str, Hits]) -> dict[str, list[Any]] | None:
        """``None`` when the judge has nothing to say of this query (it is *unjudged*)."""
        ...


CountTokens = Callable[[str], int]
