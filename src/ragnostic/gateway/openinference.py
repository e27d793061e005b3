"""Spans in OpenInference form: RETRIEVER, RERANKER, LLM, EMBEDDING, AGENT and CHAIN.

Lists stand in flattened names (``retrieval.documents.0.document.id``), or as lists where an
export has put them together again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ragnostic.gateway.json_words import answer_in, depth_in, query_in
from ragnostic.gateway.span_hits import Named, span_hits
from ragnostic.gateway.span_reading import Role, SpanHit
from ragnostic.gateway.span_values import opened_json

KIND = "openinference.span.kind"
_ROLES: Mapping[str, Role] = {
    "RETRIEVER": "retriever",
    "RERANKER": "reranker",
    "LLM": "llm",
    "EMBEDDING": "embedding",
    "AGENT": "agent",
    "CHAIN": "chain",
}
_SIGNS: tuple[tuple[str, Role], ...] = (
    ("retrieval.documents", "retriever"),
    ("reranker.", "reranker"),
)
_MODELS = ("llm.response.model_name", "llm.model_name", "embedding.model_name")
_HIDDEN = "__REDACTED__"
_WHOLE = ("metadata", "document.metadata")


def openinference_fields(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a reading that these attributes give; empty where they are none of the kind.

    >>> found = openinference_fields(
    ...     {
    ...         "openinference.span.kind": "RETRIEVER",
    ...         "input.value": "how long?",
    ...         "retrieval.documents.0.document.id": "d1",
    ...         "retrieval.documents.0.document.score": 0.5,
    ...     }
    ... )
    >>> found["role"], found["query"], found["documents"][0].id
    ('retriever', 'how long?', 'd1')
    """
    role = _role(attributes)
    if role is None:
        return {}
    given, put_out = _text(attributes.get("input.value")), _text(attributes.get("output.value"))
    found: dict[str, Any] = {
        "role": role,
        "query": query_in(given),
        "model": next((str(attributes[name]) for name in _MODELS if name in attributes), None),
        "session_id": _id(attributes.get("session.id")),
        "user_id": _id(attributes.get("user.id")),
        "labels": _labels(attributes),
    }
    if role == "retriever":
        hidden = put_out == _HIDDEN
        found["documents"] = None if hidden else _hits(attributes, "retrieval.documents") or ()
        found["top_k"] = depth_in(given)
        # A service that retrieves and answers in one call: its output is words of a model.
        found["answer"] = put_out if found["model"] and opened_json(put_out or "") is None else None
    elif role == "reranker":
        found["documents"] = _hits(attributes, "reranker.output_documents")
        found["candidates"] = _hits(attributes, "reranker.input_documents")
        found["query"] = _text(attributes.get("reranker.query")) or found["query"]
        found["top_k"] = _count(attributes.get("reranker.top_k"))
        found["model"] = _text(attributes.get("reranker.model_name"))
    elif role == "llm":
        found["answer"] = _messages(attributes, "llm.output_messages") or answer_in(put_out)
        found["prompt"] = _messages(attributes, "llm.input_messages") or given
        found["query"] = None
    elif role in ("agent", "chain"):
        found["answer"] = answer_in(put_out)
    return {name: value for name, value in found.items() if value not in (None, _HIDDEN)}


def listed(attributes: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """The members of a list of objects, each flat.

    >>> listed({"docs.1.id": "b", "docs.0.id": "a", "docs.0.meta.x": 1}, "docs")
    [{'id': 'a', 'meta.x': 1}, {'id': 'b'}]
    >>> listed({"docs": [{"document": {"id": "a"}}]}, "docs")
    [{'document.id': 'a'}]
    """
    whole = attributes.get(name)
    if isinstance(whole, list):
        return [dict(_flat(item, "")) for item in whole if isinstance(item, Mapping)]
    found: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        if not key.startswith(f"{name}."):
            continue
        place, _, rest = key[len(name) + 1 :].partition(".")
        if place.isdecimal() and rest and len(place) < 10:
            found.setdefault(int(place), {}).update(_flat(value, rest))
    return [found[place] for place in sorted(found)]


def _role(attributes: Mapping[str, Any]) -> Role | None:
    kind = attributes.get(KIND)
    if kind is not None:
        return _ROLES.get(str(kind).upper(), "other")
    signs = (role for sign, role in _SIGNS if any(key.startswith(sign) for key in attributes))
    return next(signs, None)


def _hits(attributes: Mapping[str, Any], name: str) -> tuple[SpanHit, ...] | None:
    items = listed(attributes, name)
    if not items and name not in attributes:
        return None
    names = ("id", "content", "score", "metadata")
    return span_hits([Named(*(item.get(f"document.{own}") for own in names)) for item in items])


def _messages(attributes: Mapping[str, Any], name: str) -> str | None:
    """What the messages say, one below the other."""
    said: list[str] = []
    for message in listed(attributes, name):
        parts = [message.get("message.content")]
        parts += [part.get("message_content.text") for part in listed(message, "message.contents")]
        said += [part for part in parts if isinstance(part, str) and part.strip()]
    return "\n".join(said) or None


def _labels(attributes: Mapping[str, Any]) -> dict[str, str]:
    metadata = attributes.get("metadata")
    opened = opened_json(metadata) if isinstance(metadata, str) else metadata
    found = dict(plain_labels(opened)) if isinstance(opened, Mapping) else {}
    tags = attributes.get("tag.tags")
    if isinstance(tags, list) and tags:
        found["tags"] = ", ".join(str(tag) for tag in tags)
    return found


def plain_labels(values: Mapping[Any, Any]) -> Iterator[tuple[str, str]]:
    """Members that are one text, number or truth value."""
    for name, value in values.items():
        if isinstance(value, bool):
            yield str(name), "true" if value else "false"
        elif isinstance(value, str | int | float):
            yield str(name), str(value)


def _flat(value: Any, path: str) -> Iterable[tuple[str, Any]]:
    inner: Iterable[tuple[Any, Any]]
    if isinstance(value, Mapping) and path not in _WHOLE:
        inner = value.items()
    elif isinstance(value, list) and value and isinstance(value[0], Mapping):
        inner = enumerate(value)
    else:
        return [(path, value)]
    return [
        pair for key, item in inner for pair in _flat(item, f"{path}.{key}" if path else str(key))
    ]


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _id(value: Any) -> str | None:
    return str(value) if isinstance(value, str | int) and str(value).strip() else None


def _count(value: Any) -> int | None:
    return value if type(value) is int and value > 0 else None
