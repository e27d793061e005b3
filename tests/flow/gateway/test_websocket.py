"""WebSockets through the tunnel, with a real client and a real server."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
import time

import pytest
from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect


@pytest.fixture
def echo():
    """An echo server in a thread; its port, and what it was asked for."""
    asked: list[tuple] = []
    ready, stop = threading.Event(), threading.Event()
    port: list[int] = []

    async def answer(connection):
        asked.append((connection.request.path, connection.request.headers))
        async for message in connection:
            if message == "close":
                await connection.close(4001, "as asked")
                return
            await connection.send(message)

    async def run():
        async with serve(answer, "127.0.0.1", 0, subprotocols=["chat.v2"], max_size=None) as server:
            port.append(server.sockets[0].getsockname()[1])
            ready.set()
            await asyncio.to_thread(stop.wait)

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    ready.wait(10)
    yield port[0], asked
    stop.set()
    thread.join(10)


def test_messages_pass_in_both_directions(start, echo):
    """Text, bytes, large ones, sub-protocols, compression, pings, and the reason of the end."""
    port, asked = echo
    running = start(f'[upstream]\nurl = "http://127.0.0.1:{port}"\n')
    with connect(
        f"ws://127.0.0.1:{running.port}/room?a=b",
        subprotocols=["chat.v1", "chat.v2"],
        additional_headers={"X-User-Id": "u1"},
        max_size=None,
        proxy=None,
    ) as client:
        assert client.subprotocol == "chat.v2"
        assert "permessage-deflate" in client.response.headers["Sec-WebSocket-Extensions"]
        for message in ("年假", b"\x00\xff", "x" * 3_000_000, os.urandom(500_000)):
            client.send(message)
            assert client.recv(timeout=10) == message
        assert client.ping().wait(5)
        client.send("close")
        with pytest.raises(ConnectionClosed) as closed:
            client.recv(timeout=5)
        assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (4001, "as asked")
    assert asked[0][0] == "/room?a=b"
    assert asked[0][1]["X-User-Id"] == "u1"
    counts = running.counters()
    assert (counts["tunnels"], counts["captured"]) == (1, 0)
    assert running.stop()[0] == 0


def test_an_end_that_does_not_read_holds_the_other_back(start, echo):
    """Megabytes wait at their ends, and all of them arrive."""
    port, _ = echo
    running = start(f'[upstream]\nurl = "http://127.0.0.1:{port}"\n')
    address = f"ws://127.0.0.1:{running.port}/"
    sent = [os.urandom(1 << 20) for _ in range(24)]
    with connect(address, subprotocols=["chat.v2"], max_size=None, proxy=None) as client:
        sender = threading.Thread(target=lambda: [client.send(message) for message in sent])
        sender.start()
        time.sleep(1)
        assert [client.recv(timeout=20) for _ in sent] == sent
        sender.join(10)


def test_a_service_that_refuses_says_so_itself(gateway, service):
    """Its answer is passed on like every other, and the connection goes on."""
    service.answer = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno"
    raw = (
        b"GET /w HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    with gateway.connect() as client:
        client.sendall(raw)
        answer = gateway.until(client, b"\r\n\r\nno")
    assert answer.startswith(b"HTTP/1.1 403 Forbidden\r\n")
    sent = dict(service.requests[-1].fields)
    assert sent[b"Upgrade"].lower() == b"websocket"
    assert sent[b"Sec-WebSocket-Version"] == b"13"


def test_either_end_ends_the_tunnel(start, echo):
    """No side is left hanging, and a stop of the gateway ends it too."""
    port, _ = echo
    running = start(f'[upstream]\nurl = "http://127.0.0.1:{port}"\n')
    address = f"ws://127.0.0.1:{running.port}/"
    with connect(address, subprotocols=["chat.v2"], proxy=None) as first:
        first.send("a")
        assert first.recv(timeout=5) == "a"
        first.socket.shutdown(socket.SHUT_RDWR)
    with connect(address, subprotocols=["chat.v2"], proxy=None) as second:
        second.send("b")
        assert second.recv(timeout=5) == "b"
        deadline = time.monotonic() + 5
        while running.counters()["running"] != 1:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        code, _, err = running.stop()
        assert (code, err) == (0, "")
        with pytest.raises(ConnectionClosed):
            second.recv(timeout=5)
