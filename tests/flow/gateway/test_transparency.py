"""What goes in comes out: methods, targets, headers, bodies, framing, byte by byte."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import os
import socket
import time

import pytest

CLOSE = b"Connection: close\r\n\r\n"
TARGETS = [
    b"/",
    b"/a/b?c=d&c=e",
    b"/a?",
    b"//double//slash",
    b"/a/../b/./c",
    b"/%E5%B9%B4%2F%20?q=%zz&x=%E5%81%87+%2B",
    b"/?a=1?b=2",
    b"/;params=1,2/(x)!'*~",
    b"/" + b"a" * 4000,
]
FIELDS = [
    (b"X-Twice", b"1"),
    (b"x-lower", b"Case is kept"),
    (b"X-Twice", b"2"),
    (b"X-Latin", b"caf\xe9"),
    (b"X-Utf8", "年假".encode()),
    (b"X-Empty", b""),
    (b"Cookie", b"a=b; c=d"),
    (b"Accept-Encoding", b"br;q=1.0, gzip"),
    (b"Authorization", b"Bearer abc"),
    (b"X-Twice", b"3"),
]


def head(fields) -> bytes:
    """Fields as they are written."""
    return b"".join(b"%s: %s\r\n" % pair for pair in fields)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target[:20].decode())
def test_a_target_arrives_as_it_was_written(gateway, service, target):
    """No path is normalised, decoded or encoded again; an empty query stays."""
    gateway.ask(b"GET " + target + b" HTTP/1.1\r\nHost: x\r\n" + CLOSE)
    assert service.requests[-1].line == b"GET " + target + b" HTTP/1.1"


@pytest.mark.parametrize(
    "method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "TRACE"]
)
def test_a_method_arrives(gateway, service, method):
    """Also those that the gateway has no opinion on."""
    gateway.ask(method.encode() + b" /m HTTP/1.1\r\nHost: x\r\n" + CLOSE)
    assert service.requests[-1].line == method.encode() + b" /m HTTP/1.1"


def test_request_headers_keep_order_case_repetition_and_bytes(gateway, service):
    """Nothing is added, and Host keeps its place."""
    fields = [FIELDS[0], (b"Host", b"my.example:81"), *FIELDS[1:]]
    gateway.ask(b"GET / HTTP/1.1\r\n" + head(fields) + CLOSE)
    assert service.requests[-1].fields == fields


def test_response_headers_reason_and_body_come_back_as_they_were(gateway, service):
    """Repeated cookies, the reason, bytes that are no UTF-8, a body of any bytes."""
    fields = [
        *FIELDS,
        (b"Set-Cookie", b"a=1"),
        (b"Set-Cookie", b"b=2"),
        (b"Content-Length", b"256"),
    ]
    body = bytes(range(256))
    service.answer = b"HTTP/1.1 299 Quite Fine\r\n" + head(fields) + b"\r\n" + body
    answer = gateway.ask(b"GET / HTTP/1.1\r\nHost: x\r\n" + CLOSE)
    wanted = b"HTTP/1.1 299 Quite Fine\r\n" + head([*fields, (b"Connection", b"close")])
    assert answer == wanted + b"\r\n" + body


def test_headers_of_one_hop_are_not_passed_on(gateway, service):
    """Those that RFC 9110 lists, and those that Connection names, in both directions."""
    fields = [(b"Host", b"x"), (b"Connection", b"close, X-Hop"), (b"X-Hop", b"1")]
    fields += [(b"Keep-Alive", b"5"), (b"TE", b"trailers"), (b"X-End", b"2")]
    fields += [(b"Proxy-Connection", b"a"), (b"Upgrade", b"h2c")]
    service.answer = (
        b"HTTP/1.1 200 OK\r\nConnection: X-Back\r\nX-Back: 1\r\nKeep-Alive: timeout=5\r\n"
        b"X-End: 2\r\nContent-Length: 0\r\n\r\n"
    )
    answer = gateway.ask(b"GET / HTTP/1.1\r\n" + head(fields) + b"\r\n")
    assert service.requests[-1].fields == [(b"Host", b"x"), (b"X-End", b"2")]
    assert (
        answer == b"HTTP/1.1 200 OK\r\nX-End: 2\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )


def test_connection_cannot_take_away_where_a_message_ends(gateway, service):
    """Nor for whom it is."""
    raw = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close, content-length, host\r\n"
    gateway.ask(raw + b"Content-Length: 3\r\n\r\nabc")
    assert service.requests[-1].body == b"abc"
    assert (b"Host", b"x") in service.requests[-1].fields


@pytest.mark.parametrize("size", [0, 1, 65_536, 3_000_000])
def test_a_body_with_a_length_arrives(gateway, service, size):
    """Whole, with its length."""
    body = os.urandom(size)
    raw = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n" % size
    gateway.ask(raw + CLOSE + body)
    assert service.requests[-1].body == body
    assert (b"Content-Length", b"%d" % size) in service.requests[-1].fields


@pytest.mark.parametrize("pieces", [[], [b"a"], [b"abc", b"d" * 70_000, b"e"]])
def test_a_chunked_body_arrives_chunked(gateway, service, pieces):
    """Its bytes are the same, its end is seen."""
    chunks = b"".join(b"%x;ext=1\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    raw = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n" + CLOSE
    gateway.ask(raw + chunks + b"0\r\n\r\n")
    assert service.requests[-1].body == b"".join(pieces)
    assert (b"Transfer-Encoding", b"chunked") in service.requests[-1].fields


def test_a_compressed_answer_is_passed_on_compressed(gateway, service):
    """The gateway never unpacks what passes."""
    body = gzip.compress(b'{"answer": "a"}' * 100, mtime=0)
    service.answer = (
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body)
        + body
    )
    answer = gateway.ask(b"GET / HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n" + CLOSE)
    assert answer.endswith(b"\r\n\r\n" + body)


EMPTY = [
    (b"HEAD", b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n"),
    (b"GET", b"HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n"),
    (b"GET", b'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\nContent-Length: 500\r\n\r\n'),
]


@pytest.mark.parametrize(("method", "answer"), EMPTY)
def test_answers_without_a_body_have_none(gateway, service, method, answer):
    """A length that speaks of another answer is passed on, and the connection goes on."""
    service.answer = answer
    wanted = answer[:-2] + b"\r\n"
    with gateway.connect() as client:
        for _ in range(2):
            client.sendall(method + b" / HTTP/1.1\r\nHost: x\r\n\r\n")
            received = b""
            while len(received) < len(wanted):
                received += client.recv(1 << 16)
            assert received == wanted


def test_an_answer_up_to_the_end_of_the_connection_becomes_chunked(gateway, service):
    """An HTTP/1.1 client learns where it ends."""
    service.answer, service.close_after = b"HTTP/1.1 200 OK\r\nX-A: b\r\n\r\nall of it", True
    answer = gateway.ask(b"GET / HTTP/1.1\r\nHost: x\r\n" + CLOSE)
    assert b"Transfer-Encoding: chunked\r\n" in answer
    assert answer.endswith(b"\r\n\r\n9\r\nall of it\r\n0\r\n\r\n")


def test_a_chunked_answer_reaches_an_old_client_without_chunks(gateway, service):
    """HTTP/1.0 knows none; the connection ends with the body."""
    service.answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
    answer = gateway.ask(b"GET / HTTP/1.0\r\n\r\n")
    assert service.requests[-1].fields == [(b"Host", b"127.0.0.1:%d" % service.port)]
    assert answer == b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc"


def test_interim_answers_are_passed_on(gateway, service):
    """Early hints come before the answer; 100 Continue that nobody asked for does not."""
    service.answer = (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"
    )
    answer = gateway.ask(b"GET / HTTP/1.1\r\nHost: x\r\n" + CLOSE)
    assert answer.startswith(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n")


def test_a_body_waits_for_the_services_100_continue(gateway, service):
    """The service decides; its word is passed on, and the body follows."""

    async def handler(one, reader, writer):
        begun = await reader.readuntil(b"\r\n\r\n")
        assert b"Expect: 100-continue" in begun
        await asyncio.sleep(0.1)
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        await reader.readexactly(5)
        writer.write(one.answer)
        await writer.drain()

    service.handler = handler
    with gateway.connect() as client:
        client.sendall(
            b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n" + CLOSE
        )
        assert client.recv(1 << 16) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(b"hello")
        gateway.until(client, b"\r\n\r\nok")


def test_a_service_may_refuse_a_body_before_it_comes(gateway, service):
    """The client gets the refusal, and no 100."""

    async def handler(_, reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        await reader.read()

    service.handler = handler
    raw = b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n"
    assert gateway.ask(raw + CLOSE).startswith(b"HTTP/1.1 413 Too Large\r\n")
    service.wait_closed()


def test_a_service_that_does_not_know_expect_gets_the_body_all_the_same(gateway, service):
    """After a second."""
    with gateway.connect() as client:
        client.sendall(
            b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n" + CLOSE
        )
        assert client.recv(1 << 16).startswith(b"HTTP/1.1 100")
        client.sendall(b"hi")
        gateway.until(client, b"\r\n\r\nok")


def test_connections_are_used_again_on_both_sides(gateway, service):
    """Ten requests, one connection each."""
    opened = service.opened
    with gateway.connect() as client:
        for number in range(10):
            client.sendall(b"GET /%d HTTP/1.1\r\nHost: x\r\n\r\n" % number)
            gateway.until(client, b"\r\n\r\nok")
    assert service.opened - opened <= 1
    assert len(service.requests) == 10


def test_pipelined_requests_are_answered_in_order(gateway, service):
    """However they are sliced into packets."""

    async def handler(one, reader, writer):
        while (request := await one.read(reader)) is not None:
            body = request.line.split()[1]
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))

    service.handler = handler
    raw = b"".join(b"GET /n%d HTTP/1.1\r\nHost: x\r\n\r\n" % n for n in range(20))
    raw += b"POST /last HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n" + CLOSE + b"abc"
    with gateway.connect() as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for start in range(0, len(raw), 137):
            client.sendall(raw[start : start + 137])
        received = b""
        while not received.endswith(b"/last"):
            piece = client.recv(1 << 16)
            assert piece, received
            received += piece
    found = [part.split(b"\r\n\r\n")[1] for part in received.split(b"HTTP/1.1 200 OK")[1:]]
    assert found == [b"/n%d" % n for n in range(20)] + [b"/last"]


@pytest.mark.parametrize("framing", [b"Content-Length: 3\r\n", b"Transfer-Encoding: chunked\r\n"])
def test_an_upgrade_that_nobody_speaks_is_ignored(gateway, service, framing):
    """Java's client asks for h2c with every first request, also with a body."""
    body = b"abc" if framing.startswith(b"C") else b"3\r\nabc\r\n0\r\n\r\n"
    raw = b"POST /up HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
    raw += b"HTTP2-Settings: AAMAAABk\r\n" + framing + b"\r\n" + body
    with gateway.connect() as client:
        for _ in range(3):
            client.sendall(raw)
            gateway.until(client, b"\r\n\r\nok")
    assert [request.body for request in service.requests] == [b"abc"] * 3
    assert not [name for name, _ in service.requests[0].fields if name.lower() == b"upgrade"]


def test_the_path_of_the_services_address_stands_before_every_target(start, service):
    """And its own Host is sent where that is set."""
    running = start(
        f'[upstream]\nurl = "http://127.0.0.1:{service.port}/base/"\nhost = "upstream"\n'
    )
    running.ask(b"GET /a?b HTTP/1.1\r\nHost: x\r\nX-A: b\r\n" + CLOSE)
    assert service.requests[-1].line == b"GET /base/a?b HTTP/1.1"
    host = (b"Host", b"127.0.0.1:%d" % service.port)
    assert service.requests[-1].fields == [host, (b"X-A", b"b")]


def test_a_large_answer_passes_unchanged(gateway, service):
    """8 MiB of random bytes, in pieces."""
    body = os.urandom(8 << 20)

    async def handler(one, reader, writer):
        await one.read(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for start in range(0, len(body), 50_000):
            piece = body[start : start + 50_000]
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            await writer.drain()
        writer.write(b"0\r\n\r\n")
        await writer.drain()

    service.handler = handler
    connection = __import__("http.client", fromlist=["client"]).HTTPConnection(
        "127.0.0.1", gateway.port, timeout=30
    )
    connection.request("GET", "/")
    digest = hashlib.sha256(connection.getresponse().read()).hexdigest()
    connection.close()
    assert digest == hashlib.sha256(body).hexdigest()


def test_an_answer_may_come_while_the_body_is_still_being_sent(gateway, service):
    """It is passed on at once; the rest of the body goes nowhere."""

    async def handler(_, reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nearly")
        await writer.drain()
        await asyncio.sleep(5)

    service.handler = handler
    with gateway.connect() as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nabc")
        begun = time.monotonic()
        gateway.until(client, b"\r\n\r\nearly")
        assert time.monotonic() - begun < 2
