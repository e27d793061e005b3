"""The receiver of traces as an ASGI application: what each request is answered."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading

import httpx
import pytest
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from ragnostic.errors import StoreError
from ragnostic.gateway.otlp import otlp_app
from ragnostic.gateway.otlp_settings import OtlpSettings

JSON, PROTOBUF = "application/json", "application/x-protobuf"
GOOD = {"traceId": "ab" * 16, "spanId": "cd" * 8, "name": "good"}


def body(*spans):
    """A request in JSON."""
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}).encode()


def protobuf_body(*ids):
    """A request in protobuf with spans of these ids."""
    request = ExportTraceServiceRequest()
    spans = request.resource_spans.add().scope_spans.add().spans
    for own in ids:
        spans.add(trace_id=b"\x01" * 16, span_id=own)
    return request.SerializeToString()


class Sums:
    """Counters in memory."""

    def __init__(self):
        self.found = {}

    def add(self, deltas):
        """Add to counts by name."""
        for name, amount in deltas.items():
            self.found[name] = self.found.get(name, 0) + amount


def ask(app, method="POST", path="/v1/traces", content=b"{}", media_type=JSON, **headers):
    """One request and its answer."""

    async def run():
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://otlp") as client:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            if media_type:
                named["content-type"] = media_type
            return await client.request(method, path, content=content, headers=named)

    return asyncio.run(run())


def test_spans_are_handed_on_and_acknowledged():
    """200 with an empty message when all is well."""
    taken, sums = [], Sums()
    app = otlp_app(taken.extend, counters=sums)
    answer = ask(app, content=body(GOOD))
    assert (answer.status_code, answer.json()) == (200, {})
    assert answer.headers["content-type"] == JSON
    assert [span.name for span in taken] == ["good"]
    assert sums.found == {"otlp_requests": 1, "spans_received": 1, "spans_refused": 0}


def test_protobuf_is_answered_in_protobuf():
    """The response has the media type of the request."""
    taken = []
    app = otlp_app(taken.extend)
    answer = ask(app, content=protobuf_body(b"\x02" * 8), media_type=PROTOBUF)
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-type"] == PROTOBUF
    assert len(taken) == 1


def test_refused_spans_are_a_partial_success():
    """Counted and named; the good ones are stored."""
    taken, sums = [], Sums()
    app = otlp_app(taken.extend, counters=sums)
    answer = ask(app, content=body(GOOD, {**GOOD, "spanId": "x"}))
    partial = answer.json()["partialSuccess"]
    assert (answer.status_code, partial["rejectedSpans"]) == (200, "1")
    assert "span id 'x'" in partial["errorMessage"]
    assert len(taken) == 1
    assert sums.found["spans_refused"] == 1
    protobuf = ask(app, content=protobuf_body(b"\x02"), media_type=PROTOBUF)
    response = ExportTraceServiceResponse.FromString(protobuf.content)
    assert response.partial_success.rejected_spans == 1


def test_an_empty_request_is_a_success():
    """And reaches nobody."""
    taken = []
    assert ask(otlp_app(taken.append)).status_code == 200
    assert ask(otlp_app(taken.append), content=b"", media_type=PROTOBUF).status_code == 200
    assert taken == []


def test_gzip_is_read():
    """By both of its names, whatever their case."""
    taken = []
    app = otlp_app(taken.extend)
    packed = gzip.compress(body(GOOD))
    assert ask(app, content=packed, content_encoding="GZIP").status_code == 200
    media_type = "Application/JSON; charset=utf-8"
    assert ask(app, content=packed, media_type=media_type, content_encoding="x-gzip").is_success
    assert len(taken) == 2


@pytest.mark.parametrize(
    ("request_of", "status"),
    [
        ({"content": b"{"}, 400),
        ({"content": b"nonsense", "media_type": PROTOBUF}, 400),
        ({"content": b"plain", "content_encoding": "gzip"}, 400),
        ({"path": "/v1/metrics"}, 404),
        ({"path": "/v1/logs", "media_type": PROTOBUF}, 404),
        ({"path": "/"}, 404),
        ({"method": "GET"}, 405),
        ({"content": b" " * 2000}, 413),
        ({"content": gzip.compress(b" " * 2000), "content_encoding": "gzip"}, 413),
        ({"media_type": "text/plain"}, 415),
        ({"media_type": ""}, 415),
        ({"content_encoding": "br"}, 415),
    ],
)
def test_every_error_says_what_is_wrong(request_of, status):
    """As a status message in the form of the request; nothing reaches the sink."""
    taken = []
    app = otlp_app(taken.append, OtlpSettings(max_body_bytes=1024))
    answer = ask(app, **request_of)
    assert answer.status_code == status
    if request_of.get("media_type") == PROTOBUF:
        message = Status.FromString(answer.content).message
    else:
        message = answer.json()["message"]
    assert message
    assert taken == []
    assert ("retry-after" in answer.headers) == (status in (429, 503))
    if status == 405:
        assert answer.headers["allow"] == "POST"


def test_other_signals_are_told_what_is_received_here():
    """A 404 that explains itself; senders do not try again after it."""
    answer = ask(otlp_app(list), path="/v1/metrics/")
    message = answer.json()["message"]
    assert message == "/v1/metrics is not received here; traces are, at /v1/traces"


def test_head_is_answered_without_a_body():
    """As HTTP says."""
    answer = ask(otlp_app(list), method="HEAD")
    assert (answer.status_code, answer.content) == (405, b"")


@pytest.mark.parametrize(
    "error", [StoreError("the queue is busy", retryable=True), OSError(28, "No space left")]
)
def test_senders_are_asked_to_come_again_while_the_store_is_down(error):
    """503 with Retry-After, which the protocol calls retryable."""

    def sink(spans):
        raise error

    answer = ask(otlp_app(sink, OtlpSettings(retry_after_s=7)), content=body(GOOD))
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "7")
    assert any(word in answer.json()["message"] for word in ("busy", "No space left"))


def test_more_requests_than_can_be_worked_on_are_sent_away():
    """429 with Retry-After; those at work are finished."""
    entered, leave = threading.Event(), threading.Event()

    def sink(spans):
        entered.set()
        leave.wait(10)

    app = otlp_app(sink, OtlpSettings(max_requests=1))

    async def run():
        transport = httpx.ASGITransport(app=app)
        headers = {"content-type": JSON}
        async with httpx.AsyncClient(transport=transport, base_url="http://otlp") as client:
            first = asyncio.create_task(
                client.post("/v1/traces", content=body(GOOD), headers=headers)
            )
            await asyncio.to_thread(entered.wait, 10)
            second = await client.post("/v1/traces", content=body(GOOD), headers=headers)
            leave.set()
            return await first, second

    first, second = asyncio.run(run())
    assert first.status_code == 200
    assert (second.status_code, second.headers["retry-after"]) == (429, "5")


def drive(app, scope, *messages):
    """What an application sends when these messages come, and then nothing more."""
    sent, waiting = [], list(messages)

    async def receive():
        if waiting:
            return waiting.pop(0)
        await asyncio.Event().wait()
        return None

    async def send(message):
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    return sent


POST = {"type": "http", "method": "POST", "path": "/v1/traces"}
POST["headers"] = [(b"content-type", b"application/json")]


def test_a_body_that_does_not_come_is_given_up():
    """408, so that slow senders do not hold the places."""
    app = otlp_app(list, OtlpSettings(body_timeout_s=0.01))
    first, _ = drive(app, POST, {"type": "http.request", "body": b"{", "more_body": True})
    assert first["status"] == 408


def test_the_body_of_a_refused_request_is_let_pass_but_not_waited_for():
    """A sender that writes while it is refused sees why."""
    app = otlp_app(list, OtlpSettings(body_timeout_s=0.01))
    wrong = {**POST, "path": "/v1/logs"}
    first, _ = drive(app, wrong, {"type": "http.request", "body": b"{", "more_body": True})
    assert first["status"] == 404


def test_a_sender_that_went_away_is_not_answered():
    """And nothing is kept of it."""
    taken = []
    assert drive(otlp_app(taken.append), POST, {"type": "http.disconnect"}) == []
    assert taken == []


def test_lifespan_and_websockets():
    """The application may stand by itself; it has no websockets."""
    app = otlp_app(list)
    messages = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]
    assert [sent["type"] for sent in drive(app, {"type": "lifespan"}, *messages)] == [
        "lifespan.startup.complete",
        "lifespan.shutdown.complete",
    ]
    (closed,) = drive(app, {"type": "websocket"})
    assert closed["type"] == "websocket.close"
