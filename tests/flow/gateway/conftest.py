"""A real service and a real gateway in front of it: raw sockets on both sides."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ragnostic.store.queue import SqliteQueue

MAP = """
[map]
query = "request.query || params.q"
answer = "response.answer"
[map.retrieve]
ids = "response.sources[].id"
[map.found]
ids = "response.events[?event=='sources'].data.ids[]"
[map.labels]
shop = "request.shop"
"""


@dataclass
class Request:
    """What the service got, as it came."""

    head: bytes
    body: bytes

    @property
    def line(self) -> bytes:
        """The request line."""
        return self.head.split(b"\r\n")[0]

    @property
    def fields(self) -> list[tuple[bytes, bytes]]:
        """Header fields in order."""
        lines = self.head.split(b"\r\n")[1:]
        return [tuple(line.split(b": ", 1)) for line in lines if line]


Handler = Callable[["Service", asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Service:
    """A scripted HTTP/1.1 server in a thread of this process.

    ``answer`` is sent to each request as it is; ``handler`` takes a whole connection over.
    """

    answer: bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    handler: Handler | None = None
    close_after: bool = False
    requests: list[Request] = field(default_factory=list)
    opened: int = 0
    closed: int = 0
    port: int = 0
    loop: asyncio.AbstractEventLoop | None = None
    writers: set[asyncio.StreamWriter] = field(default_factory=set)

    def reset(self) -> None:
        """As new, on the same port; connections that the gateway has kept are closed."""
        if self.loop is not None and self.writers:
            self.loop.call_soon_threadsafe(lambda: [one.close() for one in self.writers])
            self.wait_closed(10)
            time.sleep(0.05)
        self.answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        self.handler, self.close_after = None, False
        self.requests = []

    async def read(self, reader: asyncio.StreamReader) -> Request | None:
        """One request; None at the end of the connection."""
        try:
            head = (await reader.readuntil(b"\r\n\r\n"))[:-2]
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        body = b""
        length = re.search(rb"(?im)^content-length: *(\d+)", head)
        if length:
            body = await reader.readexactly(int(length[1]))
        elif re.search(rb"(?im)^transfer-encoding: *chunked", head):
            while size := int(await reader.readline(), 16):
                body += await reader.readexactly(size)
                await reader.readline()
            await reader.readline()
        request = Request(head, body)
        self.requests.append(request)
        return request

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        self.opened += 1
        self.writers.add(writer)
        try:
            if self.handler is not None:
                await self.handler(self, reader, writer)
                return
            while await self.read(reader) is not None:
                writer.write(self.answer)
                await writer.drain()
                if self.close_after:
                    return
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self.closed += 1
            self.writers.discard(writer)
            writer.close()

    def wait_closed(self, seconds: float = 1.0) -> float:
        """How long until no connection is open; fails after ``seconds``."""
        begun = time.monotonic()
        while self.closed < self.opened:
            assert time.monotonic() - begun < seconds, "the service's connection is still open"
            time.sleep(0.005)
        return time.monotonic() - begun


@contextmanager
def running_service() -> Iterator[Service]:
    """A service on a free port."""
    loop = asyncio.new_event_loop()
    service = Service(loop=loop)
    started = threading.Event()

    async def run() -> None:
        server = await asyncio.start_server(service.serve, "127.0.0.1", 0, limit=1 << 20)
        service.port = server.sockets[0].getsockname()[1]
        started.set()
        async with server:
            await asyncio.Event().wait()

    def work() -> None:
        asyncio.set_event_loop(loop)
        task = loop.create_task(run())
        loop.run_forever()
        for one in asyncio.all_tasks(loop):
            one.cancel()
        loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert started.wait(10)
    try:
        yield service
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)


@dataclass
class Running:
    """A gateway in a process of its own."""

    process: subprocess.Popen
    folder: Path
    port: int
    control_port: int
    said: list[str]

    def connect(self, timeout: float = 10.0) -> socket.socket:
        """A connection of a client."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=timeout)

    def ask(self, raw: bytes, *, timeout: float = 10.0) -> bytes:
        """All that comes back for bytes on a new connection, up to its end."""
        with self.connect(timeout) as client:
            client.sendall(raw)
            return read_all(client)

    @staticmethod
    def all(client: socket.socket) -> bytes:
        """What comes back, up to the end."""
        return read_all(client)

    @staticmethod
    def until(client: socket.socket, mark: bytes) -> bytes:
        """What comes back, up to a mark."""
        return read_until(client, mark)

    def control(
        self, method: str, path: str, body: object = None, headers: dict[str, str] | None = None
    ) -> tuple[int, dict]:
        """A call of the control port."""
        connection = http.client.HTTPConnection("127.0.0.1", self.control_port, timeout=10)
        try:
            text = None if body is None else json.dumps(body)
            connection.request(method, path, text, headers or {})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def counters(self) -> dict:
        """What it has done so far."""
        return self.control("GET", "/counters")[1]

    def settled(self, captured: int, seconds: float = 15.0) -> dict:
        """The counters when so many captures are taken and none waits."""
        begun = time.monotonic()
        while True:
            counts = self.counters()
            if counts["captured"] >= captured and counts["waiting"] == 0:
                return counts
            assert time.monotonic() - begun < seconds, counts
            time.sleep(0.02)

    def storing(self) -> int:
        """The process that stores for it, as soon as there is one."""
        begun = time.monotonic()
        while time.monotonic() - begun < 10:
            tasks = Path(f"/proc/{self.process.pid}/task").glob("*/children")
            found = [number for task in tasks for number in task.read_text().split()]
            if found:
                return int(found[0])
            time.sleep(0.01)
        pytest.fail("nothing stores")

    def rows(self) -> list[dict]:
        """All records in the queue, oldest first."""
        return stored_rows(self.folder / "store")

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str, str]:
        """End it; exit code, and what it said."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, "".join(self.said) + out, err


def stored_rows(store: Path) -> list[dict]:
    """All records in a store's queue, oldest first."""
    with SqliteQueue(store / "queue.sqlite") as queue:
        events = [
            json.loads(event.payload)
            for partition in range(queue.partitions)
            for event in queue.read(partition, 0, 100_000)
        ]
    return sorted(events, key=lambda row: row["ts"])


def read_all(client: socket.socket) -> bytes:
    """Everything up to the end of the connection."""
    pieces = []
    with contextlib.suppress(ConnectionResetError):
        while piece := client.recv(1 << 16):
            pieces.append(piece)
    return b"".join(pieces)


def read_until(client: socket.socket, mark: bytes) -> bytes:
    """Everything up to a mark."""
    received = b""
    while mark not in received:
        piece = client.recv(1 << 16)
        assert piece, received
        received += piece
    return received


def start_gateway(folder: Path, port: int, more: str = "", **environment: str) -> Running:
    """Start a gateway on free ports in front of a service, and wait until it is there."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = {
        "listen": 'address = "127.0.0.1:0"\ndrain_s = 3.0\n',
        "upstream": f'url = "http://127.0.0.1:{port}"\n',
        "control": 'address = "127.0.0.1:0"\n',
    }
    for name, lines in list(tables.items()):
        found = re.search(rf"(?m)^\[{name}\]\n((?:[^\[].*\n|\n)*)", more)
        if found:
            own = [line for line in lines.splitlines() if line.split(" ")[0] not in found[1]]
            tables[name] = "\n".join(own) + "\n" + found[1]
            more = more.replace(found[0], "")
    text = "".join(f"[{name}]\n{lines}" for name, lines in tables.items())
    text += more if "[map]" in more else more + MAP
    (folder / "gateway.toml").write_text(text, encoding="utf-8")
    (folder / "store").mkdir(exist_ok=True)
    settings = folder / "store" / "store.toml"
    if not settings.exists():
        settings.write_text('[judge]\nuse = "none"\n', encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "ragnostic", "gateway", "--config", "gateway.toml"],
        cwd=folder,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    said: list[str] = []
    ports: list[int] = []
    while len(ports) < 2:
        line = process.stdout.readline()
        if not line:
            pytest.fail(f"the gateway did not start: {process.communicate(timeout=10)[1]}")
        said.append(line)
        ports += [int(number) for number in re.findall(r"^http://127\.0\.0\.1:(\d+)", line)]
    said.append(process.stdout.readline())
    return Running(process, folder, *ports, said)


@pytest.fixture(scope="module")
def _service() -> Iterator[Service]:
    with running_service() as service:
        yield service


@pytest.fixture
def service(_service) -> Service:
    """The service behind the gateway, as new."""
    _service.reset()
    return _service


@pytest.fixture
def other_service() -> Iterator[Service]:
    """A second service."""
    with running_service() as service:
        yield service


@pytest.fixture(scope="module")
def gateway(_service, tmp_path_factory) -> Iterator[Running]:
    """A gateway with the settings that it has by itself, for all tests of a module."""
    running = start_gateway(tmp_path_factory.mktemp("gateway"), _service.port)
    yield running
    running.stop()


Start = Callable[..., Running]


@pytest.fixture
def start(service, tmp_path) -> Iterator[Start]:
    """``start(more)`` gives a gateway of one's own, with further settings."""
    started: list[Running] = []

    def begin(more: str = "", *, name: str = "own", **environment: str) -> Running:
        started.append(start_gateway(tmp_path / name, service.port, more, **environment))
        return started[-1]

    yield begin
    for one in started:
        one.stop()
