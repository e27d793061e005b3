"""Spans by OpenTelemetry's conventions for generative AI (``gen_ai.*``), and what is built on them.

The conventions (still in development) know ``retrieval``, with query text, top_k and documents with
id and score, and models; for rerankers there is none yet, so the widely used ``gen_ai.rerank.*`` is
read. Documents and messages are opt-in; they come as objects, as JSON text, or in the attributes of
an event.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ragnostic.gateway.json_words import answer_in
from ragnostic.gateway.openinference import listed
from ragnostic.gateway.span_hits import Named, span_hits
from ragnostic.gateway.span_reading import Role, SpanHit
from ragnostic.gateway.spans import SpanEvent

OPERATION = "gen_ai.operation.name"
SPAN_KIND = "gen_ai.span.kind"
_OPERATIONS: Mapping[str, Role] = {
    "retrieval": "retriever",
    **dict.fromkeys(("rerank", "rerank_documents", "reranking"), "reranker"),
    **dict.fromkeys(("chat", "generate_content", "text_completion"), "llm"),
    "embeddings": "embedding",
    "invoke_agent": "agent",
    "invoke_workflow": "chain",
}
_KINDS: Mapping[str, Role] = {
    "RETRIEVER": "retriever",
    "RERANKER": "reranker",
    "LLM": "llm",
    "EMBEDDING": "embedding",
    "AGENT": "agent",
    "CHAIN": "chain",
    "ENTRY": "chain",
}
_MODELS = ("gen_ai.response.model", "gen_ai.request.model")
_SESSIONS = ("gen_ai.conversation.id", "gen_ai.session.id", "session.id")
_USERS = ("user.id", "enduser.id", "gen_ai.user.id")
_TOP_K = ("gen_ai.retrieval.top_k", "gen_ai.rerank.top_n", "gen_ai.request.top_k")
_TEXTS = ("content", "text", "page_content")


def gen_ai_fields(
    attributes: Mapping[str, Any], events: Sequence[SpanEvent] = ()
) -> dict[str, Any]:
    """The fields of a reading that these attributes give; empty where they are none of the kind.

    >>> found = gen_ai_fields(
    ...     {
    ...         "gen_ai.operation.name": "retrieval",
    ...         "gen_ai.retrieval.query.text": "how long?",
    ...         "gen_ai.retrieval.documents": [{"id": "d1", "score": 0.5}],
    ...         "gen_ai.retrieval.top_k": 10,
    ...     }
    ... )
    >>> found["role"], found["query"], found["documents"][0].score, found["top_k"]
    ('retriever', 'how long?', 0.5, 10)
    """
    role = _role(attributes)
    if role is None:
        return {}
    told = {**_of_events(events), **attributes}
    found: dict[str, Any] = {
        "role": role,
        "model": _first(told, _MODELS),
        "session_id": _first(told, _SESSIONS),
        "user_id": _first(told, _USERS),
        "labels": _labels(told),
    }
    if role == "retriever":
        found["query"] = _first(told, ("gen_ai.retrieval.query.text",))
        found["documents"] = _hits(told.get("gen_ai.retrieval.documents"))
        found["top_k"] = _count(told)
    elif role == "reranker":
        found["documents"] = _hits(told.get("gen_ai.rerank.output_documents"))
        found["candidates"] = _hits(told.get("gen_ai.rerank.input_documents"))
        found["top_k"] = _count(told)
    elif role in ("llm", "agent", "chain"):
        asked = told.get("gen_ai.input.messages")
        found["answer"] = _said(told.get("gen_ai.output.messages")) or _choice(told)
        found["prompt"] = (_said(asked) or _prompt(told)) if role == "llm" else None
        found["query"] = None if role == "llm" else _said(asked, ("user",), last=True)
    return {name: value for name, value in found.items() if value is not None}


def _role(attributes: Mapping[str, Any]) -> Role | None:
    kind = _KINDS.get(str(attributes.get(SPAN_KIND, "")).upper())
    if kind is not None:
        return kind
    operation = attributes.get(OPERATION)
    return None if operation is None else _OPERATIONS.get(str(operation).lower(), "other")


def _of_events(events: Sequence[SpanEvent]) -> dict[str, Any]:
    """What events say, later ones over earlier ones."""
    found: dict[str, Any] = {}
    for event in events:
        found |= {
            key: value for key, value in event.attributes.items() if key.startswith("gen_ai.")
        }
    return found


def _hits(value: Any) -> tuple[SpanHit, ...] | None:
    if not isinstance(value, list):
        return None
    return span_hits([_named(item) for item in value])


def _named(item: Any) -> Named:
    """Beyond id and score the conventions leave a document open: metadata is all the rest."""
    if not isinstance(item, Mapping):
        return Named(text=item)
    text = next((item[name] for name in _TEXTS if isinstance(item.get(name), str)), None)
    metadata = item.get("metadata")
    rest = {key: value for key, value in item.items() if key not in ("id", "score", *_TEXTS)}
    return Named(item.get("id"), text, item.get("score"), rest if metadata is None else metadata)


def _said(messages: Any, roles: tuple[str, ...] = (), *, last: bool = False) -> str | None:
    """What messages say, one below the other: ``{"role", "parts": [{"type", "content"}]}``."""
    if not isinstance(messages, list):
        return answer_in(messages) if isinstance(messages, str) else None
    said = [
        "\n".join(texts)
        for message in messages
        if isinstance(message, Mapping) and (not roles or message.get("role") in roles)
        if (texts := list(_parts(message)))
    ]
    return "\n".join(said[-1:] if last else said) or None


def _parts(message: Mapping[str, Any]) -> Iterator[str]:
    parts = message.get("parts", message.get("content"))
    for part in [parts] if isinstance(parts, str) else parts if isinstance(parts, list) else ():
        text = part.get("content", part.get("text")) if isinstance(part, Mapping) else part
        kind = part.get("type", "text") if isinstance(part, Mapping) else "text"
        if isinstance(text, str) and text.strip() and kind in ("text", "tool_call_response"):
            yield text


def _choice(told: Mapping[str, Any]) -> str | None:
    """Older forms: ``gen_ai.completion`` as text, or in flattened names."""
    return _older(told, "gen_ai.completion")


def _prompt(told: Mapping[str, Any]) -> str | None:
    return _older(told, "gen_ai.prompt")


def _older(told: Mapping[str, Any], name: str) -> str | None:
    whole = told.get(name)
    if isinstance(whole, str):
        return whole
    said = [item.get("content") for item in listed(told, name)]
    return "\n".join(text for text in said if isinstance(text, str)) or None


def _labels(told: Mapping[str, Any]) -> dict[str, str]:
    source = told.get("gen_ai.data_source.id")
    return {} if source is None else {"data_source": str(source)}


def _first(told: Mapping[str, Any], names: Iterable[str]) -> str | None:
    said = (told.get(name) for name in names)
    return next((str(one) for one in said if isinstance(one, str | int) and str(one).strip()), None)


def _count(told: Mapping[str, Any]) -> int | None:
    """``gen_ai.request.top_k`` was a floating number once."""
    for name in _TOP_K:
        value = told.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and value >= 1:
            return int(value)
    return None
