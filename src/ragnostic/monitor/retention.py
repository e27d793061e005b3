"""Retention: a day goes when it, and the last arrival of a row in it, are old enough.

An old log that is read today is thus kept as long as today's traffic, not thrown away at once.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import get_args

import numpy as np
import pyarrow as pa

from ragnostic.monitor.live_store import LiveStore
from ragnostic.monitor.store_intake import QUARANTINE
from ragnostic.ports import RecordKind
from ragnostic.store.lake import ParquetLake
from ragnostic.store.state import State

KINDS: tuple[RecordKind, ...] = get_args(RecordKind)
_ARRIVED = "arrived."


def note_arrivals(state: State, days: Iterable[tuple[str, str]]) -> None:
    """Keep that rows of a day arrived on a day: (day of the rows, day of arrival)."""
    for day, arrived in days:
        state.set_position(f"{_ARRIVED}{day}", {"day": arrived})


def expired(days: Iterable[str], arrivals: Mapping[str, str], today: date, keep: int) -> list[str]:
    """Days that are no longer kept, in order: ``keep`` days ago is the first that is.

    >>> today = date(2026, 3, 11)
    >>> expired(["2026-02-28", "2026-03-01"], {}, today, 10)
    ['2026-02-28']
    >>> expired(["2024-06-03"], {"2024-06-03": "2026-03-10"}, today, 10)
    []
    """
    first = (today - timedelta(days=keep)).isoformat()
    return sorted(day for day in days if max(day, arrivals.get(day, "")) < first)


def enforce_retention(store: LiveStore, today: date) -> dict[str, list[str]]:
    """Remove what is no longer kept; the days removed, by kind. Ids that arrived before the first
    day that is kept are forgotten with it.
    """
    keep = store.configuration.settings.store.keep_days
    removed: dict[str, list[str]] = {}
    for kind in KINDS:
        days = store.lake.days(kind)
        gone = expired(days, _arrivals(store.state, days), today, keep)
        _drop(store.lake, kind, days, gone)
        removed[kind] = gone
    removed[QUARANTINE] = _old_quarantine(store.root / QUARANTINE, today, keep)
    store.queue.forget_before((today - timedelta(days=keep)).isoformat())
    return {kind: days for kind, days in removed.items() if days}


def _drop(lake: ParquetLake, kind: RecordKind, days: Sequence[str], gone: Sequence[str]) -> None:
    """Remove days: the first ones at once, one that stands behind a day that is kept row by row."""
    kept = next((day for day in days if day not in gone), None)
    if kept is None:
        kept = date.max.isoformat()
    lake.drop_before(kind, kept)
    for day in gone:
        if day > kept:
            lake.rewrite(kind, day, _none)


def _none(table: pa.Table) -> pa.Array:
    return pa.array(np.zeros(table.num_rows, dtype=np.bool_))


def _arrivals(state: State, days: Iterable[str]) -> dict[str, str]:
    found = {day: state.position(f"{_ARRIVED}{day}") for day in days}
    return {day: str(kept["day"]) for day, kept in found.items() if kept}


def _old_quarantine(folder: Path, today: date, keep: int) -> list[str]:
    days = [path.name.removeprefix("day=") for path in folder.glob("day=*")]
    gone = expired(days, {}, today, keep)
    for day in gone:
        shutil.rmtree(folder / f"day={day}")
    return gone
