"""OTLP in protobuf says the same as OTLP in JSON."""

from __future__ import annotations

import base64
import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue

from ragnostic.corpus.strict_json import RowError
from ragnostic.gateway.otlp_json import decode_json
from ragnostic.gateway.otlp_protobuf import decode_protobuf

TRACE, SPAN = bytes(range(16)), bytes(range(1, 9))
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT
    | st.binary(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


SCALARS = {
    bool: ("bool_value", "boolValue", bool),
    int: ("int_value", "intValue", str),
    float: ("double_value", "doubleValue", float),
    str: ("string_value", "stringValue", str),
    bytes: ("bytes_value", "bytesValue", lambda value: base64.b64encode(value).decode()),
}


def any_value(value):
    """A value as protobuf."""
    found = AnyValue()
    if type(value) in SCALARS:
        setattr(found, SCALARS[type(value)][0], value)
    elif isinstance(value, list):
        found.array_value.SetInParent()
        found.array_value.values.extend([any_value(item) for item in value])
    elif isinstance(value, dict):
        found.kvlist_value.SetInParent()
        found.kvlist_value.values.extend(
            [KeyValue(key=key, value=any_value(item)) for key, item in value.items()]
        )
    return found


def json_value(value):
    """A value as JSON."""
    if type(value) in SCALARS:
        _, name, write = SCALARS[type(value)]
        return {name: write(value)}
    if isinstance(value, list):
        return {"arrayValue": {"values": [json_value(item) for item in value]}}
    pairs = [{"key": key, "value": json_value(item)} for key, item in (value or {}).items()]
    return {} if value is None else {"kvlistValue": {"values": pairs}}


@given(
    attributes=st.dictionaries(TEXT, VALUES, max_size=4),
    name=TEXT,
    start=st.integers(0, 2**64 - 1),
    kind=st.integers(0, 5),
    status=st.integers(0, 2),
)
def test_both_encodings_give_the_same_spans(attributes, name, start, kind, status):
    """Any attributes, names and times."""
    request = ExportTraceServiceRequest()
    group = request.resource_spans.add()
    group.resource.attributes.add(key="service.name", value=any_value("shop"))
    span = group.scope_spans.add().spans.add(
        trace_id=TRACE,
        span_id=SPAN,
        parent_span_id=b"\x07" * 8,
        name=name,
        kind=kind,
        start_time_unix_nano=start,
        end_time_unix_nano=9,
    )
    span.status.code, span.status.message = status, name
    span.attributes.extend([KeyValue(key=k, value=any_value(v)) for k, v in attributes.items()])
    span.events.add(name="e", time_unix_nano=3)
    pairs = [{"key": key, "value": json_value(value)} for key, value in attributes.items()]
    written = {
        "traceId": TRACE.hex(),
        "spanId": SPAN.hex().upper(),
        "parentSpanId": "07" * 8,
        "name": name,
        "kind": kind,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": 9,
        "attributes": pairs,
        "status": {"code": status, "message": name},
        "events": [{"name": "e", "timeUnixNano": "3"}],
    }
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]}
    body = {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": [written]}]}]}
    assert decode_protobuf(request.SerializeToString()) == decode_json(json.dumps(body))


def test_a_span_that_is_none_costs_only_itself():
    """Ids of the wrong length."""
    request = ExportTraceServiceRequest()
    spans = request.resource_spans.add().scope_spans.add().spans
    spans.add(trace_id=TRACE[:5], span_id=SPAN)
    spans.add(trace_id=TRACE, span_id=SPAN)
    decoded = decode_protobuf(request.SerializeToString())
    assert [span.span_id for span in decoded.spans] == [SPAN.hex()]
    assert decoded.refused == ("the trace id '0001020304' is none",)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(body):
    """Nothing else is ever raised."""
    with contextlib.suppress(RowError):
        decoded = decode_protobuf(body)
        assert all(len(span.trace_id) == 32 for span in decoded.spans)


def test_bytes_that_are_no_request_are_refused():
    """Whole."""
    with pytest.raises(RowError, match="not valid protobuf"):
        decode_protobuf(b'{"resourceSpans": []}')
