"""The receiver of OpenTelemetry traces over HTTP (OTLP/HTTP 1.x) as an ASGI application."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from contextlib import suppress
from typing import Any

from ragnostic.corpus.strict_json import RowError
from ragnostic.errors import StoreError
from ragnostic.gateway.balance import Counters
from ragnostic.gateway.otlp_body import (
    BodyError,
    Receive,
    SenderGoneError,
    discard_body,
    inflated,
    read_body,
)
from ragnostic.gateway.otlp_json import decode_json
from ragnostic.gateway.otlp_protobuf import decode_protobuf
from ragnostic.gateway.otlp_replies import Form, Reply, accepted, failed
from ragnostic.gateway.otlp_settings import OtlpSettings
from ragnostic.gateway.spans import Decoded, Span

TRACES = "/v1/traces"
OTHER_SIGNALS = ("/v1/metrics", "/v1/logs", "/v1development/profiles")

SpanSink = Callable[[Sequence[Span]], object]
"""Takes spans; when it returns, they are durable. Called from threads. Raises StoreError or
OSError where it cannot store them: the sender is asked to come again."""

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_FORMS: Mapping[str, Form] = {
    "application/json": "json",
    "application/x-protobuf": "protobuf",
    "application/protobuf": "protobuf",
}


def otlp_app(
    receive: SpanSink,
    limits: OtlpSettings | None = None,
    counters: Counters | None = None,
) -> App:
    """An ASGI application that answers ``POST /v1/traces`` and hands the spans to ``receive``.

    200 with the number of refused spans and the reasons; 400 malformed; 404 any other path, the
    signals that are no traces among them; 405 another method; 408 the body did not come; 413 too
    large, packed or unpacked; 415 neither protobuf nor JSON, or a coding other than gzip; 429 too
    many requests at once and 503 the store is down, both with ``Retry-After``. Answers come in
    the form of the request. ``counters`` get ``otlp_requests``, ``spans_received`` and
    ``spans_refused``.
    """
    receiver = _Receiver(receive, limits or OtlpSettings(), counters)

    async def app(scope: Scope, asgi_receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(asgi_receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})
        else:
            try:
                reply = await receiver.answer(scope, asgi_receive)
            except SenderGoneError:
                return
            await _send(send, reply, scope["method"])

    return app


class _Receiver:
    def __init__(self, sink: SpanSink, limits: OtlpSettings, counters: Counters | None) -> None:
        self._sink = sink
        self._limits = limits
        self._counters = counters
        self._working = 0

    async def answer(self, scope: Scope, receive: Receive) -> Reply:
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in scope["headers"]
        }
        media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
        form = _FORMS.get(media_type, "json")
        refusal = self._refusal(scope, media_type, form)
        if refusal is not None:
            await self._discard(receive)
            return refusal
        self._working += 1
        try:
            return await self._take(receive, headers, form)
        finally:
            self._working -= 1

    def _refusal(self, scope: Scope, media_type: str, form: Form) -> Reply | None:
        """The answer to a request that need not be read."""
        path = scope["path"].rstrip("/")
        if path != TRACES:
            told = f"{path} is not received here" if path in OTHER_SIGNALS else "no such path"
            return failed(404, f"{told}; traces are, at {TRACES}", form)
        if scope["method"] != "POST":
            return failed(405, "traces are sent by POST", form, (b"allow", b"POST"))
        if media_type not in _FORMS:
            told = f"{media_type!r} is not read; application/x-protobuf and application/json are"
            return failed(415, told, form)
        if self._working >= self._limits.max_requests:
            return self._later(429, f"{self._working} requests are worked on already", form)
        return None

    async def _discard(self, receive: Receive) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._limits.body_timeout_s):
                await discard_body(receive, self._limits.max_body_bytes)

    async def _take(self, receive: Receive, headers: Mapping[str, str], form: Form) -> Reply:
        try:
            body = await self._body(receive, headers)
            # Unpacking, reading and storing take a while: other requests need not wait for it.
            decoded = await asyncio.to_thread(self._store, body, headers, form)
        except BodyError as error:
            extra = [(b"accept-encoding", b"gzip")] if error.status == 415 else []
            return failed(error.status, str(error), form, *extra)
        except RowError as error:
            return failed(400, str(error), form)
        except StoreError as error:
            return self._later(503, error.message, form)
        except OSError as error:
            return self._later(503, f"the spans cannot be stored: {error.strerror}", form)
        return accepted(form, decoded.refused)

    async def _body(self, receive: Receive, headers: Mapping[str, str]) -> bytes:
        try:
            async with asyncio.timeout(self._limits.body_timeout_s):
                return await read_body(receive, headers, self._limits.max_body_bytes)
        except TimeoutError:
            raise BodyError(408, "the body of the request did not come") from None

    def _store(self, body: bytes, headers: Mapping[str, str], form: Form) -> Decoded:
        coding = headers.get("content-encoding", "").strip().lower()
        body = inflated(body, coding, self._limits.max_body_bytes)
        decode = decode_json if form == "json" else decode_protobuf
        decoded = decode(body, self._limits.max_value_bytes)
        if decoded.spans:
            self._sink(decoded.spans)
        if self._counters is not None:
            counts = {
                "otlp_requests": 1,
                "spans_received": len(decoded.spans) + len(decoded.refused),
                "spans_refused": len(decoded.refused),
            }
            self._counters.add(counts)
        return decoded

    def _later(self, status: int, message: str, form: Form) -> Reply:
        wait = str(self._limits.retry_after_s).encode()
        return failed(status, message, form, (b"retry-after", wait))


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return


async def _send(send: Send, reply: Reply, method: str) -> None:
    start = {"type": "http.response.start", "status": reply.status, "headers": reply.headers}
    await send(start)
    await send({"type": "http.response.body", "body": b"" if method == "HEAD" else reply.body})
