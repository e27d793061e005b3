"""From an exchange to a row."""

from __future__ import annotations

import json
from typing import Any

import jmespath
import pytest

from ragnostic.gateway.mapping import build_map
from ragnostic.gateway.passed import Passed, PassedBody
from ragnostic.gateway.recording import RowBuilder
from ragnostic.gateway.settings import GatewaySettings, StoreTable, UpstreamSettings

JSON = {"content-type": "application/json; charset=utf-8"}
STREAM = {"content-type": "text/event-stream"}
TREE = {
    "query": "request.query || params.q",
    "answer": "response.answer",
    "category": "path",
    "retrieve": {"ids": "response.ids"},
    "labels": {"count": "length(response.ids)", "agent": 'headers."user-agent"'},
}


def body(content: bytes, *, cut: bool = False, marks=()) -> PassedBody:
    """A body as it was copied."""
    return PassedBody(content, {"bytes": len(content), "sha256": "x", "truncated": cut}, marks)


def passed(
    request: bytes = b'{"query": "q"}', response: bytes | PassedBody = b"", **more: Any
) -> Passed:
    """An exchange."""
    facts = {
        "id": "id1",
        "method": "POST",
        "target": "/chat?x=1",
        "ts": 1_800_000_000.5,
        "latency_ms": 12.5,
        "status": 200,
        "outcome": "ok",
        "error": None,
        "searched": None,
        "labels": {},
        "request_headers": JSON,
        "response_headers": JSON,
        "request": body(request),
        "response": response if isinstance(response, PassedBody) else body(response),
    }
    return Passed(**{**facts, **more})


def row(one: Passed, tree: dict = TREE) -> dict[str, Any]:
    """Its row."""
    settings = GatewaySettings(
        upstream=UpstreamSettings(url="http://h"), store=StoreTable(service="kb")
    )
    record_map = build_map(tree, lambda _: "")
    return RowBuilder(settings, record_map, jmespath.compile("t").search).row(one)


def test_a_whole_row():
    """All that is known, and nothing that is not."""
    answer = json.dumps({"answer": "a", "ids": ["x", "y"]}).encode()
    headers = {**JSON, "user-agent": "curl", "x-session-id": "s1"}
    found = row(passed(response=answer, request_headers=headers))
    assert found == {
        "ts": 1_800_000_000_500_000,
        "source": "gateway",
        "service": "kb",
        "outcome": "ok",
        "latency_ms": 12.5,
        "session_id": "s1",
        "record_id": "id1",
        "query": "q",
        "answer": "a",
        "category": "/chat",
        "stages": {"retrieve": {"ids": ["x", "y"]}},
        "labels": {"status": "200", "count": 2, "agent": "curl"},
        "capture": {
            "status": 200,
            "first_byte_ms": None,
            "first_token_ms": None,
            "complete": None,
            "request": {"bytes": 14, "sha256": "x", "truncated": False},
            "response": {"bytes": len(answer), "sha256": "x", "truncated": False},
        },
    }


@pytest.mark.parametrize(
    ("request_body", "headers", "query"),
    [
        (b'{"query": "q"}', {}, "q"),
        (b"query=a+b", {"content-type": "application/x-www-form-urlencoded"}, "a b"),
        (b"nonsense", JSON, None),
        (b"[" * 100_000, JSON, None),
        (b"", JSON, None),
    ],
)
def test_requests_of_every_kind(request_body, headers, query):
    """JSON whatever it is called, forms, and what is neither."""
    assert row(passed(request_body, request_headers=headers)).get("query") == query


def test_one_expression_that_fails_costs_no_other():
    """An error's form is not an answer's; the first failure is told."""
    found = row(passed(response=b'{"error": "x"}', status=500, outcome="failed"))
    assert found["query"] == "q"
    assert found["labels"]["map_fault"].startswith("labels.count: ")
    assert "stages" not in found


def test_labels_of_several_parts_are_kept_together():
    """Also where another one fails."""
    tree = {"query": "request.query", "labels": {"a": "path", "b": "method", "c": "length(path.x)"}}
    found = row(passed(), tree)["labels"]
    assert (found["a"], found["b"]) == ("/chat", "POST")


def test_what_failed_before_it_was_known_is_a_record_too():
    """Under its own id; where a trace names it, under that."""
    found = row(passed(b'{"que', outcome="client_abort", error="client disconnected"))
    assert found["query_id"] == "id1"
    assert found["labels"]["error"] == "client disconnected"
    assert found["labels"]["request_fault"] == "no JSON"
    parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    found = row(passed(b"", outcome="failed", request_headers={"traceparent": parent}))
    assert found["query_id"] == "4bf92f3577b34da6a3ce929d0e0e4736"
    assert "record_id" not in found


def test_a_stream_is_read_with_the_time_of_its_first_text():
    """The event in which it stands was here then; a packed one has no such place."""
    stream = b'data: {"ids": 1}\n\ndata: {"t": "a"}\n\ndata: [DONE]\n\n'
    marks = ((10, 1.0), (20, 2.0), (40, 3.0), (len(stream), 4.0))
    one = passed(response_headers=STREAM, response=body(stream, marks=marks))
    tree = {"query": "request.query", "labels": {"n": "length(response.events)"}}
    found = row(one, tree)
    assert (found["answer"], found["labels"]["n"]) == ("a", 2)
    assert found["capture"]["complete"] is True
    assert (found["capture"]["first_byte_ms"], found["capture"]["first_token_ms"]) == (1.0, 3.0)
    assert found["labels"] == {"status": "200", "n": 2, "first_token_ms": "3"}
    packed = {**STREAM, "content-encoding": "identity"}
    one = passed(response_headers=packed, response=body(stream, marks=marks))
    assert row(one, tree)["capture"]["first_token_ms"] is None


def test_what_cannot_be_read_is_told():
    """Why, on which side."""
    one = passed(response=body(b'{"answer', cut=True))
    assert row(one)["labels"]["response_fault"] == "longer than what is copied"
    headers = {**JSON, "content-encoding": "snappy"}
    found = row(passed(response=b"abc", response_headers=headers))
    assert found["labels"]["response_fault"] == "content coding 'snappy' is not known"


def test_what_the_service_was_really_asked_is_kept():
    """Unless the map says so itself."""
    assert row(passed(searched="short"))["searched"] == ["short"]
    assert row(passed(searched="s"), {"query": "q", "searched": "path"})["searched"] == "/chat"
