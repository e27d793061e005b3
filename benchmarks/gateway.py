"""The capture gateway against the service itself: python benchmarks/gateway.py [--seconds S].

Added latency: an open loop of 300 requests/s with replies of 5 KB, in turns direct and through the
gateway with capture on; other work on the machine disturbs turns, so the median one counts.
Throughput: gateway and storing process pinned to one core, first 1,500 requests/s by the clock,
which must all be stored, then 16 connections as fast as they go. Stream: how long an event is on
its way through the gateway while 300 requests/s go on. Service, gateway, its storing process and
the load generator are a process each; on a machine of two cores they share them, and the
generator's own waiting is in every figure.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import itertools
import json
import os
import platform
import re
import secrets
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import httptools
import uvloop

RATE, FAST = 300, 1500
CONNECTIONS = 16
EVERY_S = 0.02
TURNS = 10
SOURCES = [{"id": f"chunk-{number}", "score": 1 - number / 20} for number in range(20)]
ANSWER = json.dumps({"answer": "twenty days of annual leave. " * 135, "sources": SOURCES}).encode()
REPLY = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(ANSWER)
    + ANSWER
)
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
SETTINGS = """
[listen]
address = "127.0.0.1:0"
[control]
address = "127.0.0.1:0"
[upstream]
url = "http://127.0.0.1:{port}"
[map]
query = "request.query"
answer = "response.answer"
[map.retrieve]
ids = "response.sources[].id"
scores = "response.sources[].score"
"""


class ServiceSide(asyncio.Protocol):
    """The service: the same reply to everything, a stream at /stream."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        """A client."""
        self.transport = transport
        self.parser = httptools.HttpRequestParser(self)
        self.url = b""

    def data_received(self, data: bytes) -> None:
        """A piece of a request."""
        self.parser.feed_data(data)

    def on_url(self, url: bytes) -> None:
        """What is asked for."""
        self.url = url

    def on_message_complete(self) -> None:
        """The request is whole."""
        if self.url == b"/stream":
            self.transport.write(STREAM)
            self.emit()
        else:
            self.transport.write(REPLY)

    def emit(self) -> None:
        """One event that says when it was sent, and the next one later."""
        if not self.transport.is_closing():
            event = b"data: %d\n\n" % time.monotonic_ns()
            self.transport.write(b"%x\r\n%s\r\n" % (len(event), event))
            asyncio.get_running_loop().call_later(EVERY_S, self.emit)


async def serve() -> None:
    """Run the service; its port is the first line of output."""
    server = await asyncio.get_running_loop().create_server(ServiceSide, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


class ClientSide(asyncio.Protocol):
    """One kept connection of the load generator."""

    def __init__(self) -> None:
        self.answered: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        """It is there."""
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """A piece of an answer."""
        self.parser.feed_data(data)

    def on_message_complete(self) -> None:
        """The answer is whole."""
        self.answered.set_result(None)

    async def ask(self) -> float:
        """Seconds that a request takes."""
        self.answered = asyncio.get_running_loop().create_future()
        self.parser = httptools.HttpResponseParser(self)
        body = b'{"query": "how many days of annual leave do I have", "user": "u1"}'
        trace, span = secrets.token_hex(16), secrets.token_hex(8)
        begun = time.perf_counter()
        self.transport.write(
            b"POST /chat HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n"
            b"traceparent: 00-%s-%s-01\r\nContent-Length: %d\r\n\r\n%s"
            % (trace.encode(), span.encode(), len(body), body)
        )
        await self.answered
        return time.perf_counter() - begun


async def connect(port: int) -> ClientSide:
    """A connection."""
    return (await asyncio.get_running_loop().create_connection(ClientSide, "127.0.0.1", port))[1]


async def open_loop(port: int, seconds: float, rate: int = RATE) -> list[float]:
    """Latencies of requests that start by the clock, whether or not others have ended."""
    free = [await connect(port) for _ in range(8)]
    taken: list[float] = []

    async def one() -> None:
        client = free.pop() if free else await connect(port)
        if client.transport.is_closing():  # it was idle for too long
            client = await connect(port)
        taken.append(await client.ask())
        free.append(client)

    running = []
    begun = time.perf_counter()
    for number in itertools.count():
        due = begun + number / rate
        if due - begun > seconds:
            break
        if (wait := due - time.perf_counter()) > 0:
            await asyncio.sleep(wait)
        running.append(asyncio.create_task(one()))
    await asyncio.gather(*running)
    for client in free:
        client.transport.close()
    return taken


async def closed_loop(port: int, seconds: float) -> int:
    """Requests answered, as fast as they go."""
    clients = [await connect(port) for _ in range(CONNECTIONS)]
    begun = time.perf_counter()

    async def worker(client: ClientSide) -> int:
        done = 0
        while time.perf_counter() - begun < seconds:
            await client.ask()
            done += 1
        return done

    counts = await asyncio.gather(*map(worker, clients))
    for client in clients:
        client.transport.close()
    return sum(counts)


async def stream_delays(port: int, seconds: float) -> list[float]:
    """Seconds that events are on their way while other requests go on."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /stream HTTP/1.1\r\nHost: bench\r\n\r\n")
    load = asyncio.create_task(open_loop(port, seconds))
    delays = []
    while not load.done():
        line = await reader.readline()
        if line.startswith(b"data: "):
            delays.append((time.monotonic_ns() - int(line[6:])) / 1e9)
    await load
    writer.close()
    return delays


def quantile(values: list[float], share: float) -> float:
    """A quantile in milliseconds."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1000


def cpu_seconds(pid: int) -> float:
    """User and system time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def settled(port: int) -> dict[str, int]:
    """The gateway's counters when nothing waits."""
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", "/counters")
        counts = json.loads(connection.getresponse().read())
        connection.close()
        if not counts["waiting"]:
            return counts
        time.sleep(0.1)


def pids(pid: int) -> list[int]:
    """The gateway and the process that stores for it."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [pid, *(int(child) for task in tasks for child in task.read_text().split())]


def pin(pid: int, cores: set[int]) -> None:
    """Let all threads of the gateway and its storing process run on these cores only."""
    for one in pids(pid):
        for thread in Path(f"/proc/{one}/task").iterdir():
            os.sched_setaffinity(int(thread.name), cores)


def throughput(name: str, work: Callable[[], int], control: int, pid: int) -> None:
    """Print what became of the requests of some work."""
    before, cpu = settled(control), [cpu_seconds(one) for one in pids(pid)]
    begun = time.perf_counter()
    asked = work()
    spent = time.perf_counter() - begun
    after = settled(control)
    behind = time.perf_counter() - begun - spent
    used = [cpu_seconds(one) - then for one, then in zip(pids(pid), cpu, strict=True)]
    stored, dropped = (after[key] - before[key] for key in ("stored", "dropped"))
    print(
        f"- {name}, all on one core: {asked / spent:.0f} requests/s, {stored} of {asked} stored, "
        f"{dropped} dropped; CPU a request {used[0] / asked * 1e6:.0f} us passing and "
        f"{used[1] / asked * 1e6:.0f} us storing, which was {behind:.1f} s behind at the end"
    )


def measure(service: int, gateway: int, control: int, pid: int, seconds: float) -> None:
    """Print every figure."""
    uvloop.run(open_loop(gateway, 1.0))
    turns = [
        [uvloop.run(open_loop(port, seconds / TURNS)) for port in (service, gateway)]
        for _ in range(TURNS)
    ]
    print(f"\n| {RATE}/s, replies of {len(ANSWER)} bytes | p50 ms | p99 ms |\n| --- | --- | --- |")
    for place, name in enumerate(("direct", "through the gateway")):
        taken = [one for turn in turns for one in turn[place]]
        print(f"| {name} | {quantile(taken, 0.5):.2f} | {quantile(taken, 0.99):.2f} |")
    for name, choose in (("added, median turn", statistics.median), ("added, best turn", min)):
        added = [
            choose(quantile(through, share) - quantile(direct, share) for direct, through in turns)
            for share in (0.5, 0.99)
        ]
        print(f"| {name} | {added[0]:.2f} | {added[1]:.2f} |")

    cores = sorted(os.sched_getaffinity(0))
    pin(pid, set(cores[:1]))
    os.sched_setaffinity(0, set(cores[1:]) or set(cores))
    for name, work in (
        (f"{FAST}/s by the clock", lambda: len(uvloop.run(open_loop(gateway, seconds, FAST)))),
        ("as fast as they go", lambda: uvloop.run(closed_loop(gateway, seconds / 2))),
    ):
        throughput(name, work, control, pid)
    pin(pid, set(cores))
    os.sched_setaffinity(0, set(cores))
    delays = uvloop.run(stream_delays(gateway, seconds / 2))
    print(
        f"- events of a stream: {len(delays)} passed, p50 {quantile(delays, 0.5):.2f} ms, "
        f"p99 {quantile(delays, 0.99):.2f} ms, longest {max(delays) * 1000:.1f} ms"
    )


def main() -> None:
    """Start the processes and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="of each part")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        uvloop.run(serve())
        return
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    with tempfile.TemporaryDirectory() as folder:
        service = subprocess.Popen(
            [sys.executable, __file__, "--serve"], stdout=subprocess.PIPE, text=True
        )
        port = int(service.stdout.readline())
        settings = Path(folder) / "gateway.toml"
        settings.write_text(SETTINGS.format(port=port), encoding="utf-8")
        gateway = subprocess.Popen(
            [sys.executable, "-m", "ragnostic", "gateway", "--config", str(settings)],
            stdout=subprocess.PIPE,
            text=True,
        )
        ports = [int(re.search(r":(\d+) ", gateway.stdout.readline())[1]) for _ in range(2)]
        try:
            measure(port, *ports, gateway.pid, options.seconds)
        finally:
            gateway.send_signal(signal.SIGTERM)
            gateway.communicate(timeout=60)
            service.terminate()
            service.communicate(timeout=10)


if __name__ == "__main__":
    main()
