"""User Behavior Insights, the search logs of OpenSearch: queries, and what was done with results.

Queries become records; events (clicks and the like) are joined to them as feedback by query id.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ragnostic.gateway.balance import Unreadable, Where

QUERY_KEYS = frozenset(
    {"query_response_id", "query_response_hit_ids", "query_response_objects_ids", "user_query"}
)
MAX_EVENTS = 200
"""Events of one query that its feedback holds; further ones are only counted."""

_RAW = 4096


def unwrapped(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The document itself, where an export has it under ``_source``.

    >>> unwrapped({"_id": "1", "_source": {"query_id": "q"}})
    {'query_id': 'q'}
    """
    inner = row.get("_source")
    return inner if isinstance(inner, Mapping) else row


def is_event(row: Mapping[str, Any]) -> bool:
    """Whether a document is something that a user did.

    >>> is_event({"action_name": "click", "query_id": "q"}), is_event({"user_query": "shoes"})
    (True, False)
    """
    return "action_name" in row


def is_ubi(row: Mapping[str, Any]) -> bool:
    """Whether a document is one of UBI's at all."""
    row = unwrapped(row)
    return "query_id" in row and (is_event(row) or not QUERY_KEYS.isdisjoint(row))


def query_row(document: Mapping[str, Any], feedback: list[dict[str, Any]]) -> dict[str, Any]:
    """The record row of a query; ``feedback`` as :meth:`EventSpool.of` gives it.

    More feedback makes a later revision, which replaces the earlier one in the store.

    >>> row = query_row(
    ...     {
    ...         "query_id": "q",
    ...         "user_query": "shoes",
    ...         "timestamp": 1767225600,
    ...         "query_response_hit_ids": ["a", "b"],
    ...     },
    ...     [{"action": "click", "id": "b"}],
    ... )
    >>> row["record_id"], row["stages"], row["feedback"], row["revision"]
    ('q', {'retrieve': {'ids': ['a', 'b']}}, '[{"action": "click", "id": "b"}]', 1)
    """
    rest = dict(document)
    query_id, response = rest.pop("query_id", None), rest.pop("query_response_id", None)
    hits = rest.pop("query_response_objects_ids", None)
    hits = rest.pop("query_response_hit_ids", None) or hits or []
    attributes = _object(rest.pop("query_attributes", None))
    row: dict[str, Any] = {
        "query_id": query_id,
        "query": rest.pop("user_query", None),
        "ts": rest.pop("timestamp", None),
        "user_id": rest.pop("client_id", None),
        "session_id": rest.pop("session_id", None),
        "service": rest.pop("application", None),
        "stages": {"retrieve": {"ids": hits}},
        "labels": {k: v for k, v in {**attributes, **rest}.items() if v is not None},
    }
    if response:
        row |= {"trace_id": query_id, "span_id": response}
    else:
        row["record_id"] = query_id
    if feedback:
        row |= {"feedback": json.dumps(feedback, ensure_ascii=False), "revision": len(feedback)}
    return row


class EventSpool:
    """Events of all files, kept in a temporary database until their queries come by.

    >>> spool = EventSpool()
    >>> spool.add({"action_name": "click", "query_id": "q"}, Where("events.jsonl", 1, 0), b"")
    >>> spool.of("q"), list(spool.left_over("events.jsonl"))
    ([{'action': 'click'}], [])
    """

    def __init__(self) -> None:
        self._database = sqlite3.connect("")  # in memory at first, on disk when it grows
        self._database.execute(
            "CREATE TABLE events (query_id TEXT, ts TEXT, feedback TEXT, source TEXT, line INT,"
            " offset INT, raw BLOB)"
        )
        self._database.execute("CREATE TABLE met (query_id TEXT PRIMARY KEY)")
        self._is_indexed = False

    def add(self, event: Mapping[str, Any], where: Where, raw: bytes) -> None:
        """Keep an event."""
        feedback = _feedback(event)
        self._database.execute(
            "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                None if event.get("query_id") is None else str(event["query_id"]),
                str(event.get("timestamp", "")),
                json.dumps(feedback, ensure_ascii=False),
                where.source,
                where.line,
                where.offset,
                raw[:_RAW],
            ),
        )

    def of(self, query_id: Any) -> list[dict[str, Any]]:
        """The events of a query in the order of their times; they count as joined then."""
        if not self._is_indexed:
            self._database.execute("CREATE INDEX by_query ON events (query_id)")
            self._is_indexed = True
        key = (str(query_id),)
        self._database.execute("INSERT OR IGNORE INTO met VALUES (?)", key)
        found = self._database.execute(
            "SELECT feedback FROM events WHERE query_id = ? ORDER BY ts, rowid LIMIT ?",
            (*key, MAX_EVENTS),
        )
        return [json.loads(feedback) for (feedback,) in found]

    def joined(self, source: str) -> int:
        """How many events of a file have met their query."""
        counted = (
            "SELECT count(*) FROM events WHERE source = ?"
            " AND query_id IN (SELECT query_id FROM met)"
        )
        return int(self._database.execute(counted, (source,)).fetchone()[0])

    def left_over(self, source: str) -> Iterator[tuple[Unreadable, Where]]:
        """The events of a file whose query did not come by, to be set aside."""
        rows: Iterable[tuple[Any, ...]] = self._database.execute(
            "SELECT query_id, line, offset, raw FROM events WHERE source = ?"
            " AND (query_id IS NULL OR query_id NOT IN (SELECT query_id FROM met))",
            (source,),
        )
        for query_id, line, offset, raw in rows:
            reason = (
                "an event without a query_id"
                if query_id is None
                else "an event of a query that is in none of the files"
            )
            yield Unreadable(reason, raw), Where(source, line, offset)

    def close(self) -> None:
        """Forget everything."""
        self._database.close()


def _feedback(event: Mapping[str, Any]) -> dict[str, Any]:
    attributes = _object(event.get("event_attributes"))
    thing, position = _object(attributes.get("object")), _object(attributes.get("position"))
    found = {
        "action": event.get("action_name"),
        "id": thing.get("object_id"),
        "rank": position.get("ordinal"),
        "ts": event.get("timestamp"),
        "message": event.get("message"),
    }
    return {key: value for key, value in found.items() if value is not None}


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
