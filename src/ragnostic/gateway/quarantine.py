"""Quarantine: every refused row with its place, the reason and a redacted piece of its text."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from ragnostic.evalset.record_values import local_day
from ragnostic.gateway.balance import Where
from ragnostic.gateway.redaction import Redactor
from ragnostic.gateway.texts import cut

MAX_RAW = 2048
_MAX_REASON = 500
_MOST_KINDS = 1000
_VARYING = re.compile(r"'[^']*'|\"[^\"]*\"|\d[\d,.]*")


class Quarantine:
    """Writes ``day=YYYY-MM-DD/*.jsonl`` below ``folder``; the day is that of arrival in ``zone``.

    Rows are gathered by :meth:`add` and written by :meth:`flush`. Without a redactor, personal
    data is masked with the defaults all the same. ``now`` gives seconds since the epoch.
    """

    def __init__(
        self,
        folder: Path,
        redactor: Redactor | None = None,
        *,
        zone: str = "Asia/Shanghai",
        now: Callable[[], float] = time.time,
        max_raw: int = MAX_RAW,
    ) -> None:
        self._folder = folder
        self._redactor = redactor or Redactor()
        self._zone = zone
        self._now = now
        self._max_raw = max_raw
        self._lock = threading.Lock()
        self._waiting: list[bytes] = []
        self._own_name = f"live-{os.getpid()}-{int(now() * 1000):x}"
        self.reasons: Counter[str] = Counter()
        """How often each kind of reason was given."""
        self.firsts: dict[str, str] = {}
        """Place and reason of the first row of each kind."""

    def add(self, where: Where, reason: str, raw: bytes | str = b"") -> None:
        """Set a row aside; it is on disk after the next :meth:`flush`."""
        entry: dict[str, Any] = {
            "source": self._redactor.text(where.source),
            "line": where.line,
            "offset": where.offset,
            **({} if where.trace is None else {"trace": where.trace}),
            "reason": cut(self._redactor.raw(reason, _MAX_REASON), _MAX_REASON),
            "raw": self._redactor.raw(raw, self._max_raw),
        }
        line = json.dumps(entry, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
        with self._lock:
            self._waiting.append(line)
            kind = kind_of_reason(str(entry["reason"]))
            kind = kind if len(self.reasons) < _MOST_KINDS else "others"
            self.reasons[kind] += 1
            self.firsts.setdefault(kind, f"{where}: {entry['reason']}")

    def flush(self, name: str | None = None) -> int:
        """Write what was set aside, and say how many rows that were.

        With a ``name`` they replace the file of that name, so that a batch which is read again
        is not set aside twice; without one they go to the end of this process's own file. Raises
        OSError when they cannot be written; they are forgotten then.
        """
        with self._lock:
            lines, self._waiting = self._waiting, []
            if lines:
                self._write(b"".join(lines), name)
            return len(lines)

    def _write(self, content: bytes, name: str | None) -> None:
        today = local_day(datetime.fromtimestamp(self._now(), UTC), self._zone)
        folder = self._folder / f"day={today.isoformat()}"
        folder.mkdir(parents=True, exist_ok=True)
        if name is None:
            with (folder / f"{self._own_name}.jsonl").open("ab") as file:
                _write_through(file, content)
            return
        known = next(self._folder.glob(f"day=*/{name}.jsonl"), folder / f"{name}.jsonl")
        aside = known.with_name(f".{known.name}.{os.getpid()}.tmp")
        with aside.open("wb") as file:
            _write_through(file, content)
        aside.replace(known)


def _write_through(file: BinaryIO, content: bytes) -> None:
    file.write(content)
    file.flush()
    os.fsync(file.fileno())


def kind_of_reason(reason: str) -> str:
    """A reason without what differs from row to row: quoted values and numbers.

    >>> kind_of_reason("ts 'noon' is no ISO 8601 time"), kind_of_reason("not valid JSON (column 7)")
    ('ts … is no ISO … time', 'not valid JSON (column …)')
    """
    return _VARYING.sub("…", reason)
