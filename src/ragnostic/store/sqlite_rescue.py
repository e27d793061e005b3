"""A SQLite file that is checked before it is used: what is damaged is renamed, never deleted, and
what is readable goes over into a new file.

Everything here needs the file for itself. The new file is made aside; from the moment on which it
is complete (it is called ``.rescued`` then) an interrupted rescue is finished by the next start.
"""

from __future__ import annotations

import os
import sqlite3
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from ragnostic.errors import StoreError
from ragnostic.store.damage import Damage
from ragnostic.store.wal import PAGE, Wal, read_wal, wal_path

CHECKED_BYTES = 256 << 20
"""Files up to this size are checked whole at each start; that takes about a second."""
_HEADER = struct.Struct(">16sHBBBBBBIIII")
_APPLICATION = 0x5261676E
"""The application id in the header of a file of ours: "Ragn"."""


class DamagedError(Exception):
    """What is read from a file contradicts itself; its text is the reason."""


class Rescued(NamedTuple):
    """What came of a damaged file; the fields of :class:`~ragnostic.store.damage.Damage`."""

    rescued: int
    lost: int
    exact: bool = True
    note: str = ""


@dataclass(frozen=True, slots=True)
class Layout:
    """What a kind of file consists of, and how it is checked and rescued."""

    tables: Sequence[str]
    """Statements that make its tables."""
    fill: Callable[[sqlite3.Connection], None]
    """Rows of a new file."""
    check: Callable[[sqlite3.Connection], None]
    """Raises DamagedError where rows contradict their checksums."""
    rescue: Callable[[Path, Wal, sqlite3.Connection], Rescued]
    """Takes what is readable over into a new file without rows."""
    version: int = 1


def prepare(path: Path, layout: Layout, *, suspect: bool) -> Damage | None:
    """Make the file fit for use: new, checked, or rescued.

    ``suspect`` has it checked whole whatever its size. Raises StoreError where a newer version
    of ragnostic wrote it, OSError and sqlite3.Error where the disk does not allow it.
    """
    kept = _finish(path)
    if kept is not None:
        reason = "its rescue was interrupted and is finished now"
        return Damage(path, kept, reason, 0, 0, exact=False, note="what was rescued is not counted")
    wal = read_wal(path)
    if not wal.frames and not wal.fault and (not path.exists() or not path.stat().st_size):
        _make(path, layout, layout.fill)
        return None
    reason = wal.fault or _fault(path, layout, wal, suspect=suspect)
    if not reason:
        return None
    found: list[Rescued] = []
    _make(path, layout, lambda new: found.append(layout.rescue(path, wal, new)), adopt=False)
    return Damage(path, _finish(path) or path, reason, *found[0])


def is_damage(error: BaseException) -> bool:
    """Whether an error says that the file's content is wrong, and not that the disk is."""
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", None)
        if code is None:  # Python's own: a text that is no UTF-8
            return isinstance(error, sqlite3.OperationalError)
        return code == sqlite3.SQLITE_IOERR_SHORT_READ or code & 0xFF in _DAMAGED_CODES
    return isinstance(error, DamagedError)


_DAMAGED_CODES = {
    sqlite3.SQLITE_ERROR,  # no such table: the schema is garbled
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_FORMAT,
    sqlite3.SQLITE_NOMEM,  # a garbled length
    sqlite3.SQLITE_TOOBIG,
}


def _fault(path: Path, layout: Layout, wal: Wal, *, suspect: bool) -> str:
    """What is wrong with a file, or nothing. It is opened read-only, so that nothing changes."""
    size = path.stat().st_size if path.exists() else 0
    fault = _header_fault(path, size, logged=bool(wal.frames))
    if fault:
        return fault
    try:
        with closing(read_only(path)) as connection:
            _check_version(path, layout, connection)
            if suspect or size <= CHECKED_BYTES:
                (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
                if found != "ok":
                    return str(found).splitlines()[-1].strip("* ")
                layout.check(connection)
    except (sqlite3.Error, DamagedError) as error:
        if is_damage(error):
            return str(error)
        raise
    return ""


def _header_fault(path: Path, size: int, *, logged: bool) -> str:
    """What the first bytes and the size say; the log may hold pages that the file lacks."""
    if size < PAGE:
        return f"it is cut short: {size} bytes"
    with path.open("rb") as file:
        magic, page, write, read, reserved, *fractions, _, pages, _, _ = _HEADER.unpack(
            file.read(_HEADER.size)
        )
    expected = (b"SQLite format 3\0", PAGE, 0, [64, 32, 32])
    if (magic, page, reserved, fractions) != expected or not {read, write} <= {1, 2}:
        return "its header is garbled"
    if not logged and size != pages * PAGE:
        return f"it has {size} bytes where its header says {pages * PAGE}"
    return ""


def _check_version(path: Path, layout: Layout, connection: sqlite3.Connection) -> None:
    """The version stands there twice, so that a flipped bit is no newer version."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (doubled,) = connection.execute("PRAGMA user_version").fetchone()
    version = doubled & 0xFFFF
    if application != _APPLICATION or doubled >> 16 != version:
        raise DamagedError("its header is garbled")
    if version > layout.version:
        raise StoreError(
            f"{path}: version {version} is newer than this ragnostic knows ({layout.version})",
            hint="upgrade ragnostic",
        )


def read_only(path: Path) -> sqlite3.Connection:
    """A connection that changes neither the file nor its log, not even when it is closed."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)


def _make(
    path: Path, layout: Layout, fill: Callable[[sqlite3.Connection], Any], *, adopt: bool = True
) -> None:
    """Write a new file aside; it takes its place (``adopt``) or waits for it as ``.rescued``."""
    aside = path.with_name(f"{path.name}.making")
    aside.unlink(missing_ok=True)
    with closing(sqlite3.connect(aside, isolation_level=None)) as connection:
        for pragma in (
            f"page_size={PAGE}",
            "auto_vacuum=INCREMENTAL",
            "journal_mode=OFF",
            "synchronous=OFF",
            f"application_id={_APPLICATION}",
            f"user_version={layout.version * 0x10001}",
        ):
            connection.execute(f"PRAGMA {pragma}")
        connection.execute("BEGIN")
        for statement in layout.tables:
            connection.execute(statement)
        fill(connection)
        connection.execute("COMMIT")
    sync(aside)
    aside.rename(path if adopt else path.with_name(f"{path.name}.rescued"))
    sync(path.parent)


def _finish(path: Path) -> Path | None:
    """Rename the damaged file and put the complete new one in its place, if there is one."""
    rescued = path.with_name(f"{path.name}.rescued")
    if not rescued.exists():
        return None
    kept = _free(path)
    for end in ("-wal", "-shm", ""):
        with suppress(FileNotFoundError):
            path.with_name(path.name + end).rename(kept.with_name(kept.name + end))
    sync(path.parent)
    rescued.rename(path)
    sync(path.parent)
    return kept


def _free(path: Path) -> Path:
    stamp, number = f"{datetime.now(UTC):%Y%m%dT%H%M%S}", 1
    while True:
        kept = path.with_name(f"{path.name}.damaged-{stamp}" + (f"-{number}" if number > 1 else ""))
        if not kept.exists() and not wal_path(kept).exists():
            return kept
        number += 1


def sync(path: Path) -> None:
    """Have a file, or the names in a folder, on the disk before going on."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def readable(
    connection: sqlite3.Connection, table: str, columns: Sequence[str], key: int
) -> Iterator[tuple[Any, ...]]:
    """Rows of a table of a damaged file that can be read, from both ends of its key (the first
    ``key`` columns); ends with a DamagedError where some could not.
    """
    order, names = ", ".join(columns[:key]), ", ".join(columns)
    back = ", ".join(f"{name} DESC" for name in columns[:key])
    last: tuple[Any, ...] | None = None
    try:
        for row in connection.execute(f"SELECT {names} FROM {table} ORDER BY {order}"):  # noqa: S608 - our own names
            last = row[:key]
            yield row
    except sqlite3.Error as error:
        with suppress(sqlite3.Error, TypeError):
            for row in connection.execute(f"SELECT {names} FROM {table} ORDER BY {back}"):  # noqa: S608 - our own names
                if last is not None and row[:key] <= last:
                    break
                yield row
        raise DamagedError(f"{table}: {error}") from error
