"""A mark beside the store that says whether the gateway was shut down, and when it last lived."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

FILE = "gateway.json"
AUDIT = "gateway-audit.jsonl"
_BEAT_S = 1.0
LOST_MS = 200
"""Captures younger than this may be lost when the process or the machine dies."""


class Gap(NamedTuple):
    """The last run ended without notice: when it was last alive, and how many captures it held."""

    alive: float
    down_s: float
    waiting: int

    def __str__(self) -> str:
        return (
            f"the gateway was not shut down: last alive at {_iso(self.alive)}, then down for "
            f"{self.down_s:.1f} s; captures of its last {LOST_MS} ms may be lost, at least "
            f"{self.waiting} were not stored yet"
        )


class Heartbeat:
    """Keeps the mark. The file is replaced as a whole, so it is never half written."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self._path = folder / FILE
        self._clock = clock
        self._beaten = 0.0
        self._waiting = 0

    def begin(self) -> Gap | None:
        """Mark the start; the gap that a crash left, or None."""
        now = self._clock()
        try:
            last = json.loads(self._path.read_text(encoding="utf-8"))
            found = (
                None if last["clean"] else Gap(last["alive"], now - last["alive"], last["waiting"])
            )
        except (OSError, ValueError, KeyError, TypeError):
            found = None
        self._write(clean=False)
        return found

    def beat(self, waiting: int) -> None:
        """Still alive, with so many captures waiting; written when that has changed, or is old."""
        if waiting != self._waiting or self._clock() - self._beaten >= _BEAT_S:
            self._waiting = waiting
            self._write(clean=False)

    def end(self) -> None:
        """Shut down as it should be."""
        self._waiting = 0
        self._write(clean=True)

    def _write(self, *, clean: bool) -> None:
        self._beaten = self._clock()
        mark = {"alive": self._beaten, "waiting": self._waiting, "clean": clean}
        aside = self._path.with_suffix(f".{os.getpid()}.tmp")
        try:
            aside.write_text(json.dumps(mark), encoding="utf-8")
            aside.replace(self._path)
        except OSError:  # the disk is full: the older mark stands, which only makes the gap longer
            aside.unlink(missing_ok=True)


class AuditLog:
    """One JSON line for everything that an operator must be able to look up later."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self._path = folder / AUDIT
        self._clock = clock

    def write(self, event: str, **facts: Any) -> bool:
        """Append a line and see that it is on the disk; False where that failed."""
        line = {"ts": _iso(self._clock()), "event": event, **facts}
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            return False
        return True


def _iso(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds")
