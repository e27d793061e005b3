"""What a span says of retrieval, whatever convention it is written in; the form in which spans
wait for their trace.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from ragnostic.gateway.span_values import Cut

Role = Literal["retriever", "reranker", "llm", "embedding", "agent", "chain", "other"]
ROLES: tuple[Role, ...] = (
    "retriever",
    "reranker",
    "llm",
    "embedding",
    "agent",
    "chain",
    "other",
)


@dataclass(frozen=True, slots=True)
class SpanHit:
    """A document that a span names. ``made`` says that the id is the hash of its text."""

    id: str | None
    doc_id: str | None = None
    text: str | None = None
    score: float | None = None
    made: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """What one span says. ``documents`` are what it returned, ``candidates`` what it was given
    (rerankers), None where it does not say; ``answer`` what it put out, in words; ``prompt`` what
    a model was shown; ``cuts`` the true lengths of what was cut, by attribute.
    """

    trace_id: str
    span_id: str
    parent_id: str | None = None
    name: str = ""
    start_ns: int = 0
    end_ns: int = 0
    error: str | None = None
    role: Role = "other"
    query: str | None = None
    documents: tuple[SpanHit, ...] | None = None
    candidates: tuple[SpanHit, ...] | None = None
    top_k: int | None = None
    answer: str | None = None
    prompt: str | None = None
    model: str | None = None
    session_id: str | None = None
    user_id: str | None = None
    service: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    cuts: Mapping[str, Cut] = field(default_factory=dict)

    @property
    def detail(self) -> int:
        """How much the span says: of two versions of a span the one that says more is kept, and
        with each span a trace says more.

        >>> Reading("t", "s", end_ns=5, query="q").detail - Reading("t", "s").detail
        2
        """
        plain = (self.parent_id, self.start_ns, self.end_ns, self.error, self.query, self.top_k)
        more = (self.answer, self.prompt, self.model, self.session_id, self.user_id, self.service)
        lists = [hits for hits in (self.documents, self.candidates) if hits is not None]
        said = sum(bool(value) for value in (*plain, *more)) + (self.role != "other")
        return 1 + said + len(self.labels) + sum(1 + len(hits) for hits in lists)


_FIELDS = tuple(one.name for one in fields(Reading))
_HITS = ("documents", "candidates")


def text_id(text: str) -> str:
    r"""The id of a document that came without one: 16 hex digits of SHA-256 over its text after
    NFKC, white space made single spaces.

    >>> text_id("Ｆive  days\n") == text_id("Five days")
    True
    """
    plain = " ".join(unicodedata.normalize("NFKC", text).split())
    return hashlib.sha256(plain.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def plain(text: str | None) -> str:
    r"""A text for looking it up in a prompt: white space made one space, JSON escapes undone.

    >>> plain('five\ndays \\n \\"off\\"')
    'five days "off"'
    """
    return " ".join((text or "").replace("\\n", " ").replace('\\"', '"').split())


def to_payload(reading: Reading) -> bytes:
    """A reading as JSON.

    >>> from_payload(to_payload(Reading("t", "s", documents=(SpanHit("d"),)))).documents[0].id
    'd'
    """
    values: dict[str, Any] = {name: getattr(reading, name) for name in _FIELDS}
    for name in _HITS:
        if values[name] is not None:
            values[name] = [
                (hit.id, hit.doc_id, hit.text, hit.score, hit.made) for hit in values[name]
            ]
    return json.dumps(values, ensure_ascii=False, sort_keys=True).encode()


def from_payload(payload: bytes) -> Reading:
    """The reading in a payload of :func:`to_payload`."""
    values: dict[str, Any] = json.loads(payload)
    for name in _HITS:
        if values[name] is not None:
            values[name] = tuple(SpanHit(*hit) for hit in values[name])
    values["cuts"] = {name: Cut(*cut) for name, cut in values["cuts"].items()}
    return Reading(**values)


def masked(reading: Reading, mask: Callable[[str], str]) -> Reading:
    """The reading with every text masked; ids, hashes, names and numbers as they are.

    >>> masked(Reading("t", "s", query="a", session_id="a"), lambda text: text + "!").query
    'a!'
    """

    def text(value: str | None) -> str | None:
        return None if value is None else mask(value)

    def hits(found: tuple[SpanHit, ...] | None) -> tuple[SpanHit, ...] | None:
        return found and tuple(replace(hit, text=text(hit.text)) for hit in found)

    return replace(
        reading,
        name=mask(reading.name),
        error=text(reading.error),
        query=text(reading.query),
        documents=hits(reading.documents),
        candidates=hits(reading.candidates),
        answer=text(reading.answer),
        prompt=text(reading.prompt),
        labels={name: mask(value) for name, value in reading.labels.items()},
    )


def fuller(one: Reading, other: Reading) -> Reading:
    """The version of a span that says more; of two that say as much, always the same one.

    >>> fuller(Reading("t", "s"), Reading("t", "s", end_ns=9)).end_ns
    9
    """
    return max(one, other, key=lambda reading: (reading.detail, to_payload(reading)))
