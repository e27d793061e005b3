"""Clients that go, services that fail: what is told, what is closed, what is recorded."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import select
import socket
import struct
import time
from pathlib import Path

import pytest

LARGE = bool(os.environ.get("RAGNOSTIC_ENDURANCE"))
ASK = b'{"query": "q1", "shop": "s"}'


def post(body: bytes = ASK, more: bytes = b"") -> bytes:
    """A question."""
    return (
        b"POST /chat HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        + more
        + b"Content-Length: %d\r\n\r\n" % len(body)
        + body
    )


def resident_kib(pid: int) -> int:
    """Resident memory of a process."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def reset(client: socket.socket) -> None:
    """Go without a word."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


async def silent(service, reader, writer):
    """A service that reads and says nothing, and sees when it is left."""
    await reader.read(1 << 20)
    while await reader.read(1 << 20):
        pass


async def deaf(service, reader, writer):
    """A service that reads nothing more, until it is left."""
    await reader.readuntil(b"\r\n\r\n")
    writer.transport.pause_reading()
    while not writer.transport.is_closing():
        await asyncio.sleep(0.01)
        with contextlib.suppress(Exception):
            writer.transport.get_extra_info("socket").send(b"")
        if is_reset(writer.transport.get_extra_info("socket").fileno()):
            return


def is_reset(number: int) -> bool:
    """Whether the other side has gone."""
    poll = select.poll()
    poll.register(number, select.POLLHUP | select.POLLERR | select.POLLRDHUP)
    return bool(poll.poll(0))


async def half_head(service, reader, writer):
    """A service that is slow to begin."""
    await reader.readuntil(b"\r\n\r\n")
    await silent(service, reader, writer)


async def sources_only(service, reader, writer):
    """A service that has found something, and thinks."""
    await service.read(reader)
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
    writer.write(b'event: sources\ndata: {"ids": ["a", "b"]}\n\n')
    await writer.drain()
    await silent(service, reader, writer)


async def endless(service, reader, writer):
    """A service that never stops."""
    await service.read(reader)
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
    while not writer.transport.is_closing():
        writer.write(b'data: {"choices": [{"delta": {"content": "x"}}]}\n\n')
        await writer.drain()
        await asyncio.sleep(0.001)


UPLOAD = post()[: -len(ASK)].replace(b"%d" % len(ASK), b"90000000")
MOMENTS = {
    "while uploading": (UPLOAD + b"a" * 1000, silent, None),
    "while uploading to a service that does not read": (UPLOAD + b"a" * 8_000_000, deaf, None),
    "before headers": (post(), half_head, None),
    "before the first token": (post(), sources_only, b"sources"),
    "mid-stream": (post(), endless, b"content"),
}


LEAVING = [
    (moment, leave)
    for moment in MOMENTS
    for leave in (socket.socket.close, reset)
    # behind megabytes that nobody reads no farewell arrives: only a reset overtakes them
    if leave is reset or "does not read" not in moment
]


@pytest.mark.parametrize(("moment", "leave"), LEAVING)
def test_a_client_that_goes_takes_the_services_connection_with_it(gateway, service, moment, leave):
    """Within a second; one record says so, and no task is left."""
    raw, service.handler, mark = MOMENTS[moment]
    before = gateway.counters()
    client = gateway.connect()
    client.settimeout(0)
    sent, begun = 0, time.monotonic()
    while sent < len(raw) and time.monotonic() - begun < 1:
        with contextlib.suppress(BlockingIOError):
            sent += client.send(raw[sent : sent + 65536])
    client.settimeout(10)
    if mark:
        gateway.until(client, mark)
    while service.opened == service.closed:
        time.sleep(0.005)
    time.sleep(0.05)
    leave(client)
    service.wait_closed(1.0)
    counts = gateway.settled(before["captured"] + 1)
    assert counts["client_aborts"] - before.get("client_aborts", 0) == 1
    assert counts["running"] == 0
    row = gateway.rows()[-1]
    assert row["outcome"] == "client_abort"
    assert row["query"] == ("" if "uploading" in moment else "q1")


def test_an_aborted_stream_keeps_what_had_come(gateway, service):
    """The part of the answer that passed is the answer."""
    service.handler = endless
    before = gateway.counters()["captured"]
    with gateway.connect() as client:
        client.sendall(post())
        gateway.until(client, b"content")
        time.sleep(0.2)
    gateway.settled(before + 1)
    row = gateway.rows()[-1]
    assert set(row["answer"]) == {"x"}
    assert row["capture"]["complete"] is False
    assert row["capture"]["first_token_ms"] > 0


def test_a_service_that_is_down_gives_502(start, service):
    """With a short JSON body; it is recorded as failed."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]
    running = start(f'[upstream]\nurl = "http://127.0.0.1:{port}"\n')
    answer = running.ask(post())
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 502 Bad Gateway\r\n")
    assert json.loads(body)["error"]["code"] == "upstream_unreachable"
    assert str(port).encode() not in body
    running.settled(1)
    row = running.rows()[-1]
    assert (row["outcome"], row["labels"]["status"], row["query"]) == ("failed", "502", "q1")


def test_a_service_that_is_silent_gives_504(start, service):
    """After upstream.timeout_s."""
    running = start("[upstream]\ntimeout_s = 0.3\n")
    service.handler = half_head
    begun = time.monotonic()
    answer = running.ask(post())
    assert time.monotonic() - begun < 5
    assert answer.startswith(b"HTTP/1.1 504 Gateway Timeout\r\n")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"] == "upstream_timeout"
    running.settled(1)
    assert running.rows()[-1]["labels"]["status"] == "504"
    service.wait_closed()


@pytest.mark.parametrize(
    "answer",
    [
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nX: a\x01b\r\n\r\n",
        b"",
    ],
)
def test_an_answer_that_is_no_http_gives_502(gateway, service, answer):
    """Nothing of it is passed on."""
    service.answer, service.close_after = answer, True
    received = gateway.ask(post())
    assert received.startswith(b"HTTP/1.1 502 Bad Gateway\r\n")
    assert received.count(b"HTTP/1.1") == 1


CUT = {
    "by length": b"Content-Length: 100\r\n\r\nhalf",
    "by chunks": b"Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
}


@pytest.mark.parametrize("framing", CUT.values(), ids=CUT)
def test_an_answer_that_is_cut_reaches_the_client_cut(gateway, service, framing):
    """The client can see it: the length is not reached, the last chunk does not come."""
    before = gateway.counters()["captured"]
    service.answer, service.close_after = b"HTTP/1.1 200 OK\r\n" + framing, True
    received = gateway.ask(post())
    assert b"half" in received
    assert not received.endswith(b"0\r\n\r\n")
    gateway.settled(before + 1)
    assert gateway.rows()[-1]["outcome"] == "failed"


def test_a_service_that_falls_silent_in_its_answer_is_cut_off(start, service):
    """The client gets the part that came, and then the end of the connection."""

    async def handler(one, reader, writer):
        await one.read(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        await writer.drain()
        await silent(one, reader, writer)

    running = start("[upstream]\ntimeout_s = 0.3\n")
    service.handler = handler
    assert running.ask(post()).endswith(b"half")


def test_a_slow_reader_holds_the_service_back(gateway, service):
    """64 MiB, or 1 GiB, wait at the service, not in the gateway."""
    size, sent = (1024 if LARGE else 64) << 20, [0]

    async def handler(one, reader, writer):
        await one.read(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        piece = os.urandom(1 << 16)
        for _ in range(size >> 16):
            writer.write(piece)
            await writer.drain()
            sent[0] += len(piece)

    service.handler = handler
    gateway.ask(b"GET / HTTP/1.0\r\n\r\n", timeout=120)
    service.reset()
    service.handler = handler
    before = resident_kib(gateway.process.pid)
    sent[0] = 0
    with gateway.connect() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        most = 0
        for _ in range(600 if LARGE else 20):
            client.recv(1000)
            time.sleep(0.1)
            most = max(most, resident_kib(gateway.process.pid) - before)
    assert most < 32 * 1024
    assert sent[0] < size / 2


def test_a_slow_service_holds_the_client_back(gateway, service):
    """An upload waits at the client."""
    gateway.ask(post(b"", b"Connection: close\r\n"))
    service.reset()
    before = resident_kib(gateway.process.pid)
    service.handler = deaf
    client = gateway.connect()
    client.settimeout(0)
    client.send(UPLOAD)
    sent, begun = 0, time.monotonic()
    while time.monotonic() - begun < 2:
        try:
            sent += client.send(b"a" * 65536)
        except BlockingIOError:
            time.sleep(0.01)
    reset(client)
    assert sent < 64_000_000
    assert resident_kib(gateway.process.pid) - before < 32 * 1024
    service.wait_closed(1.0)
