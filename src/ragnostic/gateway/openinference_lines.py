"""Files of spans, one JSON object a line: as OpenTelemetry's SDK writes a span, as a trace viewer
exports it (attributes nested or under ``attributes.…``), or OTLP requests.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from ragnostic.corpus.strict_json import RowError, parse_object
from ragnostic.errors import Fault
from ragnostic.gateway.otlp_json import decode_request
from ragnostic.gateway.span_values import MAX_VALUE_BYTES, Values
from ragnostic.gateway.spans import SPAN_KINDS, STATUS_CODES, Pairs, Span, make_span

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_KIND = "openinference.span.kind"
_MORE_DIGITS = re.compile(r"(\.\d{6})\d+")


def read_openinference_lines(
    lines: Iterable[str], source: str = "", limit: int = MAX_VALUE_BYTES
) -> Iterator[Span | Fault]:
    """The spans of a file, and a fault (``quarantined``) for each line or span that is none.

    >>> line = '{"context": {"trace_id": "0x%032x", "span_id": "0x%016x"}, "name": "q"}' % (1, 2)
    >>> span, fault = read_openinference_lines([line, "", "{"], "spans.jsonl")
    >>> span.name, span.span_id, fault.where
    ('q', '0000000000000002', 'spans.jsonl:3')
    """
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{source}:{number}"
        try:
            spans, refused = read_span_line(line, limit)
        except RowError as error:
            yield Fault("quarantined", str(error), where=where)
            continue
        yield from spans
        yield from (Fault("quarantined", reason, where=where) for reason in refused)


def read_span_line(
    line: str, limit: int = MAX_VALUE_BYTES
) -> tuple[tuple[Span, ...], tuple[str, ...]]:
    """The spans of one line, and why others in it were refused; raises RowError.

    Only a line that is an OTLP request can hold several.
    """
    row = parse_object(line)
    if "resourceSpans" in row:
        decoded = decode_request(row, limit)
        return decoded.spans, decoded.refused
    return (_span(row, limit),), ()


def _span(row: Mapping[str, Any], limit: int) -> Span:
    context = _mapping(row.get("context"), "context")
    status = row.get("status")
    state = (
        status if isinstance(status, Mapping) else {"status_code": row.get("status_code", status)}
    )
    resource = _mapping(row.get("resource"), "resource")
    events = row.get("events")
    return make_span(
        trace_id=_id(
            _first(context.get("trace_id"), row.get("context.trace_id"), row.get("trace_id"))
        ),
        span_id=_id(_first(context.get("span_id"), row.get("context.span_id"), row.get("span_id"))),
        parent_id=_id(_first(row.get("parent_id"), row.get("parent_span_id"))),
        name=str(_first(row.get("name"), "")),
        kind=_number(row.get("kind"), SPAN_KINDS),
        start_ns=_time(row.get("start_time"), "start_time"),
        end_ns=_time(row.get("end_time"), "end_time"),
        attributes=_attributes(row),
        resource=Values(limit).attributes(
            _mapping(resource.get("attributes"), "resource.attributes").items()
        ),
        status=_number(state.get("status_code"), STATUS_CODES),
        message=str(_first(state.get("description"), row.get("status_message"), "")),
        events=[_event(event) for event in events] if isinstance(events, list) else (),
        limit=limit,
    )


def _attributes(row: Mapping[str, Any]) -> Pairs:
    found = dict(_flat(_mapping(row.get("attributes"), "attributes"), ""))
    for name, value in row.items():
        if name.startswith("attributes."):
            found[name.removeprefix("attributes.")] = value
    if row.get("span_kind"):
        found.setdefault(_KIND, row["span_kind"])
    return found.items()


def _flat(value: Any, path: str) -> list[tuple[str, Any]]:
    """Nested names joined with dots; lists, and metadata, stay what they are."""
    if not isinstance(value, Mapping) or path.rpartition(".")[2] == "metadata":
        return [(path, value)]
    return [
        pair
        for name, inner in value.items()
        for pair in _flat(inner, f"{path}.{name}" if path else str(name))
    ]


def _event(event: Any) -> tuple[str, int, Pairs]:
    written = _mapping(event, "an event")
    attributes = _mapping(written.get("attributes"), "attributes")
    time = _time(written.get("timestamp"), "timestamp")
    return str(written.get("name", "")), time, attributes.items()


def _id(value: Any) -> str:
    """Ids stand with or without 0x in front."""
    return str(value or "").removeprefix("0x")


def _time(value: Any, name: str) -> int:
    """Nanoseconds of ISO 8601 text, or of a number of nanoseconds."""
    if value is None:
        return 0
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    try:
        moment = datetime.fromisoformat(_MORE_DIGITS.sub(r"\1", value))
    except (TypeError, ValueError):
        raise RowError(f"{name} {str(value)[:40]!r} is no ISO 8601 time") from None
    since = (
        moment.astimezone(UTC) - _EPOCH if moment.tzinfo else moment.replace(tzinfo=UTC) - _EPOCH
    )
    return (since.days * 86_400 + since.seconds) * 10**9 + since.microseconds * 1000


def _number(value: Any, names: tuple[str, ...]) -> int:
    """The number of a name such as ``SpanKind.INTERNAL`` or ``OK``."""
    if isinstance(value, int):
        return value
    name = str(value or "").rpartition(".")[2].rpartition("_")[2].lower()
    return names.index(name) if name in names else 0


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _mapping(value: Any, name: str) -> Mapping[str, Any]:
    if value is not None and not isinstance(value, Mapping):
        raise RowError(f"{name} must be an object")
    return value or {}
