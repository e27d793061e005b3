"""The service behind the gateway: one pooled HTTP/1.1 client whose requests go out as written.

aiohttp does connections, TLS, pooling, time-outs and the parsing of answers. Its request class is
replaced so that head and body are the client's own bytes, its response class so that interim
answers are seen.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

import aiohttp
from aiohttp import payload
from aiohttp.http_exceptions import HttpProcessingError
from aiohttp.http_writer import StreamWriter
from yarl import URL

from ragnostic.gateway.headers import Headers
from ragnostic.gateway.settings import UpstreamSettings

_RESET = struct.pack("ii", 1, 0)
_PATIENCE_S = 1.0
"""How long a body waits for ``100 Continue``: a service that does not know it says nothing."""


class UpstreamError(Exception):
    """The service gave no answer, or a bad one: the status the client gets, and a short reason."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class Outgoing(payload.Payload):
    """A request on its way: its head, the body that is here, and the pieces to come."""

    def __init__(
        self,
        head: bytes,
        body: bytes = b"",
        *,
        pieces: AsyncIterator[bytes] | None = None,
        chunked: bool = False,
        expects: bool = False,
        on_interim: Callable[[int, bytes, Headers], object] = lambda *_: None,
    ) -> None:
        super().__init__(body)
        self.head = head
        self.body = body
        self.pieces = pieces
        self.chunked = chunked
        self.on_interim = on_interim
        self.proceed = asyncio.Event() if expects else None
        self.transport: asyncio.Transport | None = None
        self.response: aiohttp.ClientResponse | None = None

    @property
    def consumed(self) -> bool:
        """Whether it cannot be sent a second time."""
        return self.pieces is not None

    def frame(self, piece: bytes) -> bytes:
        """A piece of the body as it goes over the wire."""
        return b"%x\r\n%s\r\n" % (len(piece), piece) if self.chunked else piece

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """Part of the base class; nothing here asks for it."""
        return self.body.decode(encoding, errors)

    async def write(self, writer: Any) -> None:
        """Part of the base class; the request writes this itself."""
        await writer.write(self.body)

    def abort(self) -> None:
        """Give up: the connection ends at once, also where the service reads nothing any more."""
        if self.transport is None or self._has_given_back():
            return
        # A closing transport may be closed by now, and its number another socket's.
        if self.transport.get_write_buffer_size() and not self.transport.is_closing():
            bound = self.transport.get_extra_info("socket")
            with suppress(OSError):  # only a reset overtakes what nobody reads
                bound.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self.transport.abort()

    def _has_given_back(self) -> bool:
        """Whether the whole answer is here, so that another request may have the connection."""
        return self.response is not None and self.response.connection is None


class _Request(aiohttp.ClientRequest):
    async def send(self, conn: Any) -> aiohttp.ClientResponse:
        """Write head and body as they are."""
        outgoing: Any = self.body
        protocol = conn.protocol
        outgoing.transport = protocol.transport
        start = outgoing.frame(outgoing.body) if outgoing.body else b""
        if outgoing.pieces is None and outgoing.chunked:
            start += b"0\r\n\r\n"
        if protocol.transport is None or protocol.transport.is_closing():
            raise aiohttp.ClientConnectionResetError("the connection was closed meanwhile")
        protocol.transport.write(outgoing.head + start)
        writer = StreamWriter(protocol, self.loop)
        task = None
        if outgoing.pieces is None:
            protocol.start_timeout()
        else:
            task = asyncio.create_task(_upload(outgoing, outgoing.pieces, writer, conn))
            self._writer = task
        response = self.response_class(
            self.method,
            self.original_url,
            writer=task,
            continue100=None,
            timer=self._timer,
            request_info=self.request_info,
            traces=[],
            loop=self.loop,
            session=self._session,
            stream_writer=writer,
        )
        response.outgoing = outgoing  # type: ignore[attr-defined] # of our subclass
        self.response = response  # type: ignore[assignment]  # None in the base class only at first
        return response


async def _upload(
    outgoing: Outgoing, pieces: AsyncIterator[bytes], writer: StreamWriter, conn: Any
) -> None:
    """Send the pieces as they come, no faster than the service reads them."""
    protocol = conn.protocol
    transport = protocol.transport
    try:
        if outgoing.proceed is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(outgoing.proceed.wait(), _PATIENCE_S)
        async for piece in pieces:
            transport.write(outgoing.frame(piece))
            await writer.drain()
            if transport.is_closing():
                break
        if outgoing.chunked:
            transport.write(b"0\r\n\r\n")
        protocol.start_timeout()
    except (OSError, aiohttp.ClientError):
        conn.close()  # the answer, if there is one, has been read by now
    except BaseException:
        conn.close()  # half a body is on the wire: nobody may use this connection again
        raise


class _Response(aiohttp.ClientResponse):
    outgoing: Outgoing

    async def start(self, connection: Any) -> aiohttp.ClientResponse:
        """Pass interim answers on; the library's own start would swallow them."""
        protocol = connection.protocol
        with suppress(HttpProcessingError):  # it is raised again, and told, by the base class
            while True:
                message, body = await protocol.read()
                if message.code == 101 or not 100 <= message.code <= 199:
                    protocol.feed_data((message, body), 0)
                    break
                if message.code == 100:  # the client is told by whoever reads its body
                    if self.outgoing.proceed is not None:
                        self.outgoing.proceed.set()
                else:
                    reason = message.reason.encode("utf-8", "surrogateescape")
                    self.outgoing.on_interim(message.code, reason, message.raw_headers)
        begun = await super().start(connection)
        self.outgoing.response = begun
        return begun


class Upstream:
    """One service; to be made and closed inside the event loop."""

    def __init__(self, name: str, url: str, settings: UpstreamSettings) -> None:
        self.name = name
        self._url = URL(url)
        self.own_host = (self._url.host_port_subcomponent or "").encode("ascii")
        self.host = self.own_host if settings.host == "upstream" else None
        self.prefix = self._url.raw_path.rstrip("/").encode("ascii")
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0,
                ssl=settings.verify,
                keepalive_timeout=settings.keep_alive_s,
            ),
            timeout=aiohttp.ClientTimeout(
                total=None, sock_connect=settings.connect_timeout_s, sock_read=settings.timeout_s
            ),
            request_class=_Request,
            response_class=_Response,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            max_line_size=1 << 16,
            max_field_size=1 << 16,
            max_headers=1 << 10,
        )

    def target(self, origin_form: bytes) -> bytes:
        """The request target behind the path of the service's own address."""
        return origin_form if origin_form == b"*" else self.prefix + origin_form

    async def ask(self, method: str, outgoing: Outgoing) -> aiohttp.ClientResponse:
        """The head of the answer; raises UpstreamError (502, 504)."""
        try:
            return await self._session.request(
                method, self._url, data=outgoing, allow_redirects=False
            )
        except (TimeoutError, aiohttp.ServerTimeoutError):
            raise timed_out() from None
        except aiohttp.ClientConnectorError:
            raise UpstreamError(
                502, "upstream_unreachable", "the service cannot be reached"
            ) from None
        except (aiohttp.ClientError, OSError, ValueError):
            raise broken() from None

    async def close(self) -> None:
        """End all connections."""
        await self._session.close()


def timed_out() -> UpstreamError:
    """The service was silent for too long."""
    return UpstreamError(504, "upstream_timeout", "the service did not answer in time")


def broken() -> UpstreamError:
    """The service closed the connection, or sent what is no HTTP."""
    return UpstreamError(502, "upstream_broken", "the service gave no valid answer")
