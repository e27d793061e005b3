"""OTLP traces as JSON: protobuf's JSON mapping, but ids are hexadecimal and enums numbers.

Our own small reader, because the mapping of the protobuf library reads ids as base64. Unknown
fields are passed over, as the protocol demands.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ragnostic.corpus.strict_json import RowError, kind_of
from ragnostic.gateway.span_values import MAX_NESTING, MAX_VALUE_BYTES, Values
from ragnostic.gateway.spans import Decoded, Pairs, Span, make_span

_NAMED_ENUMS = {"kind": "SPAN_KIND_", "code": "STATUS_CODE_"}
_ENUMS = {
    "kind": ("UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"),
    "code": ("UNSET", "OK", "ERROR"),
}
_WHOLE = re.compile(r"-?[0-9]{1,20}")


def decode_json(body: bytes | str, limit: int = MAX_VALUE_BYTES) -> Decoded:
    """The spans of an ExportTraceServiceRequest in JSON.

    A span that is none costs only itself. Raises RowError where the body is no such request.

    >>> decode_json(b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "12"}]}]}]}')
    Decoded(spans=(), refused=("the span id '' is none",))
    """
    try:
        request = json.loads(body, parse_constant=_refuse)
    except UnicodeDecodeError as error:
        raise RowError(f"not UTF-8: byte {error.start}") from error
    except RecursionError as error:
        raise RowError("not valid JSON: nested too deeply") from error
    except ValueError as error:
        raise RowError(f"not valid JSON: {error}") from error
    return decode_request(request, limit)


def decode_request(request: Any, limit: int = MAX_VALUE_BYTES) -> Decoded:
    """The same of JSON that was parsed already."""
    spans: list[Span] = []
    refused: list[str] = []
    for group in _objects(_object(request, "the request"), "resourceSpans"):
        holder = _member(group, "resource", dict) or {}
        resource = Values(limit).attributes(_pairs(holder, "attributes"))
        for scope in _objects(group, "scopeSpans"):
            for written in _list(scope, "spans"):
                try:
                    spans.append(_span(_object(written, "a span"), resource, limit))
                except RowError as error:
                    refused.append(str(error))
    return Decoded(tuple(spans), tuple(refused))


def _span(written: Mapping[str, Any], resource: Mapping[str, Any], limit: int) -> Span:
    status = _member(written, "status", dict) or {}
    return make_span(
        trace_id=_text(written, "traceId"),
        span_id=_text(written, "spanId"),
        parent_id=_text(written, "parentSpanId"),
        name=_text(written, "name"),
        kind=_enum(written, "kind"),
        start_ns=_time(written, "startTimeUnixNano"),
        end_ns=_time(written, "endTimeUnixNano"),
        attributes=_pairs(written, "attributes"),
        resource=resource,
        status=_enum(status, "code"),
        message=_text(status, "message"),
        events=[
            (_text(event, "name"), _time(event, "timeUnixNano"), _pairs(event, "attributes"))
            for event in _objects(written, "events")
        ],
        limit=limit,
    )


def _pairs(holder: Mapping[str, Any], name: str, depth: int = 0) -> Pairs:
    return [
        (_text(pair, "key"), _value(_member(pair, "value", dict) or {}, depth))
        for pair in _objects(holder, name)
    ]


def _value(written: Mapping[str, Any], depth: int) -> Any:
    """An AnyValue: exactly one of its members is there, or none."""
    if depth > MAX_NESTING:
        raise RowError(f"an attribute is nested more than {MAX_NESTING} deep")
    for name, value in written.items():
        if value is None:
            continue
        if name == "arrayValue":
            items = _objects(_object(value, name), "values")
            return [_value(item, depth + 1) for item in items]
        if name == "kvlistValue":
            return dict(_pairs(_object(value, name), "values", depth + 1))
        if name in _SCALARS:
            return _SCALARS[name](name, value)
    return None


def _string(name: str, value: Any) -> str:
    found: str = _checked(name, value, str)
    return found


def _boolean(name: str, value: Any) -> bool:
    found: bool = _checked(name, value, bool)
    return found


def _integer(name: str, value: Any) -> int:
    """64-bit numbers are text in this mapping, but numbers are read too."""
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return int(value)
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if not whole or isinstance(value, bool) or abs(value) > 2**64:
        raise RowError(f"{name} must be a whole number of 64 bits, not {str(value)[:40]!r}")
    return int(value)


def _time(holder: Mapping[str, Any], name: str) -> int:
    value = holder.get(name)
    return 0 if value is None else _integer(name, value)


def _double(name: str, value: Any) -> float:
    """A number, or one of the texts NaN, Infinity and -Infinity."""
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            return float(value)
        except (ValueError, OverflowError):
            pass
    raise RowError(f"{name} must be a number, not {str(value)[:40]!r}")


def _bytes(name: str, value: Any) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise RowError(f"{name} is no base64") from None


_SCALARS: Mapping[str, Callable[[str, Any], Any]] = {
    "stringValue": _string,
    "boolValue": _boolean,
    "intValue": _integer,
    "doubleValue": _double,
    "bytesValue": _bytes,
}


def _enum(holder: Mapping[str, Any], name: str) -> int:
    """A number; the names that some senders write are known too."""
    value = holder.get(name) or 0
    if isinstance(value, str) and value.removeprefix(_NAMED_ENUMS[name]) in _ENUMS[name]:
        return _ENUMS[name].index(value.removeprefix(_NAMED_ENUMS[name]))
    return _integer(name, value)


def _text(holder: Mapping[str, Any], name: str) -> str:
    found: str = _member(holder, name, str) or ""
    return found


def _member(holder: Mapping[str, Any], name: str, kind: type) -> Any:
    value = holder.get(name)
    return None if value is None else _checked(name, value, kind)


def _checked(name: str, value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise RowError(f"{name} must be {kind_of(kind())}, not {kind_of(value)}")
    return value


def _objects(holder: Mapping[str, Any], name: str) -> Iterator[Mapping[str, Any]]:
    return (_object(item, name) for item in _list(holder, name))


def _list(holder: Mapping[str, Any], name: str) -> list[Any]:
    found: list[Any] = _member(holder, name, list) or []
    return found


def _object(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise RowError(f"{name} must be an object, not {kind_of(value)}")
    return value


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")
