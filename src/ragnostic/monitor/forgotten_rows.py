"""Where the rows of a user, a session or a record are, and taking them out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.monitor.live_store import LiveStore
from ragnostic.monitor.mentions import Mentions
from ragnostic.monitor.store_intake import QUARANTINE
from ragnostic.monitor.whole_file import write_whole
from ragnostic.ports import RecordKind, StoredEvent

By = Literal["user", "session", "record"]
_FIELDS: dict[By, str] = {"user": "user_id", "session": "session_id", "record": "record_id"}
_LATER: tuple[RecordKind, ...] = ("scores", "judgments")


@dataclass(frozen=True, slots=True)
class Whom:
    """Who, or what, is forgotten."""

    by: By
    id: str


def remove_rows(store: LiveStore, whom: Whom) -> dict[str, int]:
    """Records go last: only they know whose a judgment, a score or a probe is."""
    values = _values(store, whom)
    found = _records(store, whom, values)
    ids = pa.array(sorted({*found.ids, *_queued(store, whom, values)}), pa.string())
    removed: dict[str, int] = {}
    for kind in _LATER:
        removed[kind] = _rewrite(store, kind, found.days, lambda t: _among(t, "record_id", ids))
    queries, texts = pa.array(sorted(found.query_ids)), pa.array(sorted(found.queries))
    removed["probes"] = _rewrite(
        store,
        "probes",
        store.lake.days("probes"),
        lambda t: pc.or_(
            _among(t, "query_id", queries.cast(pa.string())),
            _among(t, "query", texts.cast(pa.string())),
        ),
    )
    removed["queue"] = store.queue.remove(lambda event: _is_of(event, whom, values))
    removed["spans"] = _drop_spans(store, Mentions(values))
    removed[QUARANTINE] = _clean_quarantine(store, Mentions([*values, *found.ids]))
    removed["records"] = _rewrite(
        store, "records", found.days, lambda t: _among(t, "record_id", ids)
    )
    return dict(sorted(removed.items()))


def _values(store: LiveStore, whom: Whom) -> list[str]:
    """The id, and for a user the pseudonym that stands in its place where there is a key."""
    if whom.by != "user":
        return [whom.id]
    return list(dict.fromkeys([whom.id, store.redactor.user(whom.id)]))


@dataclass(frozen=True, slots=True)
class _Found:
    days: list[str]
    ids: set[str]
    query_ids: set[str]
    queries: set[str]


def _records(store: LiveStore, whom: Whom, values: Iterable[str]) -> _Found:
    field = _FIELDS[whom.by]
    wanted = pa.array(list(values), pa.string())
    columns = list(dict.fromkeys(["day", "record_id", "query_id", "query", field]))
    found = _Found([], set(), set(), set())
    for table in store.lake.by_day("records", columns=columns):
        mine = table.filter(pc.is_in(table[field], wanted))
        found.days.extend(pc.unique(mine["day"]).to_pylist())
        found.ids.update(mine["record_id"].to_pylist())
        found.query_ids.update(one for one in mine["query_id"].to_pylist() if one)
        found.queries.update(one for one in mine["query"].to_pylist() if one)
    if whom.by == "record":
        found.ids.add(whom.id)
    return found


def _queued(store: LiveStore, whom: Whom, values: list[str]) -> set[str]:
    """Record ids of events of theirs that still wait, or were just written."""
    ids: set[str] = set()
    for partition in range(store.queue.partitions):
        after = 0
        while events := store.queue.read(partition, after, 1000):
            ids |= {event.id for event in events if _is_of(event, whom, values)}
            after = events[-1].offset
    return ids


def _is_of(event: StoredEvent, whom: Whom, values: list[str]) -> bool:
    if whom.by == "record":
        return event.id == whom.id
    row: Any = None
    with suppress(ValueError, RecursionError):
        row = json.loads(event.payload)
    if not isinstance(row, dict):
        return Mentions(values).inside(event.payload.decode("utf-8", "replace"))
    return row.get(_FIELDS[whom.by]) in values


def _among(table: pa.Table, column: str, values: pa.Array) -> pa.ChunkedArray:
    if column not in table.column_names:
        return pa.chunked_array([pa.nulls(table.num_rows, pa.bool_()).fill_null(fill_value=False)])
    return pc.is_in(table[column], values)


def _rewrite(
    store: LiveStore,
    kind: RecordKind,
    days: Iterable[str],
    gone: Callable[[pa.Table], pa.ChunkedArray],
) -> int:
    return sum(store.lake.rewrite(kind, day, lambda table: pc.invert(gone(table))) for day in days)


def _drop_spans(store: LiveStore, mentions: Mentions) -> int:
    """Traces that wait for their end and name the id."""
    far = datetime.max.replace(tzinfo=UTC).timestamp()
    named = [
        trace
        for trace in store.state.waiting_traces(far, 1 << 30)
        if any(
            mentions.inside(span.decode("utf-8", "replace")) for span in store.state.spans_of(trace)
        )
    ]
    return store.state.drop_traces(named) if named else 0


def _clean_quarantine(store: LiveStore, mentions: Mentions) -> int:
    """Lines of the quarantine that name an id, each file replaced as a whole."""
    removed = 0
    for path in sorted((store.root / QUARANTINE).glob("day=*/*.jsonl")):
        lines = path.read_bytes().splitlines(keepends=True)
        kept = [line for line in lines if not mentions.inside(line.decode("utf-8", "replace"))]
        if len(kept) == len(lines):
            continue
        removed += len(lines) - len(kept)
        if kept:
            write_whole(path, b"".join(kept))
        else:
            path.unlink()
    return removed
