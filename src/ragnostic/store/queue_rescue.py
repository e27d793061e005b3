"""What is readable of a damaged queue goes into a new one.

Events and commits are found by their checksums, in every page of the file and of its log; known
ids as far as SQLite reads them.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

from ragnostic.store.pages import PageImages
from ragnostic.store.queue_rows import (
    DAY_S,
    OFFSETS,
    PARTITIONS,
    SHIFT,
    TABLES,
    EventRow,
    Item,
    Partition,
    check,
    event_row,
    fill,
    first_base,
    is_whole,
    key_of,
    partition_of,
    put_partitions,
)
from ragnostic.store.sqlite_rescue import DamagedError, Layout, Rescued, read_only, readable
from ragnostic.store.wal import Wal

_KNOWN = "INSERT OR IGNORE INTO known VALUES (?, ?, ?, ?)"
_WITHDRAWN = "INSERT OR IGNORE INTO withdrawn VALUES (?, ?, ?, ?)"
_BATCH = 10_000
_FORGOTTEN = "not all known ids were readable: what is sent again may be stored twice"
Name = tuple[bytes, int]
"""Key and revision of an event."""
Done = Mapping[int, int]
"""By partition, the offset behind which events wait; only of those whose row was found."""
Row = tuple[Any, ...]


def rescue(path: Path, wal: Wal, new: sqlite3.Connection) -> Rescued:
    """Fill a new queue from a damaged one. Events get new offsets, behind all old ones."""
    day = int(time.time()) // DAY_S
    with PageImages(path, wal.frames) as pages:
        done, last = _survey(pages)
        base = max(first_base(time.time()), last)
        put_partitions(new, (Partition(number, base, base) for number in range(PARTITIONS)))
        events = _take_events(pages, new, done, base=base, day=day)
        left = _Left(path, events, done)
        left.copy_into(new)
        lost = max(_missing(pages, events, done, left.withdrawn), _gaps(events, done, left))
    exact = len(done) == PARTITIONS and not wal.short
    return Rescued(len(events), lost, exact, "" if left.whole else _FORGOTTEN)


def _survey(pages: PageImages) -> tuple[Done, int]:
    """How far each partition is, and the last offset that was given out.

    The latest commit counts, also one that was not finished: the work was done before it.
    """
    done: dict[int, int] = {}
    last = 0
    for rowid, columns in pages.rows():
        part = partition_of((rowid, *columns))
        if part is not None:
            done[part.number] = max(part.done, done.get(part.number, 0))
            last = max(last, part.done)
        elif is_whole((rowid, *columns)):
            last = max(last, rowid & OFFSETS)
    return done, last


def _waits(place: int, done: Done) -> bool:
    return place & OFFSETS > done.get(place >> SHIFT, 0)


def _take_events(
    pages: PageImages, new: sqlite3.Connection, done: Done, *, base: int, day: int
) -> dict[Name, int]:
    """Insert all events that wait; their names and old places."""
    found: dict[Name, int] = {}
    heads = dict.fromkeys(range(PARTITIONS), base)
    for row in _event_rows(pages):
        place, encoded, revision, _, payload = row
        item = Item(key_of(encoded), encoded, revision, payload)
        name = (item.key, revision)
        if name not in found and _waits(place, done):
            found[name] = place
            heads[item.partition] += 1
            fresh = item.partition << SHIFT | heads[item.partition]
            new.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?)", event_row(fresh, item))
            new.execute(_KNOWN, (*name, day, fresh))
    return found


def _event_rows(pages: PageImages) -> Iterator[EventRow]:
    for rowid, columns in pages.rows():
        row: Row = (rowid, *columns)
        if is_whole(row):
            yield row


def _missing(
    pages: PageImages, events: Mapping[Name, int], done: Done, withdrawn: Collection[int]
) -> int:
    """Ids of which the event should wait, but was found neither by name nor at its place."""
    places = {*events.values(), *withdrawn}
    names: set[Name] = set()
    for row in pages.index_rows():
        if [type(value) for value in row] != [bytes, int, int, int]:
            continue
        key, revision, _, place = row
        name: Name = (key, revision)  # type: ignore[assignment]  # the types were just checked
        if name not in events and place not in places and _is_place(key, place, done):
            names.add(name)
    return len(names)


def _is_place(key: Any, place: Any, done: Done) -> bool:
    """Whether this is an id, and where it stands behind the commits."""
    number = place >> SHIFT
    return len(key) == 16 and key[0] % PARTITIONS == number in done and _waits(place, done)


def _gaps(events: Mapping[Name, int], done: Done, left: _Left) -> int:
    """Offsets that are missing behind the commits, or between events where those are unknown."""
    offsets: dict[int, set[int]] = {}
    for place in (*events.values(), *left.withdrawn):
        if _waits(place, done):
            offsets.setdefault(place >> SHIFT, set()).add(place & OFFSETS)
    return sum(
        max(found) - done.get(number, min(found) - 1) - len(found)
        for number, found in offsets.items()
    )


class _Left:
    """What SQLite still reads of a damaged queue beside the events; ``whole`` if that is all."""

    def __init__(self, path: Path, events: Mapping[Name, int], done: Done) -> None:
        self.whole = path.exists()
        self.withdrawn: set[int] = set()
        self._path, self._events, self._done = path, events, done

    def copy_into(self, new: sqlite3.Connection) -> None:
        """Withdrawn events and known ids."""
        if not self.whole:
            return
        with closing(read_only(self._path)) as old:
            for rows, insert in ((self._withdrawn(old), _WITHDRAWN), (self._known(old), _KNOWN)):
                while batch := list(islice(rows, _BATCH)):
                    new.executemany(insert, batch)

    def _withdrawn(self, old: sqlite3.Connection) -> Iterator[Row]:
        for row in self._readable(old, "withdrawn", ("place", "day", "id", "payload"), 1):
            self.withdrawn.add(row[0])
            yield row

    def _known(self, old: sqlite3.Connection) -> Iterator[Row]:
        """Known ids, but not those of events that are lost, so that they can be sent again."""
        for row in self._readable(old, "known", ("key", "revision", "day", "place"), 2):
            place = row[3]
            if not _waits(place, self._done) or place in self.withdrawn:
                yield row

    def _readable(
        self, old: sqlite3.Connection, table: str, columns: tuple[str, ...], key: int
    ) -> Iterator[Row]:
        try:
            for row in readable(old, table, columns, key):
                if type(row[columns.index("place")]) is int:
                    yield row
        except DamagedError:
            self.whole = False


LAYOUT = Layout(tables=TABLES, fill=fill, check=check, rescue=rescue)
