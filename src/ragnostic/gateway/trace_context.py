"""Who asked: the ids that a request brings along, W3C ``traceparent`` first."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

_TRACEPARENT = re.compile(
    r"(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(-.*)?"
)
_ID = re.compile(r"[!-~]{1,256}")


class TraceParent(NamedTuple):
    """The trace, and the span of the caller in it; hexadecimal, 32 and 16 digits."""

    trace_id: str
    span_id: str


def parse_traceparent(value: str) -> TraceParent | None:
    """The ids in a ``traceparent``, or None where it is none (W3C Trace Context, level 1).

    Ids of zeros only are none; a version after 00 may have more behind the flags.

    >>> parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
    TraceParent(trace_id='4bf92f3577b34da6a3ce929d0e0e4736', span_id='00f067aa0ba902b7')
    >>> parse_traceparent("00-00000000000000000000000000000000-00f067aa0ba902b7-01")
    """
    found = _TRACEPARENT.fullmatch(value.strip())
    if found is None or (found[1] == "00" and found[4]):
        return None
    return TraceParent(found[2], found[3])


def request_ids(headers: Mapping[str, str], sources: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Record fields from header fields: for each the first header that holds an id.

    ``headers`` has names in lower case. ``sources`` maps ``trace_id``, ``session_id`` and
    ``user_id`` to the headers that may hold them, best first. A ``traceparent`` gives the caller's
    span too.

    >>> request_ids(
    ...     {"x-user": "u1", "x-request-id": "r9"},
    ...     {"trace_id": ["traceparent", "x-request-id"], "user_id": ["X-User"]},
    ... )
    {'trace_id': 'r9', 'user_id': 'u1'}
    """
    ids: dict[str, str] = {}
    for field, names in sources.items():
        for name in names:
            value = headers.get(name.lower(), "").strip()
            if name.lower() == "traceparent":
                parent = parse_traceparent(value)
                if parent is not None:
                    ids |= {field: parent.trace_id, "span_id": parent.span_id}
                    break
            elif _ID.fullmatch(value):
                ids[field] = value
                break
    return ids
