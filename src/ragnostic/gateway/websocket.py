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

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.other: _Side | None = None
        self.done = asyncio.get_running_loop().create_future()

    def data_received(self, data: bytes) -> None:
        if self.other is not None and self.other.transport is not None:
            self.other.transport.write(data)

    def pause_writing(self) -> None:
        if self.other is not None and self.other.transport is not None:
            self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        if self.other is not None and self.other.transport is not None:
            self.other.transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        if not self.done.done():
            self.done.set_result(None)
        if self.other is not None:
            self.other.shutdown()

    def shutdown(self) -> None:
        """Send what waits, then close."""
        if self.transport is not None:
            self.transport.close()


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
    inner, outer = _Side(), _Side()
    inner.other, outer.other = outer, inner
    try:
        connection: Any = response.connection
        tail = _Tail()
        connection.protocol.set_parser(tail, None)
        inner.transport = connection.transport
        connection.transport.set_protocol(inner)
        reason = (response.reason or "").encode("utf-8", "surrogateescape")
        head = head_of(response.status, reason, response.raw_headers)
        outer.transport = link.switch(head + tail.data, outer)
        try:
            await asyncio.wait([inner.done, outer.done], return_when=asyncio.ALL_COMPLETED)
        finally:
            link.left(outer)
    finally:
        inner.shutdown()
        outer.shutdown()
        response.close()
    return None
