"""Connections: judged by the number they go to, and ended by the clock."""

from __future__ import annotations

import runpy
import socket
import threading
from pathlib import Path

import httpcore
import pytest

from ragnostic.notify.guarded_connection import (
    Deadline,
    GuardedBackend,
    RefusedAddressError,
    TimedStream,
    resolve,
)
from ragnostic.notify.http_post import PostError, post

LOOPBACK = runpy.run_path(str(Path(__file__).parent / "loopback.py"))
served = LOOPBACK["served"]


class Ticking:
    """A clock of which every look costs a second."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        """The time."""
        self.time += 1
        return self.time


class Names:
    """A name server that gives one answer after the other."""

    def __init__(self, *answers: list[str]) -> None:
        self.answers = list(answers)
        self.asked = 0

    def __call__(self, host: str, port: int) -> list[str]:
        """The next one."""
        self.asked += 1
        return self.answers.pop(0)


def backend(names, *, allow_private=False, deadline=None):
    """A backend with these names."""
    return GuardedBackend(deadline or Deadline(5), allow_private=allow_private, resolve=names)


def test_a_name_that_leads_inside_is_refused():
    """Though it looks like any other."""
    with pytest.raises(PostError, match="leads to a loopback address") as refused:
        post("http://hooks.example/s3cret-path", b"", {}, backend=backend(Names(["127.0.0.1"])))
    assert not refused.value.retryable
    assert "s3cret" not in str(refused.value)


def test_one_bad_address_among_good_ones_is_enough():
    """A client would fall back to it."""
    with pytest.raises(RefusedAddressError, match="metadata"):
        backend(Names(["8.8.8.8", "169.254.169.254"])).connect_tcp("hooks.example", 80)


def test_a_name_is_looked_up_once_and_the_number_is_what_is_connected_to():
    """A second answer, for which an attacker waits, is never asked for."""
    names = Names(["127.0.0.1"], ["127.0.0.9"])
    with served() as server:
        url = f"http://hooks.example:{server.port}/x"
        reply = post(url, b"hello", {}, backend=backend(names, allow_private=True))
        assert (reply.status, names.asked) == (200, 1)
        assert server.asked[0].headers["host"] == f"hooks.example:{server.port}"


def test_the_next_address_is_tried_where_one_is_dead():
    """In order."""
    with served() as server:
        guard = backend(Names(["127.0.0.9", "127.0.0.1"]), allow_private=True)
        stream = guard.connect_tcp("hooks.example", server.port)
        assert stream.get_extra_info("server_addr") == ("127.0.0.1", server.port)
        stream.close()


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (lambda host, port: [], "no address"),
        (lambda host, port: resolve("no-such-name.invalid", port), "not known"),
        (lambda host, port: resolve("a" * 64 + ".example", port), "not known"),
    ],
)
def test_a_name_without_an_address_is_said(names, words):
    """It may have one later."""
    with pytest.raises(PostError, match=words) as failed:
        post("http://hooks.example/", b"", {}, backend=backend(names))
    assert failed.value.retryable


def test_a_look_up_that_hangs_ends_with_the_call():
    """The system's own look-up cannot be given a time."""
    never = threading.Event()
    guard = backend(lambda host, port: never.wait() and [], deadline=Deadline(0.01))
    with pytest.raises(httpcore.ConnectTimeout):
        guard.connect_tcp("hooks.example", 80)
    never.set()


def test_a_deadline_passes():
    """Then there is nothing left."""
    deadline = Deadline(2.5, Ticking())
    assert deadline.left() == 1.5
    assert deadline.left() == 0.5
    with pytest.raises(httpcore.TimeoutException):
        deadline.left()


def test_a_service_that_drips_meets_the_deadline():
    """Each byte comes in time, all of them do not."""
    here, there = socket.socketpair()
    there.sendall(b"HTTP/1.1 200 OK")
    stream = TimedStream(_plain_stream(here), Deadline(4.5, Ticking()))
    assert stream.read(1) + stream.read(1) + stream.read(1) == b"HTT"
    stream.write(b"x")
    with pytest.raises(httpcore.TimeoutException):
        stream.read(1)
    stream.close()
    there.close()


def _plain_stream(connection: socket.socket) -> httpcore.NetworkStream:
    class Plain(httpcore.NetworkStream):
        def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
            return connection.recv(max_bytes)

        def write(self, buffer: bytes, timeout: float | None = None) -> None:
            connection.sendall(buffer)

        def close(self) -> None:
            connection.close()

    return Plain()
