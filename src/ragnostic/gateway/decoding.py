"""Bodies of the captured copy made readable: decompressed within a bound, parsed, merged."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple


class Decoded(NamedTuple):
    """A body after its content codings. ``fault`` says why it is not, or not all, there."""

    body: bytes
    fault: str | None = None


def decode(body: bytes, codings: list[str], most: int) -> Decoded:
    """Take off content codings, the last first; at most ``most`` bytes come out of each.

    A copy that was cut gives what its beginning holds.

    >>> decode(zlib.compress(b"a" * 1000), ["deflate"], 10)
    Decoded(body=b'aaaaaaaaaa', fault='more than 10 bytes when decompressed')
    """
    for coding in reversed(codings):
        if coding in ("", "identity"):
            continue
        expand = _EXPANDERS.get(coding)
        if expand is None:
            return Decoded(b"", f"content coding {coding!r} is not known")
        try:
            body = expand(body, most + 1)
        except ImportError:
            return Decoded(b"", f"content coding {coding!r} needs a package that is not installed")
        except Exception as error:  # noqa: BLE001 - each library has its own, all mean bad data
            return Decoded(b"", f"not {coding}: {error}")
        if len(body) > most:
            return Decoded(body[:most], f"more than {most} bytes when decompressed")
    return Decoded(body)


def _inflate(body: bytes, most: int) -> bytes:
    """By its own marks zlib or gzip, else the raw deflate that some servers send."""
    try:
        return zlib.decompressobj(wbits=47).decompress(body, most)
    except zlib.error:
        return zlib.decompressobj(wbits=-15).decompress(body, most)


def _gunzip(body: bytes, most: int) -> bytes:
    return zlib.decompressobj(wbits=31).decompress(body, most)


def _brotli(body: bytes, most: int) -> bytes:
    decompressor: Any = import_module("brotli").Decompressor()
    return bytes(decompressor.process(body, output_buffer_limit=most))


def _zstd(body: bytes, most: int) -> bytes:
    reader: Any = import_module("zstandard").ZstdDecompressor().stream_reader(body)
    return bytes(reader.read(most))


_EXPANDERS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _inflate,
    "br": _brotli,
    "zstd": _zstd,
}
