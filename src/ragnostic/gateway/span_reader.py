"""A span to a reading: both conventions are read, since many services write both."""

from __future__ import annotations

from typing import Any

from ragnostic.gateway.gen_ai import gen_ai_fields
from ragnostic.gateway.openinference import openinference_fields
from ragnostic.gateway.span_reading import Reading
from ragnostic.gateway.spans import Span

_UNNAMED = "unknown_service"
_EVERYWHERE = {"session_id": ("session.id",), "user_id": ("user.id", "enduser.id")}
"""Fields that any span may have, one that only takes a request too."""


def read_span(span: Span) -> Reading:
    """What a span says of retrieval. Where both conventions speak, OpenInference is believed and
    the other fills its gaps.

    >>> from ragnostic.gateway.spans import make_span
    >>> read_span(make_span("ab" * 16, "cd" * 8, name="GET /")).role
    'other'
    """
    first = openinference_fields(span.attributes)
    second = gen_ai_fields(span.attributes, span.events)
    said: dict[str, Any] = {**second, **first}
    if not first.get("documents") and second.get("documents"):
        said["documents"] = second["documents"]
    if first.get("role") == "other" and "role" in second:
        said["role"] = second["role"]
    said["labels"] = {**second.get("labels", {}), **first.get("labels", {})}
    for field, names in _EVERYWHERE.items():
        told = (span.attributes.get(name) for name in names)
        said.setdefault(field, next((str(one) for one in told if one), None))
    service = span.resource.get("service.name")
    if isinstance(service, str) and not service.startswith(_UNNAMED):
        said["service"] = service
    return Reading(
        trace_id=span.trace_id,
        span_id=span.span_id,
        parent_id=span.parent_id,
        name=span.name,
        start_ns=span.start_ns,
        end_ns=span.end_ns,
        error=_error(span),
        cuts=span.cuts,
        **said,
    )


def _error(span: Span) -> str | None:
    if span.status.code != "error":
        return None
    raised = (event.attributes.get("exception.message") for event in reversed(span.events))
    told = next((message for message in raised if isinstance(message, str) and message), None)
    return span.status.message or told or "the span ended in an error"
