"""Header fields as a gateway must treat them: which are for one hop only, which refuse a request.

RFC 9110 7.6.1 (Connection), RFC 9112 3.2 (Host, request targets), 6 (framing).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

Headers = Sequence[tuple[bytes, bytes]]
"""Fields as they were received: names in any case, in order, repeated where they are repeated."""

HOP_BY_HOP = frozenset(
    {b"connection", b"keep-alive", b"proxy-connection", b"te", b"transfer-encoding", b"upgrade"}
)
_NEVER_DROPPED = frozenset({b"host", b"content-length"})
"""A Connection field that names these would change where a message ends, or whom it is for."""
_HOST = re.compile(rb"(?:\[[0-9A-Fa-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?", re.ASCII)
_TARGET = re.compile(rb"[!-\"$-~]+", re.ASCII)
_UNSAFE_VALUE = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
_TOKEN = re.compile(rb"[!#$%&'*+.^`|~\w-]+", re.ASCII)


class Refusal(NamedTuple):
    """A request that is not passed on: the status of the answer, and why."""

    status: int
    reason: str


def values(headers: Headers, name: bytes) -> list[bytes]:
    """All values of a field, in order; ``name`` in lower case.

    >>> values([(b"Host", b"a"), (b"X", b"b"), (b"host", b"c")], b"host")
    [b'a', b'c']
    """
    return [value for field, value in headers if field.lower() == name]


def tokens(headers: Headers, name: bytes) -> list[bytes]:
    """The members of a list field in lower case.

    >>> tokens([(b"Connection", b"Keep-Alive, X-Trace"), (b"Connection", b"close")], b"connection")
    [b'keep-alive', b'x-trace', b'close']
    """
    members = (part.strip().lower() for line in values(headers, name) for part in line.split(b","))
    return [member for member in members if member]


def end_to_end(headers: Headers) -> list[tuple[bytes, bytes]]:
    """The fields that are passed on: none that is for this hop only, or named by Connection.

    >>> end_to_end([(b"Host", b"a"), (b"Connection", b"x-hop"), (b"X-Hop", b"1"), (b"A", b"b")])
    [(b'Host', b'a'), (b'A', b'b')]
    """
    dropped = HOP_BY_HOP | (set(tokens(headers, b"connection")) - _NEVER_DROPPED)
    return [(name, value) for name, value in headers if name.lower() not in dropped]


def is_websocket(method: str, headers: Headers) -> bool:
    """Whether a request asks for a WebSocket: a GET without a body that says so twice.

    >>> is_websocket("GET", [(b"Connection", b"Upgrade"), (b"Upgrade", b"WebSocket")])
    True
    """
    return (
        method == "GET"
        and b"upgrade" in tokens(headers, b"connection")
        and tokens(headers, b"upgrade") == [b"websocket"]
        and not has_body(headers)
    )


def has_body(headers: Headers) -> bool:
    """Whether a request with these fields is followed by a body of at least one byte.

    >>> has_body([(b"content-length", b"0")]), has_body([(b"Transfer-Encoding", b"chunked")])
    (False, True)
    """
    if tokens(headers, b"transfer-encoding"):
        return True
    return any(length.strip(b"0") for length in values(headers, b"content-length"))


def refusal(
    method: str, target: bytes, version: str, headers: Headers, own: Iterable[bytes]
) -> Refusal | None:
    """Why a request may not be passed on, or None.

    ``own`` are the authorities (``host:port``, lower case) that an absolute target may name. What
    the parser has let through is sound in itself; here is what only a gateway must not accept.

    >>> refusal("GET", b"/a?b", "1.1", [(b"Host", b"x")], [])
    >>> refusal("GET", b"http://other/a", "1.1", [(b"Host", b"other")], [b"here:80"]).status
    421
    """
    coding = tokens(headers, b"transfer-encoding")
    hosts = values(headers, b"host")
    if method == "CONNECT":
        found = Refusal(501, "CONNECT is not supported: this is no forward proxy")
    elif version not in ("1.0", "1.1"):
        found = Refusal(505, "only HTTP/1.0 and HTTP/1.1 are spoken here")
    elif len(hosts) > 1 or (not hosts and version == "1.1"):
        found = Refusal(400, "a request needs exactly one Host")
    elif hosts and not _HOST.fullmatch(hosts[0]):
        found = Refusal(400, "the Host is malformed")
    elif coding and version == "1.0":
        found = Refusal(400, "Transfer-Encoding has no meaning in HTTP/1.0")
    elif coding and coding != [b"chunked"]:
        found = Refusal(501, "the only transfer coding known here is chunked")
    elif coding and values(headers, b"content-length"):
        found = Refusal(400, "Content-Length and Transfer-Encoding exclude each other")
    else:
        return _target_refusal(method, target, own)
    return found


def _target_refusal(method: str, target: bytes, own: Iterable[bytes]) -> Refusal | None:
    if not _TARGET.fullmatch(target):
        return Refusal(400, "the request target is malformed")
    if target.startswith(b"/") or (target == b"*" and method == "OPTIONS"):
        return None
    scheme, _, rest = target.partition(b"://")
    if scheme.lower() not in (b"http", b"https"):
        return Refusal(400, "the request target is malformed")
    authority = re.split(rb"[/?]", rest, maxsplit=1)[0].lower()
    if authority in own:
        return None
    return Refusal(421, "the request target names another host")


def origin_form(target: bytes) -> bytes:
    """The path and query of a target; an absolute one loses its scheme and authority.

    >>> origin_form(b"http://here:80/a?b"), origin_form(b"http://here?b"), origin_form(b"/a//b?")
    (b'/a?b', b'/?b', b'/a//b?')
    """
    if target.startswith(b"/") or target == b"*":
        return target
    rest = target.partition(b"://")[2]
    place = re.search(rb"[/?]", rest)
    path = rest[place.start() :] if place else b""
    return path if path.startswith(b"/") else b"/" + path


def request_head(
    method: str, target: bytes, headers: Headers, host: bytes | None = None, missing: bytes = b""
) -> bytes:
    r"""The head of the request that is sent on: same fields, same order, same case.

    Chunked stays chunked, at its place, though the chunks may be others. ``host`` replaces the
    value of Host; ``missing`` is it, and comes first, where there was none.

    >>> request_head("GET", b"/a?", [(b"HOST", b"x"), (b"TE", b"trailers"), (b"b", b"1")])
    b'GET /a? HTTP/1.1\r\nHOST: x\r\nb: 1\r\n\r\n'
    """
    dropped = HOP_BY_HOP | (set(tokens(headers, b"connection")) - _NEVER_DROPPED)
    lines = [b"%s %s HTTP/1.1" % (method.encode("ascii"), target)]
    if not values(headers, b"host"):
        lines.append(b"Host: %s" % (host or missing))
    for name, value in headers:
        key = name.lower()
        if key == b"host" and host is not None:
            lines.append(b"%s: %s" % (name, host))
        elif key == b"transfer-encoding":
            lines.append(b"%s: chunked" % name)
        elif key not in dropped:
            lines.append(b"%s: %s" % (name, value))
    return b"\r\n".join([*lines, b"\r\n"])


def upgrade_head(target: bytes, headers: Headers, host: bytes | None = None) -> bytes:
    """The head of a request for a WebSocket, which keeps its Connection and Upgrade."""
    kept = [(name, value) for name, value in headers if name.lower() not in HOP_BY_HOP]
    asked = [(b"Connection", b"Upgrade"), (b"Upgrade", b"websocket")]
    head = request_head("GET", target, kept, host)
    return head[:-2] + b"".join(b"%s: %s\r\n" % field for field in asked) + b"\r\n"


def sound(headers: Headers) -> bool:
    r"""Whether an answer's fields can be written without changing where it ends.

    >>> sound([(b"A", b"b")]), sound([(b"A", b"b\r\nSet-Cookie: c")]), sound([(b"A b", b"c")])
    (True, False, False)
    """
    return all(_TOKEN.fullmatch(name) and not _UNSAFE_VALUE.search(v) for name, v in headers)
