"""The raw ASGI application: every request to the fixed service, its answer back, a copy kept."""

from __future__ import annotations

import asyncio
import fnmatch
import functools
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import aiohttp

from ragnostic.gateway.capture import Budget, Copy, Exchange, Offer
from ragnostic.gateway.counters import GatewayCounters
from ragnostic.gateway.degrade import Switch
from ragnostic.gateway.headers import (
    end_to_end,
    has_body,
    is_websocket,
    origin_form,
    refusal,
    request_head,
    sound,
    tokens,
)
from ragnostic.gateway.link import Link
from ragnostic.gateway.passed import fields
from ragnostic.gateway.screening import Screen, Screened
from ragnostic.gateway.settings import CaptureSettings, ReplySettings
from ragnostic.gateway.upstream import Outgoing, Upstream, UpstreamError, broken, timed_out
from ragnostic.gateway.websocket import tunnel

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_SCREENED_BYTES = 1 << 20
"""Longer bodies are not looked at by the query filter, and pass as they come."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which exchanges are copied, and how much of each."""

    paths: re.Pattern[str]
    methods: frozenset[str]
    max_bytes: int

    @classmethod
    def of(cls, settings: CaptureSettings) -> Selection:
        """From the settings; nothing is copied where capture is off."""
        patterns = settings.paths if settings.on else ()
        joined = "|".join(map(fnmatch.translate, patterns)) or r"(?!)"
        return cls(re.compile(joined), frozenset(settings.methods), settings.max_bytes)

    def wants(self, method: str, path: str) -> bool:
        """Whether an exchange is copied."""
        return bool(self.paths.match(path)) and (not self.methods or method in self.methods)


@dataclass(frozen=True, slots=True)
class Gateway:
    """The application. ``own`` are the authorities that an absolute target may name."""

    upstreams: Mapping[str, Upstream]
    switch: Switch
    selection: Selection
    screen: Screen | None
    budget: Budget
    offer: Offer
    counters: GatewayCounters
    own: frozenset[bytes]

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """One request."""
        link: Link = scope["state"]["link"]
        self.counters.count("requests")
        refused = refusal(link.method, link.target, link.version, link.headers, self.own)
        if refused is not None:
            self.counters.count("refused")
            link.close_after()
            await answer(link, send, refused.status, problem("request_refused", refused.reason))
            return
        exchange = self._begin(link)
        passing = _Passing(self, exchange, link, receive, send)
        self.counters.count("running")
        try:
            await passing.run()
        finally:
            self.counters.count("running", -1)
            link.on_gone = None
            self._finish(exchange, link)

    def _begin(self, link: Link) -> Exchange:
        limit = self.selection.max_bytes
        return Exchange(
            method=link.method,
            target=origin_form(link.target),
            request_headers=link.headers,
            request=Copy(limit, self.budget),
            response=Copy(limit, self.budget),
        )

    def _finish(self, exchange: Exchange, link: Link) -> None:
        path = exchange.target.decode("latin-1").partition("?")[0]
        if is_websocket(link.method, link.headers):
            exchange.release()
        elif self.selection.wants(exchange.method, path):
            self.offer(exchange)
        else:
            exchange.release()
            self.counters.count("not_selected")


class _Passing:
    """One request on its way, and its answer on the way back."""

    def __init__(
        self, gateway: Gateway, exchange: Exchange, link: Link, receive: Receive, send: Send
    ) -> None:
        self._gateway = gateway
        self._exchange = exchange
        self._link = link
        self._receive = receive
        self._send = send
        self._outgoing: Outgoing | None = None
        self._started = False
        self._more = has_body(link.headers)

    async def run(self) -> None:
        """To the end, whatever it is; the exchange says which."""
        exchange, link = self._exchange, self._link
        task = asyncio.current_task()
        link.on_gone = functools.partial(self._leave, task)
        try:
            if link.gone:
                raise asyncio.CancelledError  # noqa: TRY301 - it left before this task began
            await self._pass()
        except asyncio.CancelledError:
            self._abort()
            if not link.gone:
                exchange.end("failed", "the gateway was stopped")
                link.cut()
                raise
            if task is not None:
                task.uncancel()
            exchange.end("client_abort", "client disconnected")
            self._gateway.counters.count("client_aborts")
        except UpstreamError as error:
            self._abort()
            exchange.end("failed", str(error))
            self._gateway.counters.count(error.code)
            await self._tell(error)
        exchange.end("ok")

    def _leave(self, task: asyncio.Task[Any] | None) -> None:
        """The client has gone: first the service's connection ends, then this task."""
        self._abort()
        if task is not None:
            task.cancel()

    def _abort(self) -> None:
        if self._outgoing is not None:
            self._outgoing.abort()

    async def _tell(self, error: UpstreamError) -> None:
        """Say it, or where the answer has begun let the client see that it is cut."""
        if self._started:
            self._link.cut()
            return
        self._exchange.status = error.status
        self._link.close_after()  # the rest of the request's body may still be coming
        await answer(self._link, self._send, error.status, problem(error.code, str(error)))

    async def _pass(self) -> None:
        gateway, link = self._gateway, self._link
        upstream = gateway.upstreams[gateway.switch.upstream]
        if gateway.switch.on:
            self._exchange.labels |= {"upstream": upstream.name, "degraded": gateway.switch.reason}
        if is_websocket(link.method, link.headers):
            await self._switch_protocols(upstream)
            return
        screened = await self._screened()
        if screened is not None and screened.reply is not None:
            await self._reply_ourselves(screened.reply)
            return
        self._outgoing = await self._prepare(upstream, screened)
        response = await upstream.ask(link.method, self._outgoing)
        try:
            await self._reply(response)
        finally:
            response.close()

    async def _switch_protocols(self, upstream: Upstream) -> None:
        response = await tunnel(self._link, upstream, self._gateway.counters)
        if response is not None:
            try:
                await self._reply(response)
            finally:
                response.close()

    async def _screened(self) -> Screened | None:
        """The filter's word; None where it is off or the body is too long to be looked at."""
        link, exchange = self._link, self._exchange
        if self._gateway.screen is None:
            return None
        body = b""
        while self._more and len(body) <= _SCREENED_BYTES:
            body += await self._next()
        if len(body) > _SCREENED_BYTES:
            self._gateway.counters.count("filter_unread")
            return Screened(body)
        headers = fields(link.headers)
        screened = await self._gateway.screen.look(exchange.target, headers, body)
        exchange.searched = screened.searched
        if screened.reason is not None:
            exchange.labels["filter"] = screened.reason
        return screened

    async def _next(self) -> bytes:
        """The next piece of the request's body."""
        message = await self._receive()
        if message["type"] == "http.disconnect":
            raise ConnectionResetError
        piece: bytes = message.get("body", b"")
        if piece:
            self._exchange.request.add(piece)
        self._more = message.get("more_body", False)
        return piece

    async def _prepare(self, upstream: Upstream, screened: Screened | None) -> Outgoing:
        """The request as it goes out; a body that is not all here follows in pieces."""
        link = self._link
        expects, body = link.expects_continue, b""
        if screened is not None:
            expects, body = False, screened.body
        elif self._more and not link.waits_for_body:
            body = await self._next()
        headers = list(link.headers)
        if screened is not None and screened.searched is not None:
            headers = _with_length(headers, len(body))
        target = upstream.target(self._exchange.target)
        return Outgoing(
            request_head(link.method, target, headers, upstream.host, upstream.own_host),
            body,
            pieces=self._pieces() if self._more else None,
            chunked=bool(tokens(headers, b"transfer-encoding")),
            expects=expects and self._more,
            on_interim=link.inform,
        )

    async def _pieces(self) -> AsyncIterator[bytes]:
        while self._more:
            piece = await self._next()
            if piece:
                yield piece

    async def _reply(self, response: aiohttp.ClientResponse) -> None:
        """The answer, piece by piece, no faster than the client reads it."""
        exchange, link = self._exchange, self._link
        headers = end_to_end(response.raw_headers)
        if not sound(headers):
            raise broken()
        exchange.status, exchange.response_headers = response.status, headers
        reason = (response.reason or "").encode("utf-8", "surrogateescape")
        self._started = True
        link.start(response.status, reason, headers)
        more = True
        while more:
            try:
                piece = await response.content.readany()
            except TimeoutError:
                raise timed_out() from None
            except (aiohttp.ClientError, OSError):
                raise broken() from None
            exchange.response.add(piece)
            more = not response.content.at_eof()
            if not more:
                link.before_end(len(piece))
            await self._send({"type": "http.response.body", "body": piece, "more_body": more})
        if response.status >= 400:
            exchange.end("failed", f"the service answered {response.status}")

    async def _reply_ourselves(self, reply: ReplySettings) -> None:
        exchange = self._exchange
        body = reply.body.encode()
        exchange.status = reply.status
        exchange.end("rejected", "the query filter answered")
        self._gateway.counters.count("rejected")
        await answer(self._link, self._send, reply.status, body, reply.content_type)


def _with_length(headers: list[tuple[bytes, bytes]], length: int) -> list[tuple[bytes, bytes]]:
    return [
        (name, b"%d" % length if name.lower() == b"content-length" else value)
        for name, value in headers
    ]


def problem(code: str, message: str) -> bytes:
    """The body of an answer of our own.

    >>> problem("upstream_timeout", "late")
    b'{"error": {"code": "upstream_timeout", "message": "late"}}'
    """
    return json.dumps({"error": {"code": code, "message": message}}).encode()


async def answer(
    link: Link, send: Send, status: int, body: bytes, content_type: str = "application/json"
) -> None:
    """A short answer of our own."""
    known = {one.value: one.phrase for one in HTTPStatus}
    headers = [
        (b"Content-Type", content_type.encode("latin-1", "replace")),
        (b"Content-Length", b"%d" % len(body)),
    ]
    link.start(status, known.get(status, "").encode(), headers)
    link.before_end(len(body))
    await send({"type": "http.response.body", "body": body, "more_body": False})
