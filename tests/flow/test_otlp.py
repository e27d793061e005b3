"""A service that is traced by OpenTelemetry's own SDK, a receiver on a port, a real queue."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time

import httpx
import pytest
import uvicorn
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Status, StatusCode

from ragnostic.gateway.intake import Intake
from ragnostic.gateway.otlp import otlp_app
from ragnostic.gateway.otlp_settings import OtlpSettings
from ragnostic.gateway.quarantine import Quarantine
from ragnostic.gateway.redaction import Redactor
from ragnostic.gateway.span_assembler import SpanAssembler
from ragnostic.store.queue import SqliteQueue
from ragnostic.store.state import State


class Receiver:
    """The receiver on a free port, over a store folder."""

    def __init__(self, folder):
        self.state = State(folder / "state.sqlite")
        self.queue = SqliteQueue(folder / "queue.sqlite")
        redactor = Redactor()
        intake = Intake(self.queue, Quarantine(folder / "quarantine", redactor), redactor)
        self.assembler = SpanAssembler(
            self.state, intake.accept, mask=redactor.text, counters=self.state
        )
        limits = OtlpSettings(max_body_bytes=100_000)
        app = otlp_app(self.assembler.add, limits, self.state)
        config = uvicorn.Config(app, log_config=None, lifespan="on")
        self._server = uvicorn.Server(config)
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True
        )
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)

    def rows(self):
        """All rows in the queue, the newest revision of each."""
        self.assembler.flush()
        found = {}
        for partition in range(self.queue.partitions):
            for event in self.queue.read(partition, 0, 1000):
                found[event.id] = json.loads(event.payload)
        return list(found.values())

    def close(self):
        """Stop, and let go of the files."""
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()
        self.queue.close()
        self.state.close()


@pytest.fixture
def receiver(tmp_path):
    """A receiver that runs."""
    running = Receiver(tmp_path)
    yield running
    running.close()


class Exporter(SpanExporter):
    """Posts each span as it ends, as OTLP/HTTP does, packed."""

    def __init__(self, url):
        self._url = url
        self.answers = []

    def export(self, spans):
        """Post."""
        body = gzip.compress(encode_spans(spans).SerializeToString())
        headers = {"content-type": "application/x-protobuf", "content-encoding": "gzip"}
        answer = httpx.post(f"{self._url}/v1/traces", content=body, headers=headers)
        self.answers.append(answer)
        return SpanExportResult.SUCCESS


def chat(tracer, question, texts):
    """A conversation with a retrieval, as an instrumented service would have it."""
    kind = "openinference.span.kind"
    front = {kind: "CHAIN", "input.value": question, "session.id": "s-1", "user.id": "u-1"}
    with tracer.start_as_current_span("chat", attributes=front) as root:
        with tracer.start_as_current_span("search", attributes={kind: "RETRIEVER"}) as span:
            span.set_attribute("input.value", question)
            for place, text in enumerate(texts):
                name = f"retrieval.documents.{place}.document"
                span.set_attribute(f"{name}.id", f"d{place}")
                span.set_attribute(f"{name}.content", text)
                span.set_attribute(f"{name}.score", 1 / (place + 1))
        with tracer.start_as_current_span("model", attributes={kind: "LLM"}) as span:
            span.set_attribute("llm.input_messages.0.message.content", f"Use: {texts[0]}")
            span.set_attribute("llm.output_messages.0.message.content", "Call 13800138000.")
        root.set_attribute("output.value", "Call 13800138000.")


def test_a_traced_service_fills_the_queue(receiver):
    """Leaf spans first, each in its own request: one record, whole and redacted."""
    provider = TracerProvider(resource=Resource.create({"service.name": "shop"}))
    exporter = Exporter(receiver.url)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("test")
    chat(tracer, "whom do I call?", ["Call 13800138000.", "Call nobody."])
    with tracer.start_as_current_span(
        "bad", attributes={"gen_ai.operation.name": "retrieval"}
    ) as span:
        span.set_status(Status(StatusCode.ERROR, "time-out"))
    provider.shutdown()
    assert [answer.status_code for answer in exporter.answers] == [200] * 4
    assert b"13800138000" not in b"".join(
        payload
        for trace in receiver.state.waiting_traces(time.time() + 60)
        for payload in receiver.state.spans_of(trace)
    )
    failed, row = sorted(receiver.rows(), key=lambda row: row["outcome"])
    assert failed["stages"]["retrieve"]["error"] == "time-out"
    assert (row["query"], row["answer"]) == ("whom do I call?", "Call ‹phone›.")
    assert (row["session_id"], row["user_id"], row["service"]) == ("s-1", "u-1", "shop")
    assert row["stages"]["retrieve"]["ids"] == ["d0", "d1"]
    assert row["stages"]["retrieve"]["scores"] == [1.0, 0.5]
    assert row["context_ids"] == ["d0"]
    assert row["latency_ms"] >= row["stages"]["retrieve"]["took_ms"] > 0
    counts = receiver.state.counters()
    assert (counts["spans_received"], counts["spans_kept"]) == (4, 4)
    assert counts["traces_closed"] == 2


def test_hostile_requests_are_refused_and_the_receiver_goes_on(receiver):
    """Bombs, long bodies, nonsense: each has its answer, the next good request is taken."""
    packed = {"content-type": "application/json", "content-encoding": "gzip"}
    bomb = gzip.compress(b" " * 50_000_000)
    with httpx.Client(base_url=receiver.url) as client:
        assert client.post("/v1/traces", content=bomb, headers=packed).status_code == 413
        plain = {"content-type": "application/json"}
        assert client.post("/v1/traces", content=b"x" * 200_000, headers=plain).status_code == 413
        chunks = (b"x" * 10_000 for _ in range(100))
        assert client.post("/v1/traces", content=chunks, headers=plain).status_code == 413
        assert client.post("/v1/traces", content=b"[" * 90_000, headers=plain).status_code == 400
        assert client.post("/v1/logs", content=b"{}", headers=plain).status_code == 404
        assert client.get("/v1/traces").status_code == 405
        good = {"traceId": "ab" * 16, "spanId": "cd" * 8}
        body = {"resourceSpans": [{"scopeSpans": [{"spans": [good]}]}]}
        answer = client.post("/v1/traces", json=body)
        assert (answer.status_code, answer.json()) == (200, {})
    assert receiver.state.counters()["spans_kept"] == 1


def test_spans_survive_a_restart(receiver, tmp_path):
    """What was acknowledged is in the state file when the next process begins."""
    span = {
        "traceId": "ab" * 16,
        "spanId": "cd" * 8,
        "startTimeUnixNano": "1767225600000000000",
        "endTimeUnixNano": "1767225600100000000",
        "attributes": [
            {"key": "openinference.span.kind", "value": {"stringValue": "RETRIEVER"}},
            {"key": "input.value", "value": {"stringValue": "how long?"}},
        ],
    }
    body = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    assert httpx.post(f"{receiver.url}/v1/traces", json=body).status_code == 200
    rows = []
    with State(tmp_path / "state.sqlite") as state:
        SpanAssembler(state, rows.extend).flush()
    ((row, _),) = rows
    assert (row["query"], row["latency_ms"]) == ("how long?", 100.0)
