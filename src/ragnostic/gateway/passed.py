"""An exchange that has passed, as it goes to the process that stores it: plain data in frames.

A frame is a head in JSON behind its length, then the two bodies as they are.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from ragnostic.gateway.capture import Copy, Exchange
from ragnostic.gateway.headers import Headers

_NUMBER = struct.Struct(">I")


@dataclass(frozen=True, slots=True)
class PassedBody:
    """What was copied of a body, the truth about all of it, and when its parts were here.

    ``marks`` are pairs of an offset and the milliseconds after which the body was here up to it.
    """

    body: bytes
    facts: Mapping[str, Any]
    marks: tuple[tuple[int, float], ...] = ()

    @property
    def truncated(self) -> bool:
        """Whether the body is longer than what was copied."""
        return bool(self.facts["truncated"])

    def arrival_ms(self, offset: int) -> float | None:
        """After how many milliseconds the first ``offset`` bytes were here."""
        return next((moment for end, moment in self.marks if end >= offset), None)


@dataclass(frozen=True, slots=True)
class Passed:
    """All that is known of an exchange; times in seconds since the epoch, or in milliseconds."""

    id: str
    method: str
    target: str
    ts: float
    latency_ms: float | None
    status: int | None
    outcome: str
    error: str | None
    searched: str | None
    labels: Mapping[str, str]
    request_headers: Mapping[str, str]
    response_headers: Mapping[str, str]
    request: PassedBody
    response: PassedBody


def to_frame(exchange: Exchange) -> bytes:
    """An exchange that has ended, as bytes."""
    bodies = exchange.request.body, exchange.response.body
    head = {
        "id": exchange.id,
        "method": exchange.method,
        "target": exchange.target.decode("latin-1"),
        "ts": exchange.ts,
        "latency_ms": exchange.after_ms(exchange.ended),
        "status": exchange.status,
        "outcome": exchange.outcome,
        "error": exchange.error,
        "searched": exchange.searched,
        "labels": exchange.labels,
        "request_headers": fields(exchange.request_headers),
        "response_headers": fields(exchange.response_headers),
        "request": _body_head(exchange, exchange.request),
        "response": _body_head(exchange, exchange.response),
    }
    written = json.dumps(head).encode()
    sizes = b"".join(map(_NUMBER.pack, (len(written), *map(len, bodies))))
    return sizes + written + b"".join(bodies)


def _body_head(exchange: Exchange, copy: Copy) -> dict[str, Any]:
    marks = [(end, exchange.after_ms(moment)) for end, moment in copy.marks]
    return {"facts": copy.facts(), "marks": marks}


def read_number(source: BinaryIO) -> int | None:
    """How many frames follow; None at the end, and where it ends within the number."""
    written = source.read(_NUMBER.size)
    return _NUMBER.unpack(written)[0] if len(written) == _NUMBER.size else None


def number(count: int) -> bytes:
    """How many frames follow, as bytes."""
    return _NUMBER.pack(count)


def read_frame(source: BinaryIO) -> Passed | None:
    """The next exchange; None where the sender has ended within it."""
    sizes = [read_number(source) for _ in range(3)]
    known = [size for size in sizes if size is not None]
    parts = [source.read(size) for size in known]
    if [len(part) for part in parts] != known or len(known) < 3:
        return None
    head = json.loads(parts[0])
    for side, body in zip(("request", "response"), parts[1:], strict=True):
        marks = tuple((end, moment) for end, moment in head[side]["marks"])
        head[side] = PassedBody(body, head[side]["facts"], marks)
    return Passed(**head)


def fields(headers: Headers) -> dict[str, str]:
    """Header fields by name in lower case; repeated ones joined with commas.

    >>> fields([(b"A", b"1"), (b"a", b"2")])
    {'a': '1, 2'}
    """
    found: dict[str, str] = {}
    for name, value in headers:
        key, text = name.decode("latin-1").lower(), value.decode("utf-8", "replace")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found
