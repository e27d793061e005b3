"""The durable queue: one SQLite file that many processes append to and read from."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

from ragnostic.errors import DataError
from ragnostic.ports import AppendResult, Event, StoredEvent
from ragnostic.store.damage import Damage
from ragnostic.store.queue_rescue import LAYOUT
from ragnostic.store.queue_rows import (
    DAY_S,
    OFFSETS,
    PARTITIONS,
    SHIFT,
    Item,
    event_row,
    is_whole,
    item_of,
    last_offset,
    one_partition,
    partitions_of,
    put_partitions,
    stored_event,
)
from ragnostic.store.queue_upkeep import (
    empty_damaged,
    forget_before,
    rows_behind,
    trim,
    waiting,
    withdraw,
)
from ragnostic.store.sqlite_file import SqliteFile

_KNOWN = "INSERT OR IGNORE INTO known VALUES (?, ?, ?, ?)"
_EVENT = "INSERT INTO events VALUES (?, ?, ?, ?, ?)"
_READ_BYTES = 64 << 20
"""Payload bytes after which a read ends, whatever its limit."""
_REMOVE_ROWS = 1_000


class SqliteQueue:
    """The :class:`~ragnostic.ports.EventLog` in one file.

    When :meth:`append` returns, the events are on the disk. Offsets grow within a partition and
    never come again, also not after damage. Many threads and processes may use one file; a
    process that forks opens its own. ``now`` tells the day of arrival.

    Every method raises StoreError (``retryable`` where the disk is full or another process holds
    the file) and works again by itself when the cause is gone. What was found damaged at the
    start is in :attr:`damages`.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> queue = SqliteQueue(Path(folder.name) / "queue.sqlite")
    >>> queue.append([Event("r1", b"{}"), Event("r1", b"{}"), Event("r1", b"{...}", revision=1)])
    AppendResult(stored=2, duplicate=1)
    >>> queue.backlog()
    2
    >>> queue.close(), folder.cleanup()
    (None, None)
    """

    partitions: int = PARTITIONS

    def __init__(self, path: Path, *, now: Callable[[], float] = time.time) -> None:
        self._file = SqliteFile(path, LAYOUT)
        self._now = now

    @property
    def damages(self) -> tuple[Damage, ...]:
        """What was found damaged when this object opened the file."""
        return self._file.damages

    def append(self, events: Sequence[Event]) -> AppendResult:
        """Store events in one transaction; one whose id and revision are known is a duplicate.

        Raises DataError for an event without an id.
        """
        if not events:
            return AppendResult(0, 0)
        items = [item_of(event) for event in events]
        self._file.check_room(sum(len(item.payload) + len(item.id) for item in items))
        with self._file.writing() as connection:
            stored = _insert(connection, items, self._today())
        return AppendResult(stored, len(items) - stored)

    def read(self, partition: int, after: int, limit: int) -> list[StoredEvent]:
        """Up to ``limit`` events of a partition behind the offset ``after``, in order; fewer
        where they are large. An event that is not as it was written is put aside and counted.
        """
        while True:
            rows = rows_behind(self._file, partition, after, limit, _READ_BYTES)
            broken = [row for row in rows if not is_whole(row)]
            if broken:
                withdraw(self._file, broken, self._today(), keep=True)
            if len(broken) < len(rows) or not rows:
                return [stored_event(row) for row in rows if is_whole(row)]
            after = rows[-1][0] & OFFSETS

    def committed(self, partition: int) -> int:
        """The offset up to which a partition is done; 0 at first."""
        with self._file.reading() as connection:
            return one_partition(connection, partition).committed

    def commit(self, partition: int, offset: int) -> None:
        """Everything up to this offset is done with. A smaller one than before changes nothing;
        raises DataError for one that no event has had.
        """
        with self._file.writing() as connection:
            part = one_partition(connection, partition)
            if offset > last_offset(connection, part):
                raise DataError(f"partition {partition} has no offset {offset}")
            if offset > part.committed:
                put_partitions(connection, [part._replace(committed=offset)])

    def trim(self) -> int:
        """Remove the payloads behind the commits, and say how many; the ids stay known."""
        return trim(self._file)

    def backlog(self) -> int:
        """Events that wait."""
        return self.counters()["waiting"]

    def counters(self) -> Mapping[str, int]:
        """``waiting``: events behind the commits; ``quarantined``: those that were put aside
        because they are not as they were written.
        """
        with self._file.reading() as connection:
            waits = sum(
                waiting(connection, part, last_offset(connection, part))
                for part in partitions_of(connection)
            )
            (quarantined,) = connection.execute(
                "SELECT count(*) FROM withdrawn WHERE payload IS NOT NULL"
            ).fetchone()
        return {"waiting": waits, "quarantined": quarantined}

    def forget_before(self, day: str) -> int:
        """Forget the ids that arrived before a day (YYYY-MM-DD), and say how many.

        Days of arrival are UTC; one more is kept, so that every zone is served. Ids of events
        that wait stay known.
        """
        return forget_before(self._file, day)

    def remove(self, match: Callable[[StoredEvent], bool]) -> int:
        """Remove events for which ``match`` holds, also done ones, and say how many. Nothing of
        them stays in the file; their ids stay known, so that they do not come back. ``match`` is
        asked about damaged events too, whose payload may be no JSON.
        """
        removed = empty_damaged(self._file, match)
        for partition in range(PARTITIONS):
            after = 0
            while rows := rows_behind(self._file, partition, after, _REMOVE_ROWS, _READ_BYTES):
                after = rows[-1][0] & OFFSETS
                found = [row for row in rows if is_whole(row) and match(stored_event(row))]
                withdraw(self._file, found, self._today(), keep=False)
                removed += len(found)
        self._file.shrink_log()
        return removed

    def close(self) -> None:
        """Let go of the file; the next use opens it again."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _today(self) -> int:
        return int(self._now()) // DAY_S


def _insert(connection: sqlite3.Connection, items: Sequence[Item], day: int) -> int:
    """Insert what is not known; how many. All at once first: duplicates are rare."""
    heads = {
        number: last_offset(connection, one_partition(connection, number))
        for number in {item.partition for item in items}
    }
    connection.execute("SAVEPOINT one")
    rows = list(_placed(items, dict(heads)))
    # In the order of the keys, so that a page is changed once.
    known = sorted((item.key, item.revision, day, place) for place, item in rows)
    if connection.executemany(_KNOWN, known).rowcount < len(items):
        connection.execute("ROLLBACK TO one")
        rows = list(_placed_new(connection, items, heads, day))
    connection.executemany(_EVENT, [event_row(place, item) for place, item in sorted(rows)])
    return len(rows)


def _placed(items: Iterable[Item], heads: dict[int, int]) -> Iterator[tuple[int, Item]]:
    """Items with their places; ``heads``, the last offsets, move on."""
    for item in items:
        heads[item.partition] += 1
        yield item.partition << SHIFT | heads[item.partition], item


def _placed_new(
    connection: sqlite3.Connection, items: Iterable[Item], heads: dict[int, int], day: int
) -> Iterator[tuple[int, Item]]:
    """The same, with those left out that are known; the others are known from now on."""
    for item in items:
        place = item.partition << SHIFT | heads[item.partition] + 1
        if connection.execute(_KNOWN, (item.key, item.revision, day, place)).rowcount:
            heads[item.partition] += 1
            yield place, item
