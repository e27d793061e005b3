"""Files of spans, in the forms in which spans are written to files."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.corpus.strict_json import RowError
from ragnostic.errors import Fault
from ragnostic.gateway.openinference_lines import read_openinference_lines, read_span_line
from ragnostic.gateway.span_reader import read_span

TRACE, SPAN, PARENT = "ab" * 16, "cd" * 8, "ef" * 8
NS = 1_767_225_600 * 10**9


def one(**row):
    """The only span of a line."""
    spans, refused = read_span_line(json.dumps(row))
    assert refused == ()
    return spans[0]


def test_a_span_as_the_sdk_writes_it():
    """Ids with 0x, times as text, names of kinds and status."""
    span = one(
        name="r",
        context={"trace_id": f"0x{TRACE}", "span_id": f"0x{SPAN}", "trace_state": "[]"},
        kind="SpanKind.CLIENT",
        parent_id=f"0x{PARENT}",
        start_time="2026-01-01T00:00:00.000001Z",
        end_time="2026-01-01T08:00:00.000002003+08:00",
        status={"status_code": "ERROR", "description": "no"},
        attributes={"openinference.span.kind": "RETRIEVER"},
        events=[{"name": "e", "timestamp": "2026-01-01T00:00:00Z", "attributes": {"k": 1}}],
        resource={"attributes": {"service.name": "shop"}},
    )
    assert (span.trace_id, span.span_id, span.parent_id) == (TRACE, SPAN, PARENT)
    assert (span.start_ns, span.end_ns) == (NS + 1000, NS + 2000)
    assert (span.kind, span.status.code, span.status.message) == ("client", "error", "no")
    assert span.events[0].time_ns == NS
    assert span.resource == {"service.name": "shop"}


@pytest.mark.parametrize(
    "row",
    [
        {
            "context": {"trace_id": TRACE, "span_id": SPAN},
            "attributes": {
                "openinference": {"span": {"kind": "RETRIEVER"}},
                "input": {"value": "q"},
                "retrieval": {"documents": [{"document": {"id": "d", "metadata": {"a": 1}}}]},
            },
        },
        {
            "context.trace_id": TRACE,
            "context.span_id": SPAN,
            "span_kind": "RETRIEVER",
            "attributes.input.value": "q",
            "attributes.retrieval.documents": [{"document.id": "d"}],
        },
        {
            "trace_id": TRACE,
            "span_id": SPAN,
            "span_kind": "RETRIEVER",
            "attributes": {"input.value": "q", "retrieval.documents.0.document.id": "d"},
        },
    ],
)
def test_spans_as_viewers_export_them(row):
    """Nested attributes, or columns of a table, or flat ones."""
    reading = read_span(one(**row))
    assert (reading.role, reading.query) == ("retriever", "q")
    assert [hit.id for hit in reading.documents] == ["d"]


def test_times_and_states_in_their_other_forms():
    """Nanoseconds, times without a zone (they are UTC), flat states, nothing at all."""
    span = one(
        trace_id=TRACE,
        span_id=SPAN,
        start_time=NS,
        end_time="2026-01-01T00:00:01",
        status_code="STATUS_CODE_ERROR",
        status_message="no",
        kind=2,
        attributes=None,
        metadata={"kept": "elsewhere"},
    )
    assert (span.start_ns, span.end_ns) == (NS, NS + 10**9)
    assert (span.kind, span.status.code, span.status.message) == ("server", "error", "no")
    bare = one(trace_id=TRACE, span_id=SPAN)
    assert (bare.start_ns, bare.status.code, bare.kind) == (0, "unset", "unspecified")


def test_metadata_stay_an_object():
    """Their names are the user's."""
    nested = {"retrieval": {"documents": []}, "metadata": {"a": {"b": 1}}}
    span = one(trace_id=TRACE, span_id=SPAN, attributes=nested)
    assert span.attributes == {"retrieval.documents": [], "metadata": {"a": {"b": 1}}}


def test_a_line_may_be_an_otlp_request():
    """As collectors write files; several spans, each by itself."""
    spans = [{"traceId": TRACE, "spanId": SPAN}, {"traceId": "x", "spanId": SPAN}]
    line = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})
    good, fault = read_openinference_lines([line], "a.jsonl")
    assert good.span_id == SPAN
    assert (fault.kind, fault.where) == ("quarantined", "a.jsonl:1")


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"trace_id": TRACE}, "span id ''"),
        ({"context": "x"}, "context must be an object"),
        ({"trace_id": TRACE, "span_id": SPAN, "attributes": []}, "attributes must be an object"),
        ({"trace_id": TRACE, "span_id": SPAN, "start_time": "soon"}, "start_time 'soon'"),
        ({"trace_id": TRACE, "span_id": SPAN, "start_time": True}, "start_time"),
        ({"trace_id": TRACE, "span_id": SPAN, "events": ["x"]}, "an event must be an object"),
        ({"trace_id": TRACE, "span_id": SPAN, "resource": {"attributes": 1}}, "resource.attrib"),
    ],
)
def test_a_line_that_is_no_span_is_refused(row, reason):
    """With the reason."""
    with pytest.raises(RowError, match=reason):
        read_span_line(json.dumps(row))


LINE = st.text(max_size=40) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["context", "trace_id", "attributes", "events", "status", "kind"]),
            inner,
        )
    ),
).map(json.dumps)


@given(st.lists(LINE, max_size=5))
def test_any_line_is_read_or_a_fault(lines):
    """Nothing is ever raised; blank lines are none."""
    for found in read_openinference_lines(lines, "x"):
        assert isinstance(found, Fault)
        assert found.kind == "quarantined"
