"""Whom a store has forgotten: their earlier rows do not come back by another way in."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

_OF = {"user": "user_id", "session": "session_id"}


def trace_of(id_: str) -> str:
    """What is kept of an id that was forgotten: its SHA-256, 64 hex digits.

    >>> trace_of("u3")[:8]
    '011e39ef'
    """
    return hashlib.sha256(id_.encode("utf-8", "surrogatepass")).hexdigest()


class Forgotten:
    """The audit of forgettings, read again whenever it has grown.

    ``path`` need not exist. A line that is cut short (its writer was killed) says nothing.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._size = 0
        self._until: dict[tuple[str, str], datetime] = {}
        self._lock = threading.Lock()

    def look(self) -> None:
        """Take in what was forgotten since the last look."""
        try:
            size = self._path.stat().st_size
        except FileNotFoundError:
            size = 0
        with self._lock:
            if size != self._size:
                self._until = self._read() if size else {}
                self._size = size

    def covers(self, row: Mapping[str, Any], record_id: str) -> bool:
        """Whether a checked row (``ts`` in ISO text) is of somebody, and of a time, forgotten.

        What a user does after the forgetting is theirs to do; it is kept as anybody's.
        """
        if not self._until:
            return False
        ids = [(by, row[field]) for by, field in _OF.items() if row.get(field)]
        ends = [self._until.get((by, trace_of(id_))) for by, id_ in (*ids, ("record", record_id))]
        moment = datetime.fromisoformat(row["ts"])
        return any(end is not None and moment <= end for end in ends)

    def _read(self) -> dict[tuple[str, str], datetime]:
        until: dict[tuple[str, str], datetime] = {}
        for line in self._path.read_text(encoding="utf-8").splitlines():
            with suppress(ValueError, KeyError, TypeError):
                entry = json.loads(line)
                until[entry["by"], entry["sha256"]] = datetime.fromisoformat(entry["at"])
        return until
