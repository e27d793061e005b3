"""Cases from the field that a proxy decides: byte by byte, and what is recorded."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ragnostic import evaluate
from ragnostic.store.queue import SqliteQueue

pytestmark = pytest.mark.shared


def cases(shared: Path, name: str) -> list[dict]:
    """All cases of a kind."""
    paths = sorted((shared / "cases").glob(f"gateway-{name}*.json"))
    assert paths
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


class Service:
    """A server in a thread that answers one connection by a script."""

    def __init__(self, script: Callable) -> None:
        self._script = script
        self._ready = threading.Event()
        self.left = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True).start()
        assert self._ready.wait(10)

    async def _run(self) -> None:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        async with server:
            await asyncio.to_thread(self.left.wait, 60)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        await self._script(reader, writer)
        writer.close()
        self.left.set()


class Gateway:
    """The real program in front of a service."""

    def __init__(self, folder: Path, port: int, tables: str) -> None:
        self.folder = folder
        (folder / "store").mkdir(parents=True)
        (folder / "store/store.toml").write_text('[judge]\nuse = "none"\n', encoding="utf-8")
        (folder / "gateway.toml").write_text(
            '[listen]\naddress = "127.0.0.1:0"\n[control]\naddress = "127.0.0.1:0"\n'
            f'[upstream]\nurl = "http://127.0.0.1:{port}"\n{tables}',
            encoding="utf-8",
        )
        command = [sys.executable, "-m", "ragnostic", "gateway", "--config", "gateway.toml"]
        self.process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
        self.port = int(re.search(r":(\d+) ", self.process.stdout.readline())[1])

    def rows(self) -> list[dict]:
        """Stop it, and read what it has recorded."""
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=30)
        with SqliteQueue(self.folder / "store/queue.sqlite") as queue:
            return [
                json.loads(event.payload)
                for partition in range(queue.partitions)
                for event in queue.read(partition, 0, 1000)
            ]


def ask(gateway: Gateway, query: str) -> socket.socket:
    """Send a question."""
    body = json.dumps({"query": query}).encode()
    client = socket.create_connection(("127.0.0.1", gateway.port), timeout=20)
    client.sendall(
        b"POST /chat HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n" % len(body) + body
    )
    return client


def unchunked(answer: bytes) -> bytes:
    """The body of a chunked answer."""
    rest, body = answer.partition(b"\r\n\r\n")[2], b""
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        body, rest = body + rest[: int(size, 16)], rest[int(size, 16) + 2 :]
    return body


def test_streams_that_packets_cut(shared, tmp_path):
    """The bytes passed on are those received; the answer is whole."""
    for number, case in enumerate(cases(shared, "sse-split")):
        given, expect = case["given"], case["expect"]
        pieces = [base64.b64decode(piece) for piece in given["chunks_base64"]]

        async def script(reader, writer, pieces=pieces, given=given):
            head = f"HTTP/1.1 200 OK\r\nContent-Type: {given['content_type']}\r\n"
            writer.write(head.encode() + b"Transfer-Encoding: chunked\r\n\r\n")
            for piece in pieces:
                writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                await writer.drain()
                await asyncio.sleep(0.05)
            writer.write(b"0\r\n\r\n")
            await writer.drain()

        gateway = Gateway(
            tmp_path / str(number), Service(script).port, '[map]\nquery = "request.query"\n'
        )
        with ask(gateway, "q") as client:
            received = b"".join(iter(lambda: client.recv(1 << 16), b""))
        assert hashlib.sha256(unchunked(received)).hexdigest() == expect["forwarded_sha256"]
        (row,) = gateway.rows()
        assert row["answer"] == expect["answer"]
        assert row["capture"]["complete"] is expect["complete"]
        for text in expect["must_not_contain"]:
            assert text not in json.dumps(row, ensure_ascii=False)


def moment(case: dict, name: str) -> dict:
    """An event of a timeline."""
    return next(event for event in case["given"]["timeline"] if event["event"] == name)


def test_a_client_that_leaves_before_the_first_token(shared, tmp_path):
    """One record with what is known: the ranking, and neither an answer nor a first token."""
    for number, case in enumerate(cases(shared, "disconnect")):
        expect = case["expect"]
        found = moment(case, "retrieval_done")["ids"]
        query = moment(case, "client_request")["query"]
        patience = moment(case, "client_disconnect")["t"] / 4

        async def script(reader, writer, found=found):
            data = json.dumps({"ids": found})
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
            writer.write(f"event: retrieval\ndata: {data}\n\n".encode())
            await writer.drain()
            while await reader.read(1024):
                pass

        service = Service(script)
        tables = (
            '[map]\nquery = "request.query"\nquery_id = "request.query"\n[map.retrieve]\n'
            "ids = \"response.events[?event=='retrieval'].data.ids[]\"\n"
        )
        gateway = Gateway(tmp_path / str(number), service.port, tables)
        with ask(gateway, query) as client:
            while b"retrieval" not in client.recv(1 << 16):
                pass
            time.sleep(patience)
        assert service.left.wait(1.0) is expect["upstream_closed"]
        rows = gateway.rows()
        assert len(rows) == expect["records"]
        row = rows[0]
        assert row["outcome"] == "client_abort"
        assert all(
            name in f"{row['outcome']} {row['labels']['error']}" for name in expect["outcome_names"]
        )
        assert row["capture"].get("first_token_ms") is expect["first_token_s"]
        assert row.get("answer") is expect["answer"]
        assert row["stages"]["retrieve"]["ids"] == expect["retrieval_kept"]
        gold = {name: dict.fromkeys(ids, 1) for name, ids in case["given"]["gold"].items()}
        run = {row["query_id"]: row["stages"]["retrieve"]["ids"]}
        result = evaluate(qrels=gold, run=run, metrics=case["given"]["metrics"])
        for name, metrics in expect["per_query"].items():
            for metric, value in metrics.items():
                ids = result.per_query["query_id"].to_pylist()
                assert result.per_query[metric].to_pylist()[ids.index(name)] == pytest.approx(value)
