"""Where spans wait for the rest of their trace."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Protocol


class SpanStore(Protocol):
    """Spans by trace. The store folder's ``state.sqlite`` is one; all may raise StoreError."""

    def keep_spans(
        self, spans: Iterable[tuple[str, str, bytes]], now: float | None = None, /
    ) -> int:
        """Keep (trace id, key of the span, payload); durable on return. A key that is known is
        replaced. How many were new; ``now`` is the time of arrival, seconds since the epoch.
        """
        ...

    def spans_of(self, trace_id: str, /) -> list[bytes]:
        """The payloads of a trace."""
        ...

    def waiting_traces(self, before: float, limit: int = 1000, /) -> list[str]:
        """Traces whose last span arrived before a time."""
        ...

    def drop_traces(self, trace_ids: Iterable[str], /) -> int:
        """Forget the spans of traces."""
        ...


class MemorySpans:
    """A SpanStore that is gone with the process: for reading files that can be read again.

    >>> store = MemorySpans()
    >>> store.keep_spans([("t", "a", b"1"), ("t", "a", b"2")], 0.0), store.spans_of("t")
    (1, [b'2'])
    """

    def __init__(self) -> None:
        self._traces: dict[str, dict[str, bytes]] = {}
        self._arrived: dict[str, float] = {}
        self._lock = threading.Lock()

    def keep_spans(self, spans: Iterable[tuple[str, str, bytes]], now: float | None = None) -> int:
        """Keep spans; how many were new."""
        new = 0
        with self._lock:
            for trace_id, key, payload in spans:
                trace = self._traces.setdefault(trace_id, {})
                new += key not in trace
                trace[key] = payload
                self._arrived[trace_id] = now or 0.0
        return new

    def spans_of(self, trace_id: str) -> list[bytes]:
        """The payloads of a trace."""
        with self._lock:
            return list(self._traces.get(trace_id, {}).values())

    def waiting_traces(self, before: float, limit: int = 1000) -> list[str]:
        """Traces whose last span arrived before a time."""
        with self._lock:
            return [key for key, arrived in self._arrived.items() if arrived < before][:limit]

    def drop_traces(self, trace_ids: Iterable[str]) -> int:
        """Forget the spans of traces."""
        with self._lock:
            found = [self._traces.pop(key) for key in set(trace_ids) if key in self._traces]
            self._arrived = {
                key: when for key, when in self._arrived.items() if key in self._traces
            }
            return sum(map(len, found))
