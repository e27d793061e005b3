"""The Record: one row a retrieval, the contract of the whole system (INTERFACES, Record).

Arrow is the form in which records travel; the small dataclasses here are what the pipeline
builds a record from. No I/O.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pyarrow as pa

from ragnostic.errors import DataError

SCHEMA_VERSION = 1
STAGES_KEY = b"ragnostic.stages"
VERSION_KEY = b"ragnostic.schema"
RANK_SCORES_KEY = b"ragnostic.rank_scores"
"""The stages whose scores only encode a rank; not there where no stage's do."""

Status = Literal["ok", "failed"]

STAGE_TYPE = pa.struct(
    [
        ("ids", pa.list_(pa.string())),
        ("scores", pa.list_(pa.float64())),
        ("doc_ids", pa.list_(pa.string())),
        ("top_k", pa.int32()),
        ("top_n", pa.int32()),
        ("took_ms", pa.float64()),
        ("status", pa.string()),
        ("error", pa.string()),
        ("truncated", pa.list_(pa.bool_())),
    ]
)
JUDGED_TYPE = pa.struct(
    [
        ("ids", pa.list_(pa.string())),
        ("grades", pa.list_(pa.float32())),
        ("weights", pa.list_(pa.float32())),
        ("items", pa.list_(pa.int32())),
        ("facets", pa.list_(pa.string())),
    ]
)
BASE_FIELDS: dict[str, pa.DataType] = {
    "record_id": pa.string(),
    "query_id": pa.string(),
    "trace_id": pa.string(),
    "span_id": pa.string(),
    "session_id": pa.string(),
    "user_id": pa.string(),
    "ts": pa.timestamp("us", tz="UTC"),
    "service": pa.string(),
    "model_version": pa.string(),
    "category": pa.string(),
    "language": pa.string(),
    "source": pa.string(),
    "group": pa.string(),
    "answerable": pa.bool_(),
    "frequency": pa.int64(),
    "labels": pa.map_(pa.string(), pa.string()),
    "query": pa.string(),
    "searched": pa.list_(pa.string()),
    "answer": pa.string(),
    "context_ids": pa.list_(pa.string()),
    "feedback": pa.string(),
    "outcome": pa.string(),
    "latency_ms": pa.float64(),
    "fanout": pa.int32(),
    "judged": JUDGED_TYPE,
    "judge": pa.string(),
}
CHUNK_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("doc_id", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("tokens", pa.int32()),
        ("text", pa.string()),
    ]
)
JUDGMENT_SCHEMA = pa.schema(
    [
        ("record_id", pa.string()),
        ("judge", pa.string()),
        ("version", pa.string()),
        ("snapshot", pa.string()),
        ("status", pa.string()),
        *((name, JUDGED_TYPE.field(name).type) for name in ("ids", "grades", "weights", "items")),
        ("evidence", pa.list_(pa.string())),
    ]
)
"""Judgments of live records; ``status``: judged, refused (the answer declines), abstained
(nothing to look for) or failed. ``evidence``: per judged id, what it was judged by."""
FACETED_JUDGMENT_SCHEMA = JUDGMENT_SCHEMA.append(JUDGED_TYPE.field("facets"))
"""The same by a judge that knows facets (METRICS 5), with one column more: per judged id the facet
that its grade is of, null for the grade of the whole."""


@dataclass(frozen=True, slots=True)
class Document:
    """A source text. ``text`` is decoded, without BOM, line ends untouched; offsets refer to it."""

    doc_id: str
    text: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """What is retrieved: ``text == document.text[start:end]`` (code points, half-open).

    ``context`` (title or heading path) is searched and embedded in front of the text but is not
    part of it.
    """

    id: str
    doc_id: str
    start: int
    end: int
    tokens: int
    text: str
    context: str = ""

    @property
    def searchable(self) -> str:
        """The text that retrievers index: context, a space, text."""
        return f"{self.context} {self.text}" if self.context else self.text


@dataclass(frozen=True, slots=True)
class GoldSpan:
    """One gold place: a chunk or document id, or a span of a document; grades 0-3 by habit.

    Exactly one of ``id`` (a chunk, or a document that holds chunks) and ``doc_id`` is set. With
    ``doc_id``: ``start``/``end`` (code points, half-open) or ``quote`` name a span of it; neither
    names the whole document.
    """

    id: str | None = None
    doc_id: str | None = None
    start: int | None = None
    end: int | None = None
    quote: str | None = None
    grade: float = 1.0
    facets: Mapping[str, float] = field(default_factory=dict)


QueryField = Literal[
    "query_id",
    "query",
    "gold",
    "gold_ids",
    "group",
    "answerable",
    "category",
    "language",
    "frequency",
    "answer",
    "source",
    "labels",
]
"""What a row of an evaluation set may hold."""


@dataclass(frozen=True, slots=True)
class EvalQuery:
    """One query of an evaluation set. ``gold`` is a tuple of items; an item is a tuple of
    alternatives (METRICS 1.8, groups).
    """

    query_id: str
    query: str
    gold: tuple[tuple[GoldSpan, ...], ...] = ()
    group: str | None = None
    answerable: bool = True
    category: str | None = None
    language: str | None = None
    frequency: int | None = None
    answer: str | None = None
    source: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What else is worth slicing by."""


@dataclass(frozen=True, slots=True)
class Hits:
    """What one stage returned for one query, best first; the lists are parallel.

    ``texts`` is what the stage showed (kept for services whose corpus we do not have).
    """

    ids: tuple[str | None, ...] = ()
    scores: tuple[float, ...] | None = None
    doc_ids: tuple[str | None, ...] | None = None
    texts: tuple[str | None, ...] | None = None
    top_k: int | None = None
    top_n: int | None = None
    took_ms: float | None = None
    status: Status = "ok"
    error: str | None = None
    truncated: tuple[bool, ...] | None = None
    scores_are_ranks: bool = False
    """The scores only encode a rank (RRF), so that no threshold on them means anything."""


def chunk_id(doc_id: str, text: str, occurrence: int = 0) -> str:
    """Stable id of a chunk: 16 hex digits of SHA-256 over document id, text and occurrence.

    ``occurrence`` counts equal texts within one document from 0, so inserting a paragraph
    elsewhere changes no other id (METRICS 1.6, DESIGN 2).

    >>> chunk_id("a.md", "hello") == chunk_id("a.md", "hello", 0)
    True
    >>> chunk_id("a.md", "hello", 1) == chunk_id("a.md", "hello")
    False
    """
    digest = hashlib.sha256()
    for part in (doc_id, text, str(occurrence)):
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "little"))
        digest.update(encoded)
    return digest.hexdigest()[:16]


def record_schema(
    stages: Sequence[str], extra: Iterable[pa.Field] = (), rank_scores: Sequence[str] = ()
) -> pa.Schema:
    """Schema of a record batch with these stages, in order; of ``rank_scores`` the scores only
    encode a rank.

    >>> record_schema(["retrieve"]).field("retrieve").type == STAGE_TYPE
    True
    """
    extra = list(extra)
    taken = {*BASE_FIELDS, *(column.name for column in extra)}
    for stage in stages:
        if stage in taken:
            raise DataError(
                f"stage name {stage!r} is a fixed column name of a record",
                hint="rename the stage, for example to 'retrieve'",
            )
    fields = [pa.field(name, kind) for name, kind in BASE_FIELDS.items()]
    fields += [pa.field(stage, STAGE_TYPE) for stage in stages]
    fields += extra
    metadata = {VERSION_KEY: str(SCHEMA_VERSION), STAGES_KEY: json.dumps(list(stages))}
    if rank_scores:
        metadata[RANK_SCORES_KEY] = json.dumps(list(rank_scores))
    return pa.schema(fields, metadata=metadata)


def rank_score_stages(schema: pa.Schema) -> list[str]:
    """The stages whose scores only encode a rank, as the schema's metadata names them.

    >>> rank_score_stages(record_schema(["retrieve"], rank_scores=["retrieve"]))
    ['retrieve']
    """
    raw = (schema.metadata or {}).get(RANK_SCORES_KEY)
    return [] if raw is None else [str(name) for name in json.loads(raw)]


def stages_of(schema: pa.Schema) -> list[str]:
    """Names of the stages in a record schema, in pipeline order.

    The order stands in the schema's metadata; without it, every struct column with an ``ids``
    member except ``judged`` is a stage, in column order.

    >>> stages_of(record_schema(["retrieve", "rerank"]))
    ['retrieve', 'rerank']
    """
    raw = (schema.metadata or {}).get(STAGES_KEY)
    if raw is not None:
        return [name for name in json.loads(raw) if name in schema.names]
    found: list[str] = []
    for column in schema:
        if column.name in BASE_FIELDS or not pa.types.is_struct(column.type):
            continue
        if column.type.get_field_index("ids") >= 0:
            found.append(column.name)
    return found


def hits_row(hits: Hits) -> dict[str, Any]:
    """A :class:`Hits` as the struct value of its stage column."""
    return {
        "ids": list(hits.ids),
        "scores": None if hits.scores is None else list(hits.scores),
        "doc_ids": None if hits.doc_ids is None else list(hits.doc_ids),
        "top_k": hits.top_k,
        "top_n": hits.top_n,
        "took_ms": hits.took_ms,
        "status": hits.status,
        "error": hits.error,
        "truncated": None if hits.truncated is None else list(hits.truncated),
    }
