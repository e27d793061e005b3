"""``watch.sqlite``: what the watch knows. One SQLite file of a store, for all its processes.

A check reads everything, works it out in memory, and writes the new states, what happened and the
messages about it in **one** transaction, which fails where anybody wrote in between
(:class:`BookChangedError`). So a crash neither loses a message nor sends one twice, and of two
checks at once one starts over.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

from pydantic import TypeAdapter

from ragnostic.errors import UsageError
from ragnostic.monitor.alerts.book_tables import END_UNORDERED, LAYOUT
from ragnostic.monitor.alerts.silences import Silence, check_silence
from ragnostic.monitor.alerts.states import AlertKey, Track
from ragnostic.ports import Notice
from ragnostic.store.damage import Damage
from ragnostic.store.sqlite_file import SqliteFile

BOOK = "watch.sqlite"
HISTORY_KEPT = timedelta(days=400)
PARCELS_KEPT = timedelta(days=90)

_EPISODE = "episode:"
"""Before the names of counters that are numbers of episodes."""
_TRACKS = TypeAdapter(Track)
_SILENCES = TypeAdapter(Silence)
_BODIES = TypeAdapter(dict[str, Any])
NOTICES = TypeAdapter(Notice)


class BookChangedError(Exception):
    """Somebody wrote into the book since it was read: work it out again."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, for the history. ``event``: pending, firing, resolved, repeat,
    rebaselined, acknowledged, closed, silenced, expired, reopened, withdrawn. ``alert`` is the id
    of an alert, empty for a silence. ``body``: whatever else is to be known, as JSON values.
    """

    at: datetime
    event: str
    rule: str
    alert: str = ""
    body: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Contents:
    """What the book held at one moment; ``revision`` says which. ``members``: (channel, key of an
    alert's episode) → key of the message that told of it together with others, for those that
    still go on. ``ordered``: (action, key) of beginnings whose end was not ordered yet.
    ``episodes``: alerts that are forgotten → how often they fired, so that one that comes back
    does not use a key again.
    """

    revision: int
    tracks: Mapping[AlertKey, Track]
    silences: tuple[Silence, ...]
    members: Mapping[tuple[str, str], str]
    ordered: frozenset[tuple[str, str]] = frozenset()
    episodes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Changes:
    """What a check found. ``gone``: alerts to forget. ``parcels`` are (channel, notice), ``orders``
    (action, notice). ``joined``: (channel, key of an episode, key of its message); ``left``:
    (channel, episode).
    """

    tracks: Mapping[AlertKey, Track] = field(default_factory=dict)
    gone: Sequence[AlertKey] = ()
    events: Sequence[Event] = ()
    parcels: Sequence[tuple[str, Notice]] = ()
    orders: Sequence[tuple[str, Notice]] = ()
    joined: Sequence[tuple[str, str, str]] = ()
    left: Sequence[tuple[str, str]] = ()


class Book:
    """The book of a store folder. Raises StoreError as :class:`~ragnostic.store.state.State`.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Book(Path(folder.name)) as book:
    ...     day = datetime(2026, 3, 1, tzinfo=UTC)
    ...     number = book.silence(Silence(day, day.replace(day=2), "sale", "li"), day)
    ...     book.read().silences[0].reason, book.expire(number, "li", day), book.read().silences
    ('sale', True, ())
    >>> folder.cleanup()
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.file = SqliteFile(root / BOOK, LAYOUT)

    @property
    def damages(self) -> tuple[Damage, ...]:
        """What was found damaged when this object opened the file."""
        return self.file.damages

    def read(self) -> Contents:
        """Everything a check needs. Silences that were ended by hand are not among them."""
        with self.file.reading() as connection:
            connection.execute("BEGIN")
            contents = Contents(
                _revision(connection),
                dict(_tracks(connection)),
                tuple(_silences(connection)),
                {
                    (channel, alert): message
                    for channel, alert, message in connection.execute(
                        "SELECT channel, alert, message FROM members WHERE ended IS NULL"
                    )
                },
                _ordered(connection),
                _episodes(connection),
            )
            connection.execute("COMMIT")
        return contents

    def commit(
        self, revision: int, changes: Changes, now: datetime, *, posted: datetime | None = None
    ) -> None:
        """Write all of what a check found, or nothing; what is too old goes. ``posted`` is the
        time of its messages, ``now`` where None.

        Raises BookChangedError where ``revision`` is not that of the book any more.
        """
        with self.file.writing() as connection:
            if _revision(connection) != revision:
                raise BookChangedError
            _remember_episodes(connection, changes.gone)
            connection.executemany(
                "DELETE FROM alerts WHERE rule = ? AND judge = ? AND stage = ? AND slice = ?"
                " AND value = ?",
                changes.gone,
            )
            _write_tracks(connection, changes.tracks)
            for event in changes.events:
                _write_event(connection, event)
            moment = (posted or now).timestamp()
            for channel, notice in changes.parcels:
                put_parcel(connection, channel, notice, moment)
            for action, notice in changes.orders:
                _put_order(connection, action, notice, moment)
            _write_members(connection, changes, moment)
            _prune(connection, now)
            _touch(connection)

    def silence(self, silence: Silence, now: datetime) -> int:
        """Add a silence, and give its number. Raises UsageError for one that makes no sense."""
        check_silence(silence)
        with self.file.writing() as connection:
            number = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM silences").fetchone()
            kept = replace(silence, id=number[0])
            body = _SILENCES.dump_json(kept).decode()
            connection.execute("INSERT INTO silences VALUES (?, ?, NULL)", (kept.id, body))
            about = {"silence": kept.id, "reason": kept.reason, "by": kept.author}
            _write_event(connection, Event(now, "silenced", kept.rule, body=about))
            _touch(connection)
        return kept.id

    def expire(self, number: int, author: str, now: datetime) -> bool:
        """End a silence before its time; whether there was one to end."""
        with self.file.writing() as connection:
            found = [one for one in _silences(connection) if one.id == number and now < one.end]
            for one in found:
                connection.execute(
                    "UPDATE silences SET ended = ? WHERE id = ?", (now.timestamp(), number)
                )
                about = {"silence": number, "by": author}
                _write_event(connection, Event(now, "expired", one.rule, body=about))
                _touch(connection)
        return bool(found)

    def change(self, key: AlertKey, change: Callable[[Track], Track], event: Event) -> Track:
        """Change one alert by hand (acknowledged, closed), and note it; how it is now.

        Raises UsageError where the book does not know it.
        """
        with self.file.writing() as connection:
            tracks = dict(_tracks(connection))
            if key not in tracks:
                raise UsageError(f"there is no alert {key.id} any more", hint="see: alerts list")
            track = change(tracks[key])
            _write_tracks(connection, {key: track})
            _write_event(connection, event)
            _touch(connection)
        return track

    def history(
        self, start: datetime | None = None, end: datetime | None = None, *, limit: int = 1000
    ) -> list[Event]:
        """What happened in [start, end), the newest ``limit`` of it, oldest first."""
        with self.file.reading() as connection:
            rows = connection.execute(
                "SELECT at, event, rule, alert, body FROM history WHERE at >= ? AND at < ?"
                " ORDER BY at DESC, id DESC LIMIT ?",
                (
                    0.0 if start is None else start.timestamp(),
                    1e12 if end is None else end.timestamp(),
                    limit,
                ),
            ).fetchall()
        return [
            Event(datetime.fromtimestamp(at, UTC), event, rule, alert, _BODIES.validate_json(body))
            for at, event, rule, alert, body in reversed(rows)
        ]

    @contextmanager
    def alone(
        self, what: str, *, attempts: int = 1, pause: Callable[[], None] = lambda: None
    ) -> Iterator[bool]:
        """Whether this process is the only one that does ``what`` (sends, say) with this store
        while the block runs; the kernel lets go for a killed one. Asked so many times, with a
        pause in between.
        """
        path = self.file.path.with_name(f"{BOOK}.{what}.lock")
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            while not (mine := _locked(handle)) and (attempts := attempts - 1):
                pause()
            yield mine
        finally:
            os.close(handle)

    def close(self) -> None:
        """Let go of the file; the next use opens it again."""
        self.file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def put_parcel(connection: sqlite3.Connection, channel: str, notice: Notice, now: float) -> None:
    """A parcel that is due at once. The beginning and the end of an episode are put only once."""
    connection.execute(
        "INSERT OR IGNORE INTO parcels(channel, key, kind, notice, status, tries, created, due,"
        " reason) VALUES (?, ?, ?, ?, 'waiting', 0, ?, ?, '')",
        (channel, notice.key, notice.kind, notice_json(notice), now, now),
    )


def notice_json(notice: Notice) -> str:
    """A notice as it is kept."""
    return NOTICES.dump_json(notice).decode()


def _put_order(connection: sqlite3.Connection, action: str, notice: Notice, now: float) -> None:
    connection.execute(
        "INSERT INTO orders(action, kind, key, notice, status, created, detail)"
        " VALUES (?, ?, ?, ?, 'waiting', ?, '')",
        (action, notice.kind, notice.key, notice_json(notice), now),
    )


def _ordered(connection: sqlite3.Connection) -> frozenset[tuple[str, str]]:
    rows = connection.execute(f"SELECT action, key FROM orders WHERE {END_UNORDERED}")  # noqa: S608 - our own words
    return frozenset((action, key) for action, key in rows)


def _episodes(connection: sqlite3.Connection) -> dict[str, int]:
    rows = connection.execute(
        "SELECT name, value FROM counters WHERE name LIKE ?", (f"{_EPISODE}%",)
    )
    return {name.removeprefix(_EPISODE): value for name, value in rows}


def _remember_episodes(connection: sqlite3.Connection, gone: Sequence[AlertKey]) -> None:
    if not gone:
        return
    known = dict(_tracks(connection))
    for key in gone:
        if key in known and (number := known[key].state.episode):
            name = f"{_EPISODE}{key.rule}:{key.id}"
            connection.execute("INSERT OR REPLACE INTO counters VALUES (?, ?)", (name, number))


def _revision(connection: sqlite3.Connection) -> int:
    row = connection.execute("SELECT value FROM counters WHERE name = 'revision'").fetchone()
    return int(row[0])


def _touch(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE counters SET value = value + 1 WHERE name = 'revision'")


def _tracks(connection: sqlite3.Connection) -> Iterator[tuple[AlertKey, Track]]:
    rows = connection.execute("SELECT rule, judge, stage, slice, value, track FROM alerts")
    for *key, track in rows:
        yield AlertKey(*key), _TRACKS.validate_json(track)


def _write_tracks(connection: sqlite3.Connection, tracks: Mapping[AlertKey, Track]) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO alerts VALUES (?, ?, ?, ?, ?, ?)",
        [(*key, _TRACKS.dump_json(track).decode()) for key, track in tracks.items()],
    )


def _silences(connection: sqlite3.Connection) -> Iterator[Silence]:
    rows = connection.execute("SELECT body FROM silences WHERE ended IS NULL ORDER BY id")
    for (body,) in rows:
        yield _SILENCES.validate_json(body)


def _write_event(connection: sqlite3.Connection, event: Event) -> None:
    body = _BODIES.dump_json(dict(event.body)).decode()
    connection.execute(
        "INSERT INTO history(at, event, rule, alert, body) VALUES (?, ?, ?, ?, ?)",
        (event.at.timestamp(), event.event, event.rule, event.alert, body),
    )


def _write_members(connection: sqlite3.Connection, changes: Changes, now: float) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO members VALUES (?, ?, ?, NULL)",
        [(channel, alert, message) for channel, alert, message in changes.joined],
    )
    connection.executemany(
        "UPDATE members SET ended = ? WHERE channel = ? AND alert = ?",
        [(now, channel, alert) for channel, alert in changes.left],
    )


def _prune(connection: sqlite3.Connection, now: datetime) -> None:
    old = (now - PARCELS_KEPT).timestamp()
    connection.execute("DELETE FROM history WHERE at < ?", ((now - HISTORY_KEPT).timestamp(),))
    connection.execute("DELETE FROM parcels WHERE finished < ?", (old,))
    connection.execute(f"DELETE FROM orders WHERE finished < ? AND NOT ({END_UNORDERED})", (old,))  # noqa: S608 - our own words
    connection.execute("DELETE FROM members WHERE ended < ?", (old,))
