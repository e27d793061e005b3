"""Taking things out of the queue: what is done, what is to be forgotten, what is damaged."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from datetime import date
from typing import Any

from ragnostic.errors import StoreError
from ragnostic.ports import StoredEvent
from ragnostic.store.queue_rows import OFFSETS, SHIFT, Partition, partitions_of
from ragnostic.store.sqlite_file import SqliteFile
from ragnostic.store.wal import PAGE

_STEPS = (4 << 20, 64 << 10)
"""Payload bytes that one transaction of a trim removes; the second where the disk is full."""
_ROWS = 10_000
_SPARE_PAGES = 4_096
"""Unused pages that stay in the file for new events; more than these are given back."""
_FEW_PAGES = 32
_KEYS = 256
Row = tuple[Any, ...]


def rows_behind(file: SqliteFile, partition: int, after: int, limit: int, size: int) -> list[Row]:
    """Raw rows of events of a partition, in order; fewer where ``size`` payload bytes are read."""
    low, found = partition << SHIFT, 0
    query = "SELECT * FROM events WHERE place > ? AND place <= ? ORDER BY place LIMIT ?"
    rows: list[Row] = []
    with (
        file.reading() as connection,
        closing(connection.execute(query, (low | after, low | OFFSETS, limit))) as cursor,
    ):
        for row in cursor:
            rows.append(row)
            found += len(row[4]) if isinstance(row[4], bytes) else 0
            if found > size:
                break
    return rows


def waiting(connection: sqlite3.Connection, part: Partition, last: int) -> int:
    """Events of a partition behind its commit that can be given out."""
    (withdrawn,) = connection.execute(
        "SELECT count(*) FROM withdrawn WHERE place > ? AND place <= ?",
        (part.low | part.done, part.low | OFFSETS),
    ).fetchone()
    return last - part.done - int(withdrawn)


def withdraw(file: SqliteFile, rows: Sequence[Row], day: int, *, keep: bool) -> None:
    """Take events out of turn. ``keep`` is for damaged ones: what is left of them stays, and their
    ids are unknown again, so that they may be sent again.
    """
    with file.writing() as connection:
        for place, encoded, _, _, payload in rows:
            left = (_blob(encoded), _blob(payload)) if keep else (None, None)
            connection.execute(
                "INSERT OR REPLACE INTO withdrawn VALUES (?, ?, ?, ?)", (place, day, *left)
            )
            connection.execute("DELETE FROM events WHERE place = ?", (place,))
            if keep:
                connection.execute("DELETE FROM known WHERE place = ?", (place,))


def _blob(value: Any) -> bytes:
    """What is left of a value whose type may be damaged too."""
    return value if isinstance(value, bytes) else b""


def empty_damaged(file: SqliteFile, match: Callable[[StoredEvent], bool]) -> int:
    """Remove what is left of damaged events for which ``match`` holds; how many."""
    with file.reading() as connection:
        query = "SELECT place, id, payload FROM withdrawn WHERE payload IS NOT NULL"
        rows = connection.execute(query).fetchall()
    found = []
    for place, encoded, payload in rows:
        name = encoded.decode("utf-8", "replace")
        if match(StoredEvent(place & OFFSETS, name, 0, payload)):
            found.append((place,))
    with file.writing() as connection:
        emptied = "UPDATE withdrawn SET id = NULL, payload = NULL WHERE place = ?"
        connection.executemany(emptied, found)
    return len(found)


def trim(file: SqliteFile) -> int:
    """Remove the events behind the commits; how many."""
    with file.reading() as connection:
        parts = partitions_of(connection)
    removed = sum(_trim(file, part) for part in parts)
    with file.writing() as connection:
        for part in parts:
            connection.execute(
                "DELETE FROM withdrawn WHERE payload IS NULL AND place > ? AND place <= ?",
                (part.low, part.low | part.committed),
            )
    _give_back(file)
    return removed


def _trim(file: SqliteFile, part: Partition) -> int:
    """In small transactions, so that writers get their turn; in smaller ones on a full disk."""
    tight, removed = False, 0
    while True:
        try:
            with file.writing() as connection:
                last = _step(connection, part, _STEPS[tight])
                if last is None:
                    return removed
                found = connection.execute(
                    "DELETE FROM events WHERE place > ? AND place <= ?", (part.low, last)
                ).rowcount
            removed += found
        except StoreError as error:
            if tight or not error.retryable:
                raise
            tight = True
        if tight:
            file.shrink_log()


def _step(connection: sqlite3.Connection, part: Partition, size: int) -> int | None:
    """The last place of the next events to remove; None where there are none."""
    last, found = None, 0
    query = (
        "SELECT place, length(payload) FROM events WHERE place > ? AND place <= ?"
        " ORDER BY place LIMIT ?"
    )
    with closing(connection.execute(query, (part.low, part.low | part.committed, _ROWS))) as rows:
        for place, length in rows:
            last, found = place, found + length
            if found > size:
                break
    return last


def _give_back(file: SqliteFile) -> None:
    """Make the file smaller where far more of it is unused than a busy hour fills, or where the
    disk is nearly full: appends look at the room on the disk.
    """
    with file.reading() as connection:
        (free,) = connection.execute("PRAGMA freelist_count").fetchone()
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
    tight = not file.has_room(_SPARE_PAGES * PAGE)
    step = _FEW_PAGES if tight else _SPARE_PAGES
    if free > (step if tight else max(step, pages // 2)):
        for _ in range(0, free - step, step):
            if tight:
                file.shrink_log()
            # What does not fit now is tried again by the next trim.
            with suppress(StoreError), file.reading() as connection:
                # Not execute: that takes one of the steps only.
                connection.executescript(f"PRAGMA incremental_vacuum({step})")
        file.shrink_log()


def forget_before(file: SqliteFile, day: str) -> int:
    """Forget ids that arrived before a day and do not wait; how many."""
    first = (date.fromisoformat(day) - date(1970, 1, 1)).days - 1
    forgotten = 0
    for low, high in _key_ranges():  # in parts, so that writers get their turn
        with file.writing() as connection:
            forgotten += connection.execute(
                "DELETE FROM known WHERE key >= ? AND key < ? AND day < ? AND (place & ?) <="
                " (SELECT max(base, committed) FROM partitions WHERE partition = place >> ?)",
                (low, high, first, OFFSETS, SHIFT),
            ).rowcount
    with file.writing() as connection:
        connection.execute("DELETE FROM withdrawn WHERE payload IS NOT NULL AND day < ?", (first,))
    return forgotten


def _key_ranges() -> Iterator[tuple[bytes, bytes]]:
    for start in range(_KEYS):
        yield bytes([start]), bytes([start + 1]) if start + 1 < _KEYS else b"\xff" * 17
