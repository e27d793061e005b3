"""The side of capture that makes rows and stores them, in a process of its own.

Reading bodies, masking personal data and writing take Python's one lock for milliseconds at a
time, which traffic in the same process would notice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, BinaryIO, Protocol

from ragnostic.gateway.balance import Balance, Unreadable, Where
from ragnostic.gateway.passed import Passed, read_frame, read_number

_SOURCE = Where("gateway")


class Accepts(Protocol):
    """The intake, as it is seen here."""

    def accept(self, rows: Iterable[tuple[Any, Where]]) -> Balance:
        """Store rows; raises where nothing can be stored now."""
        ...


def store_frames(
    source: BinaryIO,
    replies: BinaryIO,
    build: Callable[[Passed], dict[str, Any]],
    open_intake: Callable[[], Accepts],
) -> None:
    """Store batch after batch until the sender ends; a line of JSON answers each.

    The line is the balance, or ``{"error": …}`` where nothing could be stored now. What came
    whole before the sender ended in the middle of a batch is stored too.
    """
    intake: Accepts | None = None
    while (count := read_number(source)) is not None:
        rows: list[tuple[Any, Where]] = []
        while len(rows) < count and (passed := read_frame(source)) is not None:
            rows.append((_row(build, passed), _SOURCE))
        reply: dict[str, Any]
        try:
            intake = intake or open_intake()
            reply = intake.accept(rows).as_json()
        except Exception as error:  # noqa: BLE001 - disk full, file busy, …: told, and tried again
            reply = {"error": f"{type(error).__name__}: {error}"}
        replies.write(json.dumps(reply).encode() + b"\n")
        replies.flush()


def _row(build: Callable[[Passed], dict[str, Any]], passed: Passed) -> Any:
    try:
        return build(passed)
    except Exception as error:  # noqa: BLE001 - told in the quarantine, never lost
        return Unreadable(f"no record could be made: {type(error).__name__}: {error}")
