"""Counts that are written now and then, where each write waits for the disk."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress

from ragnostic.errors import RagnosticError
from ragnostic.gateway.balance import Counters


class GatheredCounters:
    """Adds up counts and hands them on when ``every_s`` seconds have gone by, and on :meth:`flush`.

    A process that is killed loses the counts of that time, and nothing else. What the sink cannot
    take is kept for the next time; only :meth:`flush` says so, as no record may fail for a count.
    """

    def __init__(
        self,
        sink: Counters,
        every_s: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sink = sink
        self._every_s = every_s
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: Counter[str] = Counter()
        self._written = clock()

    def add(self, deltas: Mapping[str, int]) -> None:
        """Add to counts by name."""
        with self._lock:
            self._waiting.update(deltas)
            if self._clock() - self._written >= self._every_s:
                with suppress(RagnosticError, OSError):
                    self._write()

    def flush(self) -> None:
        """Hand on what waits; raises what the sink raises."""
        with self._lock:
            self._write()

    def _write(self) -> None:
        self._written = self._clock()
        if self._waiting:
            self._sink.add(+self._waiting)
            self._waiting = Counter()
