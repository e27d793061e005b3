"""The copy of an exchange: what passed, capped, with true lengths and hashes.

Only what must happen while bytes pass is here; everything else is done later, off the request
path.
"""

from __future__ import annotations

import hashlib
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from ragnostic.gateway.headers import Headers

Outcome = Literal["ok", "failed", "client_abort", "rejected"]
_MOST_MARKS = 4096


class Budget:
    """Memory that all copies share."""

    def __init__(self, most: int) -> None:
        self._left = most
        self._lock = threading.Lock()

    def take(self, size: int) -> bool:
        """Reserve memory, or say that there is none."""
        with self._lock:
            if size > self._left:
                return False
            self._left -= size
            return True

    def give_back(self, size: int) -> None:
        """Memory that is free again."""
        with self._lock:
            self._left += size


class Copy:
    """The beginning of a body, at most ``limit`` bytes of it, and what is true of all of it.

    >>> copy = Copy(3, Budget(100))
    >>> for piece in (b"ab", b"cd"):
    ...     copy.add(piece)
    >>> copy.body, copy.length, copy.truncated
    (b'abc', 4, True)
    """

    __slots__ = ("_budget", "_digest", "_limit", "_pieces", "kept", "length", "marks", "starved")

    def __init__(self, limit: int, budget: Budget) -> None:
        self._limit = limit
        self._budget = budget
        self._pieces: list[bytes] = []
        self._digest = hashlib.sha256()
        self.kept = 0
        self.length = 0
        self.starved = False
        self.marks: list[tuple[int, float]] = []

    def add(self, piece: bytes) -> None:
        """Take notice of bytes that pass."""
        self.length += len(piece)
        self._digest.update(piece)
        room = self._limit - self.kept
        if room <= 0 or self.starved:
            return
        part = piece[:room]
        if not self._budget.take(len(part)):
            self.starved = True
            return
        self._pieces.append(part)
        self.kept += len(part)
        if len(self.marks) < _MOST_MARKS:
            self.marks.append((self.kept, time.perf_counter()))

    @property
    def body(self) -> bytes:
        """What was kept."""
        return b"".join(self._pieces)

    @property
    def truncated(self) -> bool:
        """Whether the body is longer than what was kept."""
        return self.length > self.kept

    def facts(self) -> dict[str, Any]:
        """True length, SHA-256 of all of it, and whether the copy was cut."""
        return {
            "bytes": self.length,
            "sha256": self._digest.hexdigest(),
            "truncated": self.truncated,
        }

    def release(self) -> None:
        """Give the memory back."""
        self._budget.give_back(self.kept)
        self._pieces, self.kept = [], 0


@dataclass(slots=True, kw_only=True)
class Exchange:
    """A request and its answer while they pass."""

    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    method: str
    target: bytes
    request_headers: Headers
    request: Copy
    response: Copy
    ts: float = field(default_factory=time.time)
    started: float = field(default_factory=time.perf_counter)
    ended: float | None = None
    status: int | None = None
    response_headers: Headers = ()
    outcome: Outcome = "ok"
    error: str | None = None
    searched: str | None = None
    labels: dict[str, str] = field(default_factory=dict)

    def after_ms(self, moment: float | None) -> float | None:
        """Milliseconds from the start to a moment, as perf_counter tells it."""
        return None if moment is None else round((moment - self.started) * 1000, 3)

    @property
    def starved(self) -> bool:
        """Whether there was no memory for its copies."""
        return self.request.starved or self.response.starved

    def end(self, outcome: Outcome, error: str | None = None) -> None:
        """What became of it; the first word holds."""
        if self.ended is None:
            self.ended = time.perf_counter()
            self.outcome, self.error = outcome, error

    def release(self) -> None:
        """Give the memory of both copies back."""
        self.request.release()
        self.response.release()


Offer = Callable[[Exchange], None]
"""Takes an exchange that has ended, at once and without ever raising."""
