"""Answers are the protocol's own messages, byte for byte."""

from __future__ import annotations

import json

from google.rpc.status_pb2 import Status
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from ragnostic.gateway.otlp_replies import accepted, failed

REASONS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=300), max_size=400)


@given(REASONS.map(tuple))
def test_the_published_message_reads_what_we_write(refused):
    """Any number of refused spans and any reasons."""
    response = ExportTraceServiceResponse.FromString(accepted("protobuf", refused).body)
    partial = response.partial_success
    assert response.HasField("partial_success") == bool(refused)
    assert partial.rejected_spans == len(refused)
    assert bool(partial.error_message) == bool(refused)
    written = json.loads(accepted("json", refused).body).get("partialSuccess", {})
    assert int(written.get("rejectedSpans", 0)) == len(refused)
    assert written.get("errorMessage", "") == partial.error_message


def test_equal_reasons_are_told_once_and_many_are_shortened():
    """The message is for a person."""
    refused = ("a", "a", "b", "c", "d")
    body = json.loads(accepted("json", refused).body)
    assert body["partialSuccess"]["errorMessage"] == "5 spans: a; b; c; …"


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_an_error_is_a_status_message(message):
    """In both forms."""
    reply = failed(503, message, "protobuf", (b"retry-after", b"5"))
    status = Status.FromString(reply.body)
    assert (status.code, status.message) == (14, message)
    assert json.loads(failed(503, message, "json").body) == {"code": 14, "message": message}
    assert (b"retry-after", b"5") in reply.headers
    assert (b"content-length", str(len(reply.body)).encode()) in reply.headers
