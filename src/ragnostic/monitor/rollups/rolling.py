"""Bringing the roll-ups of a store up to date: only days whose rows have changed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from ragnostic.monitor.live_store import LiveStore
from ragnostic.monitor.rollups.rows import rolled
from ragnostic.ports import RecordKind

_SOURCES: tuple[RecordKind, ...] = ("scores", "probes")
_VERSION = "3"
"""Changes with the rows that :func:`rolled` makes, so that old ones are made anew."""
_NAME = "rollup"


@dataclass(frozen=True, slots=True)
class RolledUp:
    """Days that were made anew, and how many rows they have now."""

    days: tuple[str, ...]
    rows: int


def roll_up(store: LiveStore, days: Iterable[str] | None = None) -> RolledUp:
    """Make the roll-ups of the days whose scores or probes changed since; all days where None.

    A late row, and one that is judged again, changes its day, which is then made anew as a whole:
    doing this again changes nothing, and it does not matter who was interrupted.
    """
    known = {day for kind in _SOURCES for day in store.lake.days(kind)}
    wanted = sorted(known if days is None else known & set(days))
    made: list[str] = []
    rows = 0
    for day in wanted:
        key, fingerprint = f"rollup.{day}", _fingerprint(store.root, day)
        done = store.state.position(key)
        if done is not None and done.get("made_from") == fingerprint:
            continue
        table = rolled(_day(store, "scores", day), _day(store, "probes", day), store.zone)
        store.lake.write("rollups", table, name=_NAME)
        store.state.set_position(key, {"made_from": fingerprint})
        made.append(day)
        rows += table.num_rows
    return RolledUp(tuple(made), rows)


def _day(store: LiveStore, kind: RecordKind, day: str) -> pa.Table:
    start, end = store.day(day)
    return store.lake.read(kind, start=start, end=end)


def _fingerprint(root: Path, day: str) -> str:
    """Of the files that hold a day's rows: another name, size or time is another content."""
    seen = hashlib.sha256(_VERSION.encode())
    for kind in _SOURCES:
        for path in sorted((root / kind / f"day={day}").glob("*.parquet")):
            facts = path.stat()
            seen.update(f"{kind}/{path.name}/{facts.st_size}/{facts.st_mtime_ns}".encode())
    return seen.hexdigest()
