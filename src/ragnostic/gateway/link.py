"""A client's connection: what ASGI does not tell of it, and an answer's head as it was sent.

uvicorn's protocol on httptools, which refuses malformed requests. What is added here: the target
and the fields as they were written, a limit on the size of a head, word of a client that has gone
to every request on its connection, other upgrades than WebSocket ignored as RFC 9110 7.8 allows,
and heads that keep their reason, case and framing.
"""

from __future__ import annotations

import select
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from ragnostic.gateway.headers import (
    Headers,
    end_to_end,
    has_body,
    is_websocket,
    values,
)

if TYPE_CHECKING:
    import asyncio

_GONE = select.POLLHUP | select.POLLERR | getattr(select, "POLLRDHUP", 0)
_UNBOUNDED = 1 << 62


class Link:
    """One request: as it was written, whether its client is still there, and its answer's head."""

    def __init__(
        self,
        connection: ClientConnection,
        cycle: RequestResponseCycle,
        target: bytes,
        headers: Headers,
    ) -> None:
        self.method: str = cycle.scope["method"]
        self.version: str = cycle.scope["http_version"]
        self.target = target
        self.headers = headers
        self.gone = False
        self.on_gone: Callable[[], object] | None = None
        self._connection = connection
        self._cycle = cycle
        self._until_close = False

    @property
    def waits_for_body(self) -> bool:
        """Whether more of the body is to come and nothing of it is here."""
        return self._cycle.more_body and not self._cycle.body

    @property
    def expects_continue(self) -> bool:
        """Whether the client holds its body back until it is told to go on."""
        return self._cycle.waiting_for_100_continue

    @property
    def has_started(self) -> bool:
        """Whether the head of the answer has been written."""
        return bool(self._cycle.response_started)

    def lost(self) -> None:
        """The client has gone."""
        if self.gone:
            return
        self.gone = True
        self._cycle.disconnected = True
        self._cycle.message_event.set()
        if self.on_gone is not None:
            self.on_gone()

    def inform(self, status: int, reason: bytes, headers: Headers) -> None:
        """Pass on an interim answer (1xx). HTTP/1.0 has none."""
        if self.version == "1.1" and not self._cycle.response_started and not self.gone:
            self._write(head_of(status, reason, end_to_end(headers)))

    def start(self, status: int, reason: bytes, headers: Headers) -> None:
        """Write the head of the answer: fields, case and reason as given.

        Its framing follows RFC 9112 6.3: none for HEAD, 204 and 304, else by Content-Length where
        there is one, else chunked, or up to the end of the connection for HTTP/1.0.
        """
        cycle = self._cycle
        cycle.response_started, cycle.waiting_for_100_continue = True, False
        lengths = values(headers, b"content-length")
        fields = list(headers)
        cycle.chunked_encoding, cycle.expected_content_length = False, 0
        if not (self.method == "HEAD" or status in (204, 304)):
            if lengths:
                cycle.expected_content_length = int(lengths[0])
            elif self.version == "1.1":
                cycle.chunked_encoding = True
                fields.append((b"Transfer-Encoding", b"chunked"))
            else:
                self._until_close = True
                cycle.expected_content_length = _UNBOUNDED
                cycle.keep_alive = False
        if not cycle.keep_alive:
            fields.append((b"Connection", b"close"))
        self._write(head_of(status, reason, fields))

    def before_end(self, size: int) -> None:
        """To be called before the last piece of the body, of ``size`` bytes, is sent."""
        if self._until_close:
            self._cycle.expected_content_length = size

    def close_after(self) -> None:
        """This answer is the last on its connection."""
        self._cycle.keep_alive = False

    def cut(self) -> None:
        """End the connection in the middle of the answer, so that the client sees it is cut."""
        self._cycle.disconnected = True
        self._connection.transport.close()

    @property
    def transport(self) -> asyncio.Transport:
        """The connection to the client."""
        return self._connection.transport

    def switch(self, head: bytes, side: asyncio.Protocol) -> None:
        """Answer with 101 and hand the connection over to another protocol."""
        cycle = self._cycle
        cycle.response_started = cycle.response_complete = True
        self._connection.hand_over(side)
        self.transport.write(head)

    def left(self, side: asyncio.Protocol) -> None:
        """The protocol that took the connection over is done with it."""
        self._connection.connections.discard(side)

    def _write(self, head: bytes) -> None:
        if not self.gone:
            self._connection.transport.write(head)


def head_of(status: int, reason: bytes, headers: Headers) -> bytes:
    r"""The head of an answer as it goes over the wire.

    >>> head_of(200, b"OK", [(b"A", b"b")])
    b'HTTP/1.1 200 OK\r\nA: b\r\n\r\n'
    """
    lines = [b"HTTP/1.1 %d %s" % (status, reason)]
    lines += [b"%s: %s" % field for field in headers]
    return b"\r\n".join([*lines, b"\r\n"])


class ClientConnection(HttpToolsProtocol):
    """The protocol of one client connection; each request's Link stands in ``scope["state"]``."""

    def __init__(
        self, *, max_head_bytes: int, refused: Callable[[], object], **options: Any
    ) -> None:
        super().__init__(**options)
        self.links: list[Link] = []
        self.written: list[tuple[bytes, bytes]] = []
        self._max_head_bytes = max_head_bytes
        self._refused = refused
        self._head_bytes = 0
        self._in_head = False
        self._resuming = False
        self._body_follows = False

    def data_received(self, data: bytes) -> None:
        """Parse; an upgrade that nobody here speaks is ignored, and the request goes on."""
        self._unset_keepalive_if_required()
        try:
            while data:
                rest = self._parsed(data)
                self._head_bytes += len(data) if self._in_head and not rest else 0
                data = rest
        except httptools.HttpParserError:
            self.send_400_response("Invalid HTTP request received.")
        if self._in_head and self._head_bytes > self._max_head_bytes:
            self.send_400_response("The head of the request is too large.")

    def _parsed(self, data: bytes) -> bytes:
        """Feed the parser; what stands behind an upgrade, to be fed again."""
        if self.transport.is_closing():
            return b""
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            if self.links and is_websocket(self.links[-1].method, self.links[-1].headers):
                return b""  # nobody may send frames before the handshake is answered
            if self._body_follows:
                self._resume()
            return data[upgrade.args[0] :]
        return b""

    def _resume(self) -> None:
        """Bring the parser back to where the body of the current request begins."""
        self._resuming, self._body_follows = True, False
        framing = [
            (name, value)
            for name, value in self.written
            if name.lower() in (b"content-length", b"transfer-encoding")
        ]
        lines = b"".join(b"%s: %s\r\n" % field for field in framing)
        self.parser.feed_data(b"POST / HTTP/1.1\r\n" + lines + b"\r\n")

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, once, and count it."""
        self._in_head = False
        if not self.transport.is_closing():
            self._refused()
            answering = any(link.has_started for link in self.links)
            alone = len(self.links) < 2
            self._tell_links()
            if alone and not answering:
                super().send_400_response(msg)
            else:  # an answer here would be taken for that to an earlier request
                self.transport.close()

    def on_message_begin(self) -> None:
        """A request begins."""
        if not self._resuming:
            self.written = []
            self._in_head, self._head_bytes = True, 0
            super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """A piece of the target."""
        if not self._resuming:
            super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """A field; the base class knows names in lower case only."""
        if not self._resuming:
            self.written.append((name, value))
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The head is whole: the request starts."""
        self._in_head = False
        if self._resuming:
            self._resuming = False
            return
        target = self.url
        if not target.startswith(b"/"):
            self.url = b"/"  # the base class can read a path only
        super().on_headers_complete()
        link = Link(self, self.cycle, target, self.written)
        self._body_follows = self.parser.should_upgrade() and has_body(self.written)
        self.links.append(link)
        self.scope["state"]["link"] = link

    def on_message_complete(self) -> None:
        """The request is whole, unless the parser only takes it for an upgrade."""
        if not self._body_follows:
            super().on_message_complete()

    def on_response_complete(self) -> None:
        """An answer is whole; the next request of a pipeline may start."""
        if self.links:
            self.links.pop(0)
        super().on_response_complete()

    def eof_received(self) -> None:
        """A client that has closed its side has gone."""
        self._tell_links()

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell every request on this connection, not only the latest."""
        super().connection_lost(exc)
        self._tell_links()

    def _tell_links(self) -> None:
        for link in self.links:
            link.lost()
        self.links = []

    def has_silently_gone(self) -> bool:
        """Whether the client has gone while nothing is read from it, so that nobody was told."""
        if not (self.links and self.flow.read_paused):
            return False
        poll = select.poll()
        poll.register(self.transport.get_extra_info("socket").fileno(), _GONE)
        return bool(poll.poll(0))

    def drop(self) -> None:
        """End the connection now."""
        self._tell_links()
        self.transport.abort()

    def hand_over(self, side: asyncio.Protocol) -> None:
        """Another protocol has the transport from now on; it is asked to shut down like this."""
        self.links = []
        self.connections.discard(self)
        self.connections.add(side)  # type: ignore[arg-type]  # shut down with all others
        self.transport.set_protocol(side)
