"""WebSockets as a tunnel: the handshake goes through, then bytes pass in both directions.

Nothing is decoded, so extensions, sub-protocols, fragments and pings are those of the two ends.
"""

from __future__ import annotations

import asyncio
from typing import Any

import aiohttp

from ragnostic.gateway.counters import GatewayCounters
from ragnostic.gateway.headers import origin_form, upgrade_head
from ragnostic.gateway.link import Link, head_of
from ragnostic.gateway.upstream import Outgoing, Upstream


class _Side(asyncio.Protocol):
    """One end of the tunnel: what comes in goes out at the other, no faster than it is read."""

    def __init__(self, own: asyncio.Transport, other: asyncio.Transport) -> None:
        self._own = own
        self._other = other
        self.done = asyncio.get_running_loop().create_future()

    def data_received(self, data: bytes) -> None:
        self._other.write(data)

    def pause_writing(self) -> None:
        self._other.pause_reading()

    def resume_writing(self) -> None:
        self._other.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self.done.set_result(None)
        self._other.close()

    def shutdown(self) -> None:
        """Send what waits, then close."""
        self._own.close()


class _Tail:
    """Takes what the client library read behind the service's handshake."""

    def __init__(self) -> None:
        self.data = b""

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        self.data += data
        return False, b""

    def feed_eof(self) -> None:
        """Nothing more will come."""


async def tunnel(
    link: Link, upstream: Upstream, counters: GatewayCounters
) -> aiohttp.ClientResponse | None:
    """Pass a handshake on; after 101 the tunnel, up to its end, then None.

    Any other answer of the service is returned, to be passed on like every other.
    """
    target = upstream.target(origin_form(link.target))
    outgoing = Outgoing(upgrade_head(target, link.headers, upstream.host))
    response = await upstream.ask("GET", outgoing)
    if response.status != 101:
        return response
    counters.count("tunnels")
    connection: Any = response.connection
    inner = _Side(connection.transport, link.transport)
    outer = _Side(link.transport, connection.transport)
    try:
        tail = _Tail()
        connection.protocol.set_parser(tail, None)
        connection.transport.set_protocol(inner)
        reason = (response.reason or "").encode("utf-8", "surrogateescape")
        head = head_of(response.status, reason, response.raw_headers)
        link.switch(head + tail.data, outer)
        await asyncio.wait([inner.done, outer.done])
    finally:
        link.left(outer)
        inner.shutdown()
        outer.shutdown()
        response.close()
    return None
