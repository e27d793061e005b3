"""A loopback service and an embedder that needs no model."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest

from ragnostic.ports import Progress, Role, Vectors, no_progress
from ragnostic.records import Chunk


@dataclass(frozen=True)
class Call:
    """One request as the service saw it."""

    method: str
    path: str
    params: dict[str, str]
    headers: dict[str, str]
    raw: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.raw)


@dataclass
class Service:
    """A real HTTP server on a free loopback port; ``reply`` decides what it answers."""

    url: str = ""
    calls: list[Call] = field(default_factory=list)
    reply: Callable[[Call], tuple[int, dict[str, str], bytes]] = lambda _: (200, {}, b"{}")

    def answers(self, value: Any, status: int = 200, headers: dict[str, str] | None = None):
        """Answer every call with ``value``: bytes as they are, anything else as JSON."""
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.reply = lambda _: (status, headers or {}, body)


@pytest.fixture
def service() -> Iterator[Service]:
    """A running service, ended with the test."""
    found = Service()

    class Handler(BaseHTTPRequestHandler):
        def _serve(self):
            length = int(self.headers.get("Content-Length") or 0)
            parts = urlsplit(self.path)
            call = Call(
                self.command,
                parts.path,
                dict(parse_qsl(parts.query)),
                {name.lower(): value for name, value in self.headers.items()},
                self.rfile.read(length),
            )
            found.calls.append(call)
            status, headers, body = found.reply(call)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            with suppress(ConnectionError):  # a client that gave up waiting
                self.end_headers()
                self.wfile.write(body)

        do_GET = _serve  # noqa: N815 (the name that http.server calls)
        do_POST = _serve  # noqa: N815 (the same)

        def log_message(self, *_: Any):
            """Keep the test output quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        found.url = f"http://127.0.0.1:{server.server_port}/search"
        yield found
        server.shutdown()
        thread.join()


class Letters:
    """An embedder whose vector counts the letters a-z (plus a constant); a word is a token."""

    def __init__(self):
        self.name = "letters"
        self.embedded: list[tuple[str, str]] = []

    def embed(self, texts: Sequence[str], role: Role, progress: Progress = no_progress) -> Vectors:
        """See the class."""
        rows = np.full((len(texts), 27), 0.01, dtype=np.float32)
        for row, text in enumerate(texts):
            self.embedded.append((role, text))
            for letter in text.lower():
                if "a" <= letter <= "z":
                    rows[row, ord(letter) - ord("a")] += 1
            progress(f"embed {role}", row + 1, len(texts))
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def count_tokens(self, text: str) -> int:
        """Words."""
        return len(text.split())


@pytest.fixture
def letters() -> Letters:
    """A new one for each test, since it remembers what it embedded."""
    return Letters()


@pytest.fixture
def make_chunks() -> Callable[..., list[Chunk]]:
    """Chunks from id → text."""

    def make(**texts: str) -> list[Chunk]:
        return [Chunk(name, f"{name}.md", 0, len(text), 1, text) for name, text in texts.items()]

    return make
