"""The body of a request, read and decompressed within bounds."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from typing import Any

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

_GZIP = 16 + zlib.MAX_WBITS
_STEP = 1 << 20
_PATIENCE = 4


class BodyError(Exception):
    """A body that is not taken; ``status`` is the answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class SenderGoneError(Exception):
    """The sender went away before the body was here."""


async def read_body(receive: Receive, headers: Mapping[str, str], most: int) -> bytes:
    """The body as sent; raises BodyError where it is longer than ``most`` bytes."""
    length = headers.get("content-length", "")
    if length.isdecimal() and int(length) > most:
        await discard_body(receive, most)
        raise BodyError(413, f"the request has {length} bytes, more than {most}")
    found = await _kept(receive, most, most)
    if found is None:
        raise BodyError(413, f"the request has more than {most} bytes")
    return found


async def discard_body(receive: Receive, most: int) -> None:
    """Let a body pass that is not wanted, up to a few times ``most`` bytes of it.

    A connection that is closed while its sender writes is reset: the sender would not see the
    answer, and come again with the same request.
    """
    await _kept(receive, 0, most)


async def _kept(receive: Receive, kept: int, most: int) -> bytes | None:
    """The body, or None where it has more than ``kept`` bytes."""
    found = bytearray()
    size = 0
    async for piece in _pieces(receive):
        size += len(piece)
        if size > _PATIENCE * most:
            break
        if size <= kept:
            found += piece
    return bytes(found) if size <= kept else None


async def _pieces(receive: Receive) -> AsyncIterator[bytes]:
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise SenderGoneError
        yield message.get("body", b"")
        if not message.get("more_body", False):
            return


def inflated(body: bytes, coding: str, most: int) -> bytes:
    """The body after its content coding, never more than ``most`` bytes of it in memory.

    Raises BodyError: 413 for a body that unpacks to more, 400 for a broken one, 415 for a coding
    that is not known.

    >>> import gzip
    >>> inflated(gzip.compress(b"spans"), "gzip", 100)
    b'spans'
    >>> inflated(gzip.compress(bytes(10**6)), "gzip", 1000)
    Traceback (most recent call last):
    ragnostic.gateway.otlp_body.BodyError: the request unpacks to more than 1000 bytes
    """
    if coding in ("", "identity"):
        return body
    if coding not in ("gzip", "x-gzip"):
        raise BodyError(415, f"content coding {coding!r} is not known; gzip is")
    found = bytearray()
    try:
        while body:  # one gzip file may follow another
            unpack = zlib.decompressobj(_GZIP)
            while not unpack.eof:
                piece = unpack.decompress(body, min(_STEP, most + 1 - len(found)))
                body = unpack.unconsumed_tail
                found += piece
                if len(found) > most:
                    raise BodyError(413, f"the request unpacks to more than {most} bytes")
                if not (piece or body or unpack.eof):
                    raise BodyError(400, "the gzip body ends too early")
            body = unpack.unused_data
    except zlib.error as error:
        raise BodyError(400, f"the body is no gzip: {error}") from error
    return bytes(found)
