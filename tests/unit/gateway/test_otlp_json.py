"""OTLP in JSON: hexadecimal ids, numbers as text, unknown fields passed over, faults alone."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.corpus.strict_json import RowError
from ragnostic.gateway.otlp_json import decode_json

TRACE, SPAN = "5B8EFFF798038103D269B633813FC60C", "EEE19B7EC3C1B174"


def request(*spans, resource=None):
    """A request body with these spans."""
    groups = [{"resource": resource or {}, "scopeSpans": [{"spans": list(spans)}]}]
    return json.dumps({"resourceSpans": groups}).encode()


def one(**fields):
    """The only span of a request."""
    (span,) = decode_json(request({"traceId": TRACE, "spanId": SPAN, **fields})).spans
    return span


def attribute(value):
    """A value as it comes out of an attribute."""
    return one(attributes=[{"key": "k", "value": value}]).attributes.get("k")


def test_a_span_with_all_its_fields():
    """Names in lowerCamelCase, ids in any case, 64-bit numbers as text or as numbers."""
    span = one(
        parentSpanId="eee19b7ec3c1b173",
        name="I'm a server span",
        kind=2,
        startTimeUnixNano="1544712660000000000",
        endTimeUnixNano=1544712661000000000,
        status={"code": 2, "message": "no"},
        events=[{"name": "e", "timeUnixNano": "5", "attributes": []}],
        droppedAttributesCount=1,
        someday={"new": True},
    )
    assert span.trace_id == TRACE.lower()
    assert span.kind == "server"
    assert span.end_ns - span.start_ns == 10**9
    assert (span.status.code, span.status.message) == ("error", "no")
    assert span.events[0].time_ns == 5


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ({"stringValue": "a"}, "a"),
        ({"boolValue": True}, True),
        ({"intValue": "-9007199254740993"}, -9007199254740993),
        ({"intValue": 7}, 7),
        ({"intValue": 7.0}, 7),
        ({"doubleValue": 0.5}, 0.5),
        ({"doubleValue": "0.5"}, 0.5),
        ({"doubleValue": "NaN"}, None),
        ({"doubleValue": "-Infinity"}, None),
        ({"bytesValue": base64.b64encode(b"\x00\xff").decode()}, b"\x00\xff"),
        ({"arrayValue": {"values": [{"intValue": 1}, {"stringValue": "b"}, {}]}}, [1, "b", None]),
        ({"arrayValue": {}}, []),
        ({"kvlistValue": {"values": [{"key": "a", "value": {"intValue": 1}}]}}, {"a": 1}),
        ({"stringValue": None, "intValue": 1}, 1),
        ({"someValue": 1}, None),
        ({}, None),
    ],
)
def test_values_of_every_kind(written, read):
    """As the mapping of protobuf to JSON writes them."""
    assert attribute(written) == read


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"traceId": "AAAA"}, "trace id 'AAAA'"),
        ({"traceId": 7}, "traceId must be a string, not a number"),
        ({"spanId": None}, "span id ''"),
        ({"attributes": {}}, "attributes must be an array"),
        ({"attributes": ["x"]}, "attributes must be an object"),
        ({"attributes": [{"key": "k", "value": {"stringValue": 7}}]}, "must be a string"),
        ({"attributes": [{"key": "k", "value": {"boolValue": 1}}]}, "must be a boolean"),
        ({"attributes": [{"key": "k", "value": {"intValue": "7.5"}}]}, "intValue"),
        ({"attributes": [{"key": "k", "value": {"intValue": True}}]}, "intValue"),
        ({"attributes": [{"key": "k", "value": {"intValue": [1]}}]}, "intValue"),
        ({"attributes": [{"key": "k", "value": {"intValue": 2**70}}]}, "intValue"),
        ({"attributes": [{"key": "k", "value": {"doubleValue": "x"}}]}, "doubleValue"),
        ({"attributes": [{"key": "k", "value": {"doubleValue": False}}]}, "doubleValue"),
        ({"attributes": [{"key": "k", "value": {"bytesValue": "?"}}]}, "no base64"),
        ({"attributes": [{"key": "k", "value": {"bytesValue": 7}}]}, "no base64"),
        ({"attributes": [{"key": "k", "value": {"arrayValue": 7}}]}, "arrayValue"),
        ({"startTimeUnixNano": "soon"}, "startTimeUnixNano"),
        ({"kind": "SPAN_KIND_NONSENSE"}, "kind"),
        ({"status": 2}, "status must be an object"),
    ],
)
def test_a_span_that_is_none_costs_only_itself(fields, reason):
    """Its neighbours are taken, its fault is told."""
    good = {"traceId": TRACE, "spanId": "AA" * 8}
    decoded = decode_json(request({"traceId": TRACE, "spanId": SPAN, **fields}, good, 7))
    assert [span.span_id for span in decoded.spans] == ["aa" * 8]
    assert reason in decoded.refused[0]
    assert "a span must be an object" in decoded.refused[1]


def test_names_of_enums_are_understood():
    """The protocol forbids them; some senders write them."""
    span = one(kind="SPAN_KIND_CLIENT", status={"code": "STATUS_CODE_ERROR"})
    assert (span.kind, span.status.code) == ("client", "error")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "not valid JSON"),
        (b"\xff\xfe\xfa", "not UTF-8"),
        (b'{"a": NaN}', "NaN is no JSON number"),
        (b"[]", "the request must be an object, not an array"),
        (b'{"resourceSpans": {}}', "resourceSpans must be an array"),
        (b'{"resourceSpans": [7]}', "resourceSpans must be an object"),
        (b'{"resourceSpans": [{"scopeSpans": 7}]}', "scopeSpans"),
        (b'{"resourceSpans": [{"resource": 7}]}', "resource must be an object"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_a_body_that_is_no_request_is_refused(body, reason):
    """Whole, with the reason."""
    with pytest.raises(RowError, match=reason):
        decode_json(body)


def test_an_empty_request_holds_no_spans():
    """It is a success by the protocol."""
    assert decode_json(b"{}") == ((), ())
    assert decode_json(b'{"resourceSpans": [{}]}') == ((), ())


def test_values_nested_without_end_are_refused():
    """The span is, the request is not."""
    value = {"intValue": 1}
    for _ in range(100):
        value = {"arrayValue": {"values": [value]}}
    decoded = decode_json(
        request({"traceId": TRACE, "spanId": SPAN, "attributes": [{"key": "k", "value": value}]})
    )
    assert decoded.spans == ()
    assert "nested" in decoded.refused[0]


def test_the_resource_goes_with_each_span():
    """service.name is of the process, not of the span."""
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]}
    (span,) = decode_json(request({"traceId": TRACE, "spanId": SPAN}, resource=resource)).spans
    assert span.resource == {"service.name": "shop"}


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(JSON, JSON, JSON)
def test_any_json_is_read_or_refused(span, attributes, value):
    """Nothing else is ever raised."""
    odd = {"traceId": TRACE, "spanId": SPAN, "attributes": attributes, "events": value}
    valued = {**odd, "attributes": [{"key": "k", "value": value}], "events": attributes}
    decoded = decode_json(request(span, odd, valued))
    assert len(decoded.spans) + len(decoded.refused) == 3
