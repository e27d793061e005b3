"""Every Protocol of the system: what an implementation must offer, and no vendor's name.

An implementation is a class with an ``Options`` pydantic model (its own config table) and a
``build(options, resources)`` class method; it is found by name through :mod:`ragnostic.plugins`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
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


@dataclass(frozen=True, slots=True)
class Generation:
    """A generator's answer: ``text`` is never empty, ``model`` is the one that the service says
    it used, ``usage`` holds token counts by name where it tells them.
    """

    text: str
    model: str
    usage: Mapping[str, int] = field(default_factory=dict)


class Generator(Protocol):
    """A system message and a user message into an answer."""

    name: str
    """Identity of model and settings; only its hash is kept, in the key of an answer."""
    workers: int

    def generate(self, system: str, user: str) -> Generation:
        """One answer; raises GenerationError where there is none that could be graded, and
        RetrievalError when the call fails. Called from several threads when ``workers`` > 1.
        """
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


class RecordJudge(Protocol):
    """Live records to judgments, many at once."""

    name: str
    version: str
    parameters: Mapping[str, Any]

    def judge_records(self, records: pa.Table) -> pa.Table:
        """One row a record, in their order, under ``records.JUDGMENT_SCHEMA``, or
        ``records.FACETED_JUDGMENT_SCHEMA`` from a judge that knows facets.
        """
        ...


@dataclass(frozen=True, slots=True)
class Event:
    """A record on its way: ``payload`` is its row as UTF-8 JSON. A later revision of the same id
    replaces an earlier one.
    """

    id: str
    payload: bytes
    revision: int = 0


class AppendResult(NamedTuple):
    """What became of appended events; their sum is what was given."""

    stored: int
    duplicate: int


class StoredEvent(NamedTuple):
    """An event in a partition of the log."""

    offset: int
    id: str
    revision: int
    payload: bytes


class EventLog(Protocol):
    """A durable queue in partitions. Its acknowledgement is the return of :meth:`append`."""

    partitions: int

    def append(self, events: Sequence[Event]) -> AppendResult:
        """Store events; one whose id and revision are known is a duplicate."""
        ...

    def read(self, partition: int, after: int, limit: int) -> list[StoredEvent]:
        """Events of a partition behind an offset, in order."""
        ...

    def committed(self, partition: int) -> int:
        """The offset up to which a partition is done; 0 at first."""
        ...

    def commit(self, partition: int, offset: int) -> None:
        """Everything up to this offset is done with."""
        ...

    def trim(self) -> int:
        """Remove the payloads behind the commits, and say how many; the ids stay known."""
        ...

    def backlog(self) -> int:
        """Events that wait."""
        ...


RecordKind = Literal["records", "judgments", "scores", "probes", "rollups"]


class RecordStore(Protocol):
    """Tables by day: what the worker writes and every question reads."""

    def write(self, kind: RecordKind, table: pa.Table, *, name: str) -> None:
        """Store rows by their column ``day``; the same name again replaces what it wrote."""
        ...

    def read(
        self,
        kind: RecordKind,
        *,
        start: datetime | None = None,
        end: datetime | None = None,
        columns: Sequence[str] | None = None,
    ) -> pa.Table:
        """Rows with ``ts`` in [start, end), the newest revision of each; empty where none is."""
        ...

    def days(self, kind: RecordKind) -> list[str]:
        """The days that hold rows, in order."""
        ...


Space = Literal["cosine", "ip", "l2"]


@dataclass(frozen=True, slots=True)
class StoredBatch:
    """Some rows of a vector index. ``vectors`` (n, d): NaN in the rows whose vector is absent or
    has not ``d`` numbers; ``sizes`` says how many numbers it has. What is not known is None.
    """

    ids: tuple[str, ...]
    vectors: Vectors
    sizes: tuple[int, ...]
    texts: tuple[str | None, ...]
    doc_ids: tuple[str | None, ...]
    versions: tuple[str | None, ...]


class Neighbours(NamedTuple):
    """What a vector index returns for one query, in its order, with the scores that it gives."""

    ids: tuple[str, ...]
    scores: tuple[float, ...]


class VectorStore(Protocol):
    """A vector index that exists; it is read, never changed.

    ``space``: by what it compares; ``effort``: the name of the setting that trades time for
    recall (``ef``, ``nprobe``), "" where there is none; ``usual_effort``: what it is set to.
    """

    space: Space
    dimension: int
    effort: str
    usual_effort: int | None

    def efforts(self, k: int) -> tuple[int, ...]:
        """Efforts worth measuring for ``k`` results, in order; none without such a setting."""
        ...

    def count(self) -> int:
        """How many vectors it holds."""
        ...

    def scan(self, rows: int) -> Iterator[StoredBatch]:
        """All of it, ``rows`` at a time; may be called again."""
        ...

    def search(self, query: Vectors, k: int, effort: int | None = None) -> Neighbours:
        """The nearest of one query vector (d,), by the index; None is the usual effort."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


CountTokens = Callable[[str], int]


Severity = Literal["P0", "P1", "P2"]
NoticeKind = Literal["firing", "repeat", "resolved", "rebaselined", "test"]


@dataclass(frozen=True, slots=True)
class Notice:
    """What a person is told about one alert: in plain values, put into words by a channel.

    ``key`` names the episode (rule, slice value, episode number): the same key is the same
    trouble. ``reference`` is what ``value`` was compared with and ``against`` says what that is:
    ``limit``, ``baseline``, ``yesterday`` or ``last week``. ``window`` is (start, end) in UTC, and
    ``zone`` the one it is shown in. ``link`` leads to a page about it, ``runbook`` to what to do.
    """

    key: str
    kind: NoticeKind
    severity: Severity
    rule: str
    metric: str
    value: float | None
    reference: float | None
    against: str
    n: int
    since: datetime
    window: tuple[datetime, datetime]
    zone: str
    stage: str = ""
    slice: Mapping[str, str] = field(default_factory=dict)
    low: float | None = None
    high: float | None = None
    summary: Mapping[str, str] = field(default_factory=dict)
    """One sentence of the rule's own, by language: ``{"zh": …, "en": …}``."""
    worst_query: str = ""
    likely_cause: Mapping[str, str] = field(default_factory=dict)
    owner: str = ""
    runbook: str = ""
    link: str = ""


class Delivery(NamedTuple):
    """How a sending went. ``retry_after_s`` is set where another try makes sense."""

    delivered: bool
    reason: str = ""
    retry_after_s: float | None = None


class Notifier(Protocol):
    """A channel to people or to another program: one file in ``notify/``."""

    name: str

    def send(self, notices: Sequence[Notice]) -> Delivery:
        """Tell all of them, the most severe first; never raises for what the other side does."""
        ...
