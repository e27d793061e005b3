"""Spans to records: they wait for their trace, whatever order they come in (METRICS 13).

Every span is durable before it is acknowledged. A trace that has been quiet for a while gives its
records; later spans give them anew with a higher revision; in the end its spans are forgotten.
"""

from __future__ import annotations

import hashlib
import json
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ragnostic.gateway.balance import Counters, Where
from ragnostic.gateway.span_reader import read_span
from ragnostic.gateway.span_reading import Reading, from_payload, masked, to_payload
from ragnostic.gateway.span_records import SOURCE, holds_back, trace_rows
from ragnostic.gateway.span_store import SpanStore
from ragnostic.gateway.span_tree import SpanTree
from ragnostic.gateway.spans import Span

MAX_TRACE_SPANS = 2000
"""A trace with more is closed: most likely it is none, but one id that a service never changes."""

_BATCH = 64
_ALL = 1 << 40

RowSink = Callable[[Iterable[tuple[Mapping[str, Any], Where]]], object]
"""Takes record rows, durable on return: ``Intake.accept``."""


class _Trace(NamedTuple):
    """An open trace: when its last span came, how many came, and whether rows are held back."""

    arrived: float
    spans: int
    holds_back: bool = False


class SpanAssembler:
    """Puts spans together by trace and emits a row for each retrieval.

    ``settle_s`` and ``keep_s``: see :class:`~ragnostic.gateway.otlp_settings.OtlpSettings`.
    ``mask`` is laid over every text before anything is kept (ids are not touched). ``counters``
    get ``spans_kept``, ``spans_duplicate``, ``spans_damaged``, ``traces_closed`` and
    ``traces_without_retrieval``. Spans that the store holds from an earlier life are taken up.
    Methods may be called from several threads; :meth:`settle` and :meth:`flush` from one.
    """

    def __init__(
        self,
        store: SpanStore,
        emit: RowSink,
        *,
        settle_s: float = 10.0,
        keep_s: float = 300.0,
        mask: Callable[[str], str] | None = None,
        counters: Counters | None = None,
        source: str = SOURCE,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._emit = emit
        self._settle_s = settle_s
        self._keep_s = max(keep_s, settle_s)
        self._mask = mask
        self._counters = counters
        self._source = source
        self._now = now
        self._lock = threading.Lock()
        begun = now()
        # Both in order of arrival, so that what is due stands in front.
        self._fresh = {key: _Trace(begun, 0) for key in store.waiting_traces(math.inf, _ALL)}
        self._built: dict[str, _Trace] = {}
        self._full: dict[str, _Trace] = {}
        self._emitted: dict[str, dict[str, bytes]] = {}

    @property
    def open_traces(self) -> int:
        """Traces that still take spans."""
        with self._lock:
            return len(self._fresh) + len(self._built) + len(self._full)

    def add(self, spans: Sequence[Span]) -> int:
        """Keep spans; when this returns they are durable. How many were not known yet.

        Raises what the store raises; nothing is known of these spans then.
        """
        kept = [_kept(self._reading(span)) for span in spans]
        with self._lock:
            now = self._now()
            new = self._store.keep_spans(kept, now)
            for trace_id, count in Counter(span.trace_id for span in spans).items():
                self._arrive(trace_id, count, now)
        self._count(spans_kept=new, spans_duplicate=len(kept) - new)
        return new

    def _arrive(self, trace_id: str, count: int, now: float) -> None:
        places = (self._fresh, self._built, self._full)
        known = [place.pop(trace_id) for place in places if trace_id in place]
        total = count + sum(trace.spans for trace in known)
        if total > MAX_TRACE_SPANS:
            self._full[trace_id] = _Trace(now, total, holds_back=True)
        else:
            self._fresh[trace_id] = _Trace(now, total)

    def settle(self) -> int:
        """Emit the records of the traces that are due, and forget those that are over; how many
        rows were emitted. To be called every second or so.

        Raises what the sink or the store raises: everything not emitted stays due.
        """
        now = self._now()
        return self._work(now - self._settle_s, now - self._keep_s)

    def flush(self) -> int:
        """Emit and forget everything, as if no span were to come; how many rows were emitted."""
        return self._work(math.inf, math.inf)

    def _work(self, quiet_since: float, over_since: float) -> int:
        emitted = 0
        while full := self._due(self._full, math.inf):
            emitted += self._close(full, self._full)
        while due := self._due(self._fresh, quiet_since):
            emitted += self._build(due)
        while over := self._due(self._built, over_since):
            emitted += self._close(over, self._built)
        return emitted

    def _due(self, traces: Mapping[str, _Trace], before: float) -> list[tuple[str, _Trace]]:
        found: list[tuple[str, _Trace]] = []
        with self._lock:
            for key, trace in traces.items():
                if len(found) == _BATCH or trace.arrived > before:
                    break
                found.append((key, trace))
        return found

    def _build(self, due: Sequence[tuple[str, _Trace]]) -> int:
        """Emit what is complete; the traces stay open for late spans."""
        trees = {key: self._tree(key) for key, _ in due}
        emitted = self._send(trees, is_closed=False)
        with self._lock:
            for key, trace in due:
                if self._fresh.get(key) is trace:  # no span came meanwhile
                    del self._fresh[key]
                    self._built[key] = trace._replace(holds_back=holds_back(trees[key]))
        return emitted

    def _close(self, over: Sequence[tuple[str, _Trace]], traces: dict[str, _Trace]) -> int:
        """Emit what was held back, and forget the spans."""
        trees = {key: self._tree(key) for key, trace in over if trace.holds_back}
        emitted = self._send(trees, is_closed=True)
        with self._lock:
            ended = [key for key, trace in over if traces.get(key) is trace]
            self._store.drop_traces(ended)
            for key in ended:
                del traces[key]
            empty = sum(not self._emitted.pop(key, None) for key in ended)
        self._count(traces_closed=len(ended), traces_without_retrieval=empty)
        return emitted

    def _send(self, trees: Mapping[str, SpanTree], *, is_closed: bool) -> int:
        """Emit the rows that say something new."""
        rows: list[dict[str, Any]] = []
        digests: dict[str, dict[str, bytes]] = {}
        for key, tree in trees.items():
            known = self._emitted.get(key, {})
            of_trace = digests.setdefault(key, dict(known))
            for row in trace_rows(tree, is_closed=is_closed, source=self._source):
                of_trace[row["record_id"]] = digest = _digest(row)
                if known.get(row["record_id"]) != digest:
                    rows.append(row)
        if rows:
            self._emit([(row, Where(self._source, trace=row["trace_id"])) for row in rows])
        self._emitted |= {key: found for key, found in digests.items() if found}
        return len(rows)

    def _tree(self, trace_id: str) -> SpanTree:
        found: list[Reading] = []
        for payload in self._store.spans_of(trace_id):
            try:
                found.append(from_payload(payload))
            except (ValueError, TypeError, KeyError, AttributeError):
                self._count(spans_damaged=1)
        return SpanTree(found)

    def _reading(self, span: Span) -> Reading:
        reading = read_span(span)
        return reading if self._mask is None else masked(reading, self._mask)

    def _count(self, **deltas: int) -> None:
        if self._counters is not None:
            self._counters.add(deltas)


def _kept(reading: Reading) -> tuple[str, str, bytes]:
    """Versions of a span that differ stand side by side, the same one again stands once."""
    payload = to_payload(reading)
    version = hashlib.sha256(payload).hexdigest()[:8]
    return reading.trace_id, f"{reading.span_id}.{version}", payload


def _digest(row: Mapping[str, Any]) -> bytes:
    said = {name: value for name, value in row.items() if name != "revision"}
    text = json.dumps(said, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).digest()[:16]
