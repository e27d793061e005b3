"""Connections that go where the guard permits and end when the call's time is up."""

from __future__ import annotations

import queue
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

import httpcore

from ragnostic.notify.address_guard import address_fault

Resolve = Callable[[str, int], list[str]]
"""(host, port) → numeric addresses, the preferred ones first; raises OSError."""


class RefusedAddressError(Exception):
    """A name led to an address that the guard does not permit."""


def resolve(host: str, port: int) -> list[str]:
    """The numeric addresses of a host, each once.

    >>> resolve("127.0.0.1", 80)
    ['127.0.0.1']
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class Deadline:
    """The end of a call, ``seconds`` from now by ``clock``."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._end = clock() + seconds

    def left(self) -> float:
        """Seconds that are left; raises httpcore.TimeoutException where none is."""
        left = self._end - self._clock()
        if left <= 0:
            raise httpcore.ReadTimeout
        return left


class GuardedBackend(httpcore.NetworkBackend):
    """Looks a name up once, judges *every* address it has, and connects to one of these.

    What is connected to is the numeric address that was judged, so the name cannot change its
    meaning in between; certificates are still checked against the name.
    """

    def __init__(
        self, deadline: Deadline, *, allow_private: bool, resolve: Resolve = resolve
    ) -> None:
        self._deadline = deadline
        self._allow_private = allow_private
        self._resolve = resolve
        self._sockets = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002 - the deadline is what counts
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """A connection to one of the host's addresses."""
        addresses = self._addresses(host, port)
        for address in addresses:
            fault = address_fault(address, allow_private=self._allow_private)
            if fault:
                raise RefusedAddressError(fault)
        failure: Exception = httpcore.ConnectError("the name has no address")
        for address in addresses:
            try:
                stream = self._sockets.connect_tcp(
                    address, port, self._deadline.left(), local_address, socket_options
                )
            except httpcore.ConnectError as error:
                failure = error
            else:
                return TimedStream(stream, self._deadline)
        raise failure

    def _addresses(self, host: str, port: int) -> list[str]:
        """The look-up, aside, because the system's own cannot be given a time."""
        answers: queue.Queue[list[str] | OSError] = queue.Queue()

        def look_up() -> None:
            try:
                answers.put(self._resolve(host, port))
            except (OSError, UnicodeError) as error:
                answers.put(OSError(str(error)))

        threading.Thread(target=look_up, name="look-up", daemon=True).start()
        try:
            answer = answers.get(timeout=self._deadline.left())
        except queue.Empty:
            raise httpcore.ConnectTimeout from None
        if isinstance(answer, OSError):
            raise httpcore.ConnectError("the name is not known")
        return answer


class TimedStream(httpcore.NetworkStream):
    """A stream in which every step ends with the call, however slowly the other side drips."""

    def __init__(self, stream: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002 - the deadline counts
        """Some bytes."""
        return self._stream.read(max_bytes, self._deadline.left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002 - the deadline counts
        """All bytes, in pieces, since each piece is given the time that is left."""
        for start in range(0, len(buffer), 65536):
            self._stream.write(buffer[start : start + 65536], self._deadline.left())

    def close(self) -> None:
        """End the connection."""
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002 - the deadline counts
    ) -> httpcore.NetworkStream:
        """The same stream, encrypted."""
        inner = self._stream.start_tls(ssl_context, server_hostname, self._deadline.left())
        return TimedStream(inner, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        """What the socket knows."""
        return self._stream.get_extra_info(info)
