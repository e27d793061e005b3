"""The tables of ``watch.sqlite``, and what becomes of them when the file is damaged."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from ragnostic.store.sqlite_rescue import DamagedError, Layout, Rescued, read_only, readable
from ragnostic.store.wal import Wal

_COLUMNS = {
    "alerts": ("rule", "judge", "stage", "slice", "value", "track"),
    "silences": ("id", "body", "ended"),
    "history": ("id", "at", "event", "rule", "alert", "body"),
    "parcels": (
        *("id", "channel", "key", "kind", "notice", "status"),
        *("tries", "created", "due", "finished", "reason"),
    ),
    "members": ("channel", "alert", "message", "ended"),
    "orders": ("id", "action", "kind", "key", "notice", "status", "created", "finished", "detail"),
    "counters": ("name", "value"),
}
_KEYS = {"alerts": 5, "members": 2}
_JSON = frozenset({"track", "body", "notice"})
"""Columns that hold JSON, in whatever table."""
TABLES = (
    """CREATE TABLE alerts(
        rule TEXT NOT NULL, judge TEXT NOT NULL, stage TEXT NOT NULL, slice TEXT NOT NULL,
        value TEXT NOT NULL, track TEXT NOT NULL,
        PRIMARY KEY(rule, judge, stage, slice, value)) WITHOUT ROWID""",
    "CREATE TABLE silences(id INTEGER PRIMARY KEY, body TEXT NOT NULL, ended REAL)",
    """CREATE TABLE history(
        id INTEGER PRIMARY KEY, at REAL NOT NULL, event TEXT NOT NULL, rule TEXT NOT NULL,
        alert TEXT NOT NULL, body TEXT NOT NULL)""",
    "CREATE INDEX history_at ON history(at)",
    """CREATE TABLE parcels(
        id INTEGER PRIMARY KEY AUTOINCREMENT, channel TEXT NOT NULL, key TEXT NOT NULL,
        kind TEXT NOT NULL, notice TEXT NOT NULL, status TEXT NOT NULL, tries INTEGER NOT NULL,
        created REAL NOT NULL, due REAL NOT NULL, finished REAL, reason TEXT NOT NULL)""",
    # The beginning and the end of an episode are told once, whatever goes wrong elsewhere.
    """CREATE UNIQUE INDEX parcels_once ON parcels(channel, key, kind)
        WHERE kind IN ('firing', 'resolved', 'rebaselined')""",
    "CREATE INDEX parcels_status ON parcels(status, id)",
    """CREATE TABLE members(
        channel TEXT NOT NULL, alert TEXT NOT NULL, message TEXT NOT NULL, ended REAL,
        PRIMARY KEY(channel, alert)) WITHOUT ROWID""",
    "CREATE INDEX members_message ON members(channel, message)",
    """CREATE TABLE orders(
        id INTEGER PRIMARY KEY AUTOINCREMENT, action TEXT NOT NULL, kind TEXT NOT NULL,
        key TEXT NOT NULL, notice TEXT NOT NULL, status TEXT NOT NULL, created REAL NOT NULL,
        finished REAL, detail TEXT NOT NULL)""",
    "CREATE TABLE counters(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
)
_END = (
    "SELECT 1 FROM orders AS later WHERE later.id > orders.id AND later.action = orders.action"
    " AND later.key = orders.key AND later.kind <> 'firing'"
)
END_UNORDERED = f"kind = 'firing' AND NOT EXISTS ({_END})"
"""Of orders: the beginning of an alert whose end was not ordered yet."""
END_UNFINISHED = f"kind = 'firing' AND NOT EXISTS ({_END} AND later.finished IS NOT NULL)"
"""Of orders: the beginning of an alert whose end was not ordered, or still waits."""
_NOTE = "alerts that still fire may be told again, and baselines that are gone are learned anew"


def _fill(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO counters VALUES ('revision', 0)")


def _check(connection: sqlite3.Connection) -> None:
    """All rows can be read, and the JSON in them is some."""
    for table, columns in _COLUMNS.items():
        for _ in connection.execute(f"SELECT * FROM {table}"):  # noqa: S608 - our own names
            pass
        for column in _JSON & set(columns):
            wrong = f"SELECT count(*) FROM {table} WHERE NOT json_valid({column})"  # noqa: S608 - the same
            if connection.execute(wrong).fetchone()[0]:
                raise DamagedError(f"rows of its {table} are garbled")


def _rescue(path: Path, _: Wal, new: sqlite3.Connection) -> Rescued:
    """Copy what SQLite still reads and what is still JSON."""
    rescued = 0
    lost = 0
    whole = path.exists()
    if whole:
        with closing(read_only(path)) as old:
            for table, columns in _COLUMNS.items():
                marks = ", ".join("?" * len(columns))
                insert = f"INSERT OR IGNORE INTO {table} VALUES ({marks})"  # noqa: S608 - our own names
                try:
                    for row in readable(old, table, columns, _KEYS.get(table, 1)):
                        if _is_json(new, columns, row):
                            new.execute(insert, row)
                            rescued += 1
                        else:
                            lost += 1
                except DamagedError:
                    whole = False
    new.execute("INSERT OR IGNORE INTO counters VALUES ('revision', 0)")
    return Rescued(rescued, lost, exact=whole, note=_NOTE if lost or not whole else "")


def _is_json(
    connection: sqlite3.Connection, columns: tuple[str, ...], row: tuple[object, ...]
) -> bool:
    return all(
        connection.execute("SELECT json_valid(?)", (row[columns.index(name)],)).fetchone()[0]
        for name in _JSON & set(columns)
    )


LAYOUT = Layout(tables=TABLES, fill=_fill, check=_check, rescue=_rescue)
