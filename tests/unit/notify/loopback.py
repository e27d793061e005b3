"""What tests of channels share: a stepped clock, a notice, an outbox in memory, and a real HTTP
server on this machine that answers as it is told.
"""

from __future__ import annotations

import dataclasses
import runpy
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from ragnostic.notify.delivery import Parcel
from ragnostic.ports import Notice

CASE = runpy.run_path(str(Path(__file__).parents[2] / "notice_case.py"))
HOUR = CASE["HOUR"]
NOW = HOUR[1].timestamp()
NOTICE = CASE["NOTICE"]
HOSTILE = 'x\r\nBcc: evil@example.com\r\n\r\n<script>alert("1")</script> \u202e\x00\ud800 " \\ {}'


def notice(**changes: Any) -> Notice:
    """The notice, with changes."""
    return dataclasses.replace(NOTICE, **changes)


class SteppedClock:
    """Time that passes only when it is slept, or moved."""

    def __init__(self, now: float = NOW) -> None:
        self.time = now

    def now(self) -> float:
        """Seconds since the epoch."""
        return self.time

    def sleep(self, seconds: float) -> None:
        """Passes at once."""
        self.time += seconds


class MemoryOutbox:
    """The parcels of a test."""

    def __init__(self) -> None:
        self.parcels: dict[int, Parcel] = {}
        self.sent: list[Parcel] = []
        self.given_up: list[tuple[Parcel, str]] = []
        self.reasons: list[str] = []
        self._next = 1

    def put(self, channel: str, notice: Notice, now: float) -> None:
        """Add one."""
        self.parcels[self._next] = Parcel(self._next, channel, notice, 0, now, now)
        self._next += 1

    def waiting(self) -> list[Parcel]:
        """By id."""
        return [self.parcels[one] for one in sorted(self.parcels)]

    def done(self, parcel: Parcel, now: float) -> None:
        """Delivered."""
        self.sent.append(self.parcels.pop(parcel.id))

    def failed(self, parcel: Parcel, due: float, reason: str) -> None:
        """Once more."""
        tries = self.parcels[parcel.id].tries + 1
        self.parcels[parcel.id] = dataclasses.replace(parcel, tries=tries, due=due)
        self.reasons.append(reason)

    def dead(self, parcel: Parcel, now: float, reason: str) -> None:
        """Given up."""
        self.given_up.append((self.parcels.pop(parcel.id), reason))


@dataclasses.dataclass(frozen=True)
class Asked:
    """A request that came in; names of headers in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


@dataclasses.dataclass(frozen=True)
class Said:
    """An answer."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)


Rule = Callable[[Asked], Said]


class Server:
    """A real server; ``asked`` is what came in."""

    def __init__(self, rule: Rule, context: ssl.SSLContext | None = None) -> None:
        self.asked: list[Asked] = []
        self.rule = rule
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                asked = Asked(self.command, self.path, headers, body)
                server.asked.append(asked)
                said = server.rule(asked)
                self.send_response(said.status)
                for name, value in said.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(said.body)))
                self.end_headers()
                self.wfile.write(said.body)

            def log_message(self, *_: object) -> None:
                """Nothing."""

        class Quiet(ThreadingHTTPServer):
            def handle_error(self, *_: object) -> None:
                """A client that goes away is what some tests are about."""

        self._server = Quiet(("127.0.0.1", 0), Handler)
        if context is not None:
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.01,), daemon=True
        )
        self._thread.start()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._server.server_port)

    @property
    def url(self) -> str:
        """Its address, with a secret in it."""
        return f"http://127.0.0.1:{self.port}/hooks/secret-token-of-the-hook"

    def close(self) -> None:
        """Stop."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextmanager
def served(
    rule: Rule = lambda asked: Said(), context: ssl.SSLContext | None = None
) -> Iterator[Server]:
    """A server for the length of a block."""
    server = Server(rule, context)
    try:
        yield server
    finally:
        server.close()


def certificate(folder: Path) -> tuple[Path, ssl.SSLContext]:
    """A certificate of ``localhost`` (the name, not the address), and a server's use of it."""
    chain = folder / "localhost.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
    subprocess.run(
        [
            *command.split(),
            *("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"),
            *("-keyout", str(folder / "key.pem"), "-out", str(chain)),
        ],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, folder / "key.pem")
    return chain, context
