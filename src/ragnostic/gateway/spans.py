"""The span: the one form that every source of traces is brought into before it is read.

Ids are 32 and 16 lower-case hexadecimal digits, times nanoseconds since 1970 (0 is none).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from ragnostic.corpus.strict_json import RowError
from ragnostic.errors import Fault
from ragnostic.gateway.span_values import MAX_VALUE_BYTES, Cut, Values

StatusCode = Literal["unset", "ok", "error"]
STATUS_CODES: tuple[StatusCode, ...] = ("unset", "ok", "error")
SPAN_KINDS = ("unspecified", "internal", "server", "client", "producer", "consumer")
LAST_NS = 2**63 - 1

Pairs = Iterable[tuple[str, Any]]

_TRACE_ID = re.compile(r"(?!0{32})[0-9a-f]{32}")
_SPAN_ID = re.compile(r"(?!0{16})[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class SpanStatus:
    """How a span ended, and what it says about that."""

    code: StatusCode = "unset"
    message: str = ""


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """Something that happened during a span."""

    name: str
    time_ns: int = 0
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Span:
    """One operation of a trace. ``kind`` is OpenTelemetry's; what the span does for retrieval is
    told by its attributes. ``cuts`` holds the true length of each value that was cut, by name.
    """

    trace_id: str
    span_id: str
    parent_id: str | None = None
    name: str = ""
    kind: str = "unspecified"
    start_ns: int = 0
    end_ns: int = 0
    attributes: Mapping[str, Any] = field(default_factory=dict)
    resource: Mapping[str, Any] = field(default_factory=dict)
    status: SpanStatus = SpanStatus()
    events: tuple[SpanEvent, ...] = ()
    cuts: Mapping[str, Cut] = field(default_factory=dict)


class Decoded(NamedTuple):
    """The spans of a request, and why each of the others was refused."""

    spans: tuple[Span, ...]
    refused: tuple[str, ...] = ()


def make_span(
    trace_id: str,
    span_id: str,
    parent_id: str = "",
    *,
    name: str = "",
    kind: int = 0,
    start_ns: int = 0,
    end_ns: int = 0,
    attributes: Pairs = (),
    resource: Mapping[str, Any] | None = None,
    status: int = 0,
    message: str = "",
    events: Iterable[tuple[str, int, Pairs]] = (),
    limit: int = MAX_VALUE_BYTES,
) -> Span:
    """A span in its normal form; no value longer than ``limit`` bytes.

    ``kind`` and ``status`` are OpenTelemetry's numbers, unknown ones count as unspecified and
    unset. Raises RowError for ids that are none. Times are taken as they are: a clock that is
    wrong costs the duration, not the span.

    >>> span = make_span("4BF92F3577B34DA6A3CE929D0E0E4736", "00f067aa0ba902b7", status=2)
    >>> span.trace_id, span.parent_id, span.status.code
    ('4bf92f3577b34da6a3ce929d0e0e4736', None, 'error')
    >>> make_span("00" * 16, "00f067aa0ba902b7")
    Traceback (most recent call last):
    ragnostic.corpus.strict_json.RowError: the trace id '00000000000000000000000000000000' is none
    """
    values = Values(limit)
    parent = _read_id(parent_id, _SPAN_ID, "parent span id") if parent_id else None
    own = _read_id(span_id, _SPAN_ID, "span id")
    return Span(
        trace_id=_read_id(trace_id, _TRACE_ID, "trace id"),
        span_id=own,
        parent_id=None if parent == own else parent,
        name=values.plain("name", name),
        kind=SPAN_KINDS[kind] if 0 <= kind < len(SPAN_KINDS) else SPAN_KINDS[0],
        start_ns=_time(start_ns),
        end_ns=_time(end_ns),
        attributes=values.attributes(attributes),
        resource=resource or {},
        status=SpanStatus(
            STATUS_CODES[status] if 0 <= status < len(STATUS_CODES) else "unset",
            values.plain("status.message", message),
        ),
        events=tuple(
            SpanEvent(values.plain("event", title), _time(time), values.attributes(pairs))
            for title, time, pairs in events
        ),
        cuts=values.cuts,
    )


def duration_ms(span_id: str, start_ns: int, end_ns: int) -> tuple[float | None, Fault | None]:
    """Milliseconds from start to end, and the fault where there are none (METRICS 6).

    >>> duration_ms("s1", 1_000_000, 3_500_000)
    (2.5, None)
    >>> duration_ms("s1", 3_500_000, 1_000_000)[1].message
    'span s1 ends 2.5 ms before it starts'
    >>> duration_ms("s1", 3_500_000, 0)[1].kind
    'no_end'
    """
    if not start_ns:
        return None, Fault("no_start", f"span {span_id} has no start", (span_id,))
    if not end_ns:
        return None, Fault("no_end", f"span {span_id} has no end", (span_id,))
    took = (end_ns - start_ns) / 1e6
    if took < 0:
        message = f"span {span_id} ends {-took:g} ms before it starts"
        return None, Fault("negative_duration", message, (span_id,))
    return took, None


def _read_id(value: str, pattern: re.Pattern[str], name: str) -> str:
    found = value.lower()
    if not pattern.fullmatch(found):
        shown = value if len(value) <= 40 else f"{value[:40]}…"
        raise RowError(f"the {name} {shown!r} is none")
    return found


def _time(value: int) -> int:
    """A time that no clock shows is none."""
    return value if 0 <= value <= LAST_NS else 0
