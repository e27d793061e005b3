"""The rows of the queue: where an event stands, and the checksums by which damage is seen."""

from __future__ import annotations

import hashlib
import sqlite3
import struct
import time
import zlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ragnostic.errors import DataError
from ragnostic.ports import Event, StoredEvent
from ragnostic.store.sqlite_rescue import DamagedError

PARTITIONS = 16
SHIFT = 48
OFFSETS = (1 << SHIFT) - 1
"""The place of an event: its partition above bit 48, its offset below."""
DAY_S = 86_400
_LAST = """SELECT
    (SELECT max(place) FROM events WHERE place > :low AND place <= :high),
    (SELECT max(place) FROM withdrawn WHERE place > :low AND place <= :high)"""
_PLACE = struct.Struct("<qq")
_THREE = struct.Struct("<qqq")

TABLES = (
    """CREATE TABLE events(
        place INTEGER PRIMARY KEY, id BLOB NOT NULL, revision INTEGER NOT NULL,
        checksum INTEGER NOT NULL, payload BLOB NOT NULL)""",
    """CREATE TABLE known(
        key BLOB NOT NULL, revision INTEGER NOT NULL, day INTEGER NOT NULL,
        place INTEGER NOT NULL, PRIMARY KEY(key, revision)) WITHOUT ROWID""",
    """CREATE TABLE partitions(
        partition INTEGER PRIMARY KEY, base INTEGER NOT NULL, committed INTEGER NOT NULL,
        checksum INTEGER NOT NULL)""",
    """CREATE TABLE withdrawn(
        place INTEGER PRIMARY KEY, day INTEGER NOT NULL, id BLOB, payload BLOB)""",
)
"""``known`` outlives the events: its ``day`` is that of arrival, its ``place`` that of the event.
``withdrawn`` holds the places of events that are not given out: damaged ones with all that is
left of them, and those that were to be forgotten, without a payload.
"""


EventRow = tuple[int, bytes, int, int, bytes]
"""Place, id, revision, checksum and payload."""


class Item(NamedTuple):
    """An event on its way into the queue."""

    key: bytes
    id: bytes
    revision: int
    payload: bytes

    @property
    def partition(self) -> int:
        """Where it belongs: a stable function of its id."""
        return self.key[0] % PARTITIONS


def item_of(event: Event) -> Item:
    """An event with its key; raises DataError where it has no id, or no 64-bit revision.

    >>> item_of(Event("r1", b"{}")).partition == item_of(Event("r1", b"", revision=2)).partition
    True
    """
    if not event.id:
        raise DataError("an event without an id")
    if not -(1 << 63) <= event.revision < 1 << 63:
        raise DataError(f"revision {event.revision} of record {event.id!r} is out of range")
    encoded = event.id.encode("utf-8", "surrogatepass")
    return Item(key_of(encoded), encoded, event.revision, event.payload)


def key_of(encoded: bytes) -> bytes:
    """16 bytes that stand for an id: nobody finds two ids with the same."""
    return hashlib.blake2b(encoded, digest_size=16).digest()


def event_checksum(place: int, encoded: bytes, revision: int, payload: bytes) -> int:
    """Over all that the row of an event says."""
    return zlib.crc32(payload, zlib.crc32(encoded, zlib.crc32(_PLACE.pack(place, revision))))


def event_row(place: int, item: Item) -> EventRow:
    """The row of an event."""
    checksum = event_checksum(place, item.id, item.revision, item.payload)
    return place, item.id, item.revision, checksum, item.payload


def is_whole(row: tuple[Any, ...]) -> bool:
    """Whether a row of ``events`` is as it was written; also of what only may be one."""
    if len(row) != 5 or [type(value) for value in row] != [int, bytes, int, int, bytes]:
        return False
    place, encoded, revision, checksum, payload = row
    return bool(event_checksum(place, encoded, revision, payload) == checksum)


def stored_event(row: EventRow) -> StoredEvent:
    """A whole row as the port gives it."""
    place, encoded, revision, _, payload = row
    return StoredEvent(place & OFFSETS, encoded.decode("utf-8", "surrogatepass"), revision, payload)


class Partition(NamedTuple):
    """How far a partition is: offsets begin behind ``base``, those up to ``committed`` are done."""

    number: int
    base: int
    committed: int

    @property
    def low(self) -> int:
        """The place behind which its events stand."""
        return self.number << SHIFT

    @property
    def done(self) -> int:
        """The offset behind which events wait."""
        return max(self.base, self.committed)

    @property
    def row(self) -> tuple[int, int, int, int]:
        """Its row, with a checksum."""
        return *self, zlib.crc32(_THREE.pack(*self))


def first_base(now: float) -> int:
    """Where the offsets of a new file begin: behind all that an earlier file can have given out,
    because names of files in the lake are made of them (up to 10,000 a second and partition).
    """
    return int(now) * 10_000


def fill(connection: sqlite3.Connection) -> None:
    """The partitions of a new queue."""
    base = first_base(time.time())
    put_partitions(connection, (Partition(number, base, 0) for number in range(PARTITIONS)))


def put_partitions(connection: sqlite3.Connection, partitions: Iterable[Partition]) -> None:
    """Write how far partitions are."""
    connection.executemany(
        "INSERT OR REPLACE INTO partitions VALUES (?, ?, ?, ?)", [part.row for part in partitions]
    )


def partition_of(row: Sequence[Any]) -> Partition | None:
    """A partition from its row; None where that is not as it was written."""
    if len(row) != 4 or not all(type(value) is int for value in row):
        return None
    part = Partition(*row[:3])
    return part if part.row == tuple(row) and part.number in range(PARTITIONS) else None


def one_partition(connection: sqlite3.Connection, number: int) -> Partition:
    """How far a partition is; raises DamagedError where its row is not as it was written."""
    row = connection.execute("SELECT * FROM partitions WHERE partition = ?", (number,)).fetchone()
    part = partition_of(row or ())
    if part is None:
        raise DamagedError("a row of its partitions does not check")
    return part


def partitions_of(connection: sqlite3.Connection) -> list[Partition]:
    """How far all partitions are; raises DamagedError as :func:`one_partition`."""
    return [one_partition(connection, number) for number in range(PARTITIONS)]


def last_offset(connection: sqlite3.Connection, part: Partition) -> int:
    """The last offset that a partition has given out."""
    places = connection.execute(_LAST, {"low": part.low, "high": part.low | OFFSETS}).fetchone()
    return max([part.done, *(int(place) & OFFSETS for place in places if place)])


def check(connection: sqlite3.Connection) -> None:
    """Raise DamagedError where a row, or an event between two others, is not as it was written."""
    parts = partitions_of(connection)
    waiting = dict.fromkeys(range(PARTITIONS), 0)

    def count(place: int) -> None:
        number = place >> SHIFT
        if number not in waiting:
            raise DamagedError("a row of its events does not check")
        waiting[number] += place & OFFSETS > parts[number].committed

    for row in connection.execute("SELECT * FROM events"):
        if not is_whole(row):
            raise DamagedError("a row of its events does not check")
        count(row[0])
    for (place,) in connection.execute("SELECT place FROM withdrawn"):
        count(place)
    for part in parts:
        if waiting[part.number] < last_offset(connection, part) - part.done:
            raise DamagedError(f"events of partition {part.number} are missing")
