"""What a gateway must not pass on: smuggling, foreign targets, CONNECT, endless heads."""

from __future__ import annotations

import time

import pytest

HOST = b"Host: x\r\n"
POST = b"POST / HTTP/1.1\r\n" + HOST
CHUNKED = b"Transfer-Encoding: chunked\r\n"

REFUSED = {
    "length and chunked": POST + b"Content-Length: 4\r\n" + CHUNKED + b"\r\n0\r\n\r\n",
    "chunked and length": POST + CHUNKED + b"Content-Length: 4\r\n\r\n0\r\n\r\n",
    "two lengths": POST + b"Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd",
    "the same length twice": POST + b"Content-Length: 4\r\nContent-Length: 4\r\n\r\nabcd",
    "a list of lengths": POST + b"Content-Length: 4, 4\r\n\r\nabcd",
    "a signed length": POST + b"Content-Length: +4\r\n\r\nabcd",
    "a negative length": POST + b"Content-Length: -4\r\n\r\nabcd",
    "an empty length": POST + b"Content-Length: \r\n\r\nabcd",
    "a hexadecimal length": POST + b"Content-Length: 0x4\r\n\r\nabcd",
    "a length beyond 64 bits": POST + b"Content-Length: 99999999999999999999\r\n\r\nabcd",
    "a folded field": b"GET / HTTP/1.1\r\n" + HOST + b"X-A: b\r\n c\r\n\r\n",
    "a folded coding": POST + b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
    "space before the colon": POST + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "an unknown coding": POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "chunked is not last": POST + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "another coding first": POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "two codings": POST + CHUNKED + b"Transfer-Encoding: identity\r\n\r\n0\r\n\r\n",
    "chunked twice": POST + CHUNKED + CHUNKED + b"\r\n0\r\n\r\n",
    "a control mark before chunked": POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
    "chunked in HTTP/1.0": b"POST / HTTP/1.0\r\n" + CHUNKED + b"\r\n0\r\n\r\n",
    "bare line feeds": b"GET / HTTP/1.1\nHost: x\n\n",
    "a bare carriage return": b"GET / HTTP/1.1\r\nHost: x\rX: y\r\n\r\n",
    "a NUL": b"GET / HTTP/1.1\r\nHost: x\r\nX: a\x00b\r\n\r\n",
    "no Host": b"GET / HTTP/1.1\r\n\r\n",
    "two Hosts": b"GET / HTTP/1.1\r\n" + HOST + b"Host: y\r\n\r\n",
    "a malformed Host": b"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
    "a user in Host": b"GET / HTTP/1.1\r\nHost: a@b\r\n\r\n",
    "CONNECT": b"CONNECT other:443 HTTP/1.1\r\nHost: other:443\r\n\r\n",
    "a foreign absolute target": b"GET http://other/x HTTP/1.1\r\nHost: other\r\n\r\n",
    "an absolute target in disguise": b"GET http://x@other/ HTTP/1.1\r\nHost: x\r\n\r\n",
    "a fragment": b"GET /a#b HTTP/1.1\r\nHost: x\r\n\r\n",
    "a star for GET": b"GET * HTTP/1.1\r\nHost: x\r\n\r\n",
    "no target": b"GET foo HTTP/1.1\r\nHost: x\r\n\r\n",
    "bytes in the target": b"GET /\xe5\xb9\xb4 HTTP/1.1\r\nHost: x\r\n\r\n",
    "a space in the target": b"GET /a b HTTP/1.1\r\nHost: x\r\n\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "HTTP/0.9": b"GET /\r\n\r\n",
    "a bad name": b"GET / HTTP/1.1\r\nHost: x\r\nX(A): b\r\n\r\n",
    "a field before the first": b"GET / HTTP/1.1\r\n X: b\r\nHost: x\r\n\r\n",
    "a chunk size with 0x": POST + CHUNKED + b"\r\n0x1\r\nx\r\n0\r\n\r\n",
    "chunks with line feeds": POST + CHUNKED + b"\r\n1\nx\n0\n\n",
    "a chunk longer than it says": POST + CHUNKED + b"\r\n1\r\nxy\r\n0\r\n\r\n",
    "a chunk size beyond 64 bits": POST + CHUNKED + b"\r\nfffffffffffffffff\r\nx\r\n0\r\n\r\n",
    "no HTTP at all": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
}
SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize("raw", REFUSED.values(), ids=REFUSED)
def test_a_request_is_refused_and_nothing_behind_it_is_read(gateway, service, raw):
    """One answer of class 4xx or 5xx, then the connection ends; the service sees nothing whole."""
    with gateway.connect() as client:
        client.sendall(raw + SMUGGLED)
        answer = gateway.all(client)
    assert answer.count(b"\r\n\r\n") == 1
    assert answer[9:10] in b"45"
    assert b"\r\nconnection: close\r\n" in answer.lower()
    assert service.requests == []


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (REFUSED["CONNECT"], 501),
        (REFUSED["a foreign absolute target"], 421),
        (REFUSED["another coding first"], 501),
        (REFUSED["HTTP/0.9"], 505),
        (REFUSED["two Hosts"], 400),
    ],
)
def test_the_status_says_what_is_wrong(gateway, service, raw, status):
    """As the RFCs name it."""
    assert gateway.ask(raw).startswith(b"HTTP/1.1 %d " % status)


def test_an_absolute_target_of_our_own_is_passed_on_as_a_path(gateway, service):
    """RFC 9112 3.2.2: it must be accepted."""
    raw = b"GET http://LocalHost:%d/a?b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    gateway.ask(raw % gateway.port)
    assert service.requests[-1].line == b"GET /a?b HTTP/1.1"


def test_options_star_is_passed_on(gateway, service):
    """The asterisk form means the server as a whole."""
    gateway.ask(b"OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert service.requests[-1].line == b"OPTIONS * HTTP/1.1"


def test_a_head_that_never_ends_is_cut_off(gateway, service):
    """Long before memory is filled."""
    with gateway.connect() as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
        begun = time.monotonic()
        try:
            while time.monotonic() - begun < 10:
                client.sendall(b"X-A: " + b"b" * 8000 + b"\r\n")
        except OSError:
            pass
        assert time.monotonic() - begun < 10
    assert service.requests == []


def test_refusals_are_counted(gateway, service):
    """Malformed ones, and those that are sound but not for a gateway."""
    before = gateway.counters()
    gateway.ask(REFUSED["a folded field"])
    gateway.ask(REFUSED["CONNECT"])
    after = gateway.counters()
    assert after.get("malformed", 0) - before.get("malformed", 0) == 1
    assert after.get("refused", 0) - before.get("refused", 0) == 1
