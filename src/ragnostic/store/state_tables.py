"""The tables of the small state, and what becomes of them when the file is damaged."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from ragnostic.store.sqlite_rescue import DamagedError, Layout, Rescued, read_only, readable
from ragnostic.store.wal import Wal

_COLUMNS = {
    "tokens": ("partition", "token"),
    "counters": ("name", "value"),
    "positions": ("source", "position", "checksum"),
    "spans": ("trace", "span", "arrived", "payload"),
}
"""What is taken over from a damaged file; leases are not, they run out anyway."""
_KEYS = {"spans": 2}
TABLES = (
    """CREATE TABLE leases(
        partition INTEGER PRIMARY KEY, worker TEXT NOT NULL, token INTEGER NOT NULL,
        expires REAL NOT NULL)""",
    "CREATE TABLE tokens(partition INTEGER PRIMARY KEY, token INTEGER NOT NULL)",
    "CREATE TABLE counters(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
    """CREATE TABLE positions(
        source TEXT PRIMARY KEY, position TEXT NOT NULL, checksum INTEGER NOT NULL
        ) WITHOUT ROWID""",
    """CREATE TABLE spans(
        trace TEXT NOT NULL, span TEXT NOT NULL, arrived REAL NOT NULL, payload BLOB NOT NULL,
        PRIMARY KEY(trace, span))""",
)
_NOTE = (
    "log files whose position is gone are read again, which makes duplicates, and counts restart"
)


def _fill(_: sqlite3.Connection) -> None:
    """A new state has no rows."""


def position_row(source: str, position: str) -> tuple[str, str, int]:
    """A row of ``positions``: a wrong one would skip lines of a log file."""
    return source, position, zlib.crc32(f"{source}\n{position}".encode("utf-8", "surrogatepass"))


def _is_whole(table: str, row: Sequence[Any]) -> bool:
    return table != "positions" or tuple(row) == position_row(str(row[0]), str(row[1]))


def _check(connection: sqlite3.Connection) -> None:
    """All rows can be read."""
    for table in _COLUMNS:
        for row in connection.execute(f"SELECT * FROM {table}"):  # noqa: S608 - our own names
            if not _is_whole(table, row):
                raise DamagedError("a row of its positions does not check")


def _rescue(path: Path, _: Wal, new: sqlite3.Connection) -> Rescued:
    """Copy what SQLite still reads."""
    rescued = lost = 0
    whole = path.exists()
    if whole:
        with closing(read_only(path)) as old:
            for table, columns in _COLUMNS.items():
                marks = ", ".join("?" * len(columns))
                try:
                    for row in readable(old, table, columns, _KEYS.get(table, 1)):
                        if not _is_whole(table, row):
                            lost += 1
                            continue
                        new.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", row)  # noqa: S608 - our own names
                        rescued += 1
                except DamagedError:
                    whole = False
    return Rescued(rescued, lost, exact=whole, note=_NOTE if lost or not whole else "")


LAYOUT = Layout(tables=TABLES, fill=_fill, check=_check, rescue=_rescue)
