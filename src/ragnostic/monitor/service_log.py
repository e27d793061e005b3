"""``ragnostic.log``: one call in a service puts one retrieval into a store."""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ragnostic.errors import StoreError
from ragnostic.gateway.intake import Intake, Where
from ragnostic.monitor.store_intake import StoreIntake, open_intake

_LOGGER = logging.getLogger("ragnostic")
_HIT_LISTS = {"id": "ids", "score": "scores", "doc_id": "doc_ids", "text": "texts"}
_OF_STAGE = ("top_k", "took_ms")
_MOST_SAID = 100
_open: dict[tuple[int, Path], StoreIntake] = {}
_said: set[str] = set()
_lock = threading.Lock()


def log(
    store: str | Path,
    *,
    query: str,
    hits: Sequence[Any] | None = None,
    answer: str | None = None,
    stages: Mapping[str, Mapping[str, Any]] | None = None,
    **fields: Any,
) -> bool:
    """Put one retrieval into a store folder, and say whether it is stored.

    ``hits`` are chunk ids, best first, or objects with ``id`` and, where known, ``score``,
    ``doc_id`` and ``text``; ``top_k`` and ``took_ms`` (milliseconds) go with them. Several stages
    are given as ``stages``, by name, in pipeline order. Everything else is a field of the record
    (``trace_id``, ``span_id``, ``user_id``, ``latency_ms``, …) or becomes a label. ``ts`` is now
    where it is left out. Redaction and zone are those of the folder's ``store.toml``.

    The record is on the disk when this returns True. It never raises: what cannot be a record is
    set aside in the quarantine, and any trouble is told once to the logger ``ragnostic``; both
    give False. May be called from several threads.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> log(folder.name, query="annual leave", hits=["c1", "c7"], answer="20 days", user_id="u1")
    True
    >>> log(folder.name, query="annual leave", hits="c1")
    False
    >>> folder.cleanup()
    """
    try:
        row = {"ts": time.time(), **fields, "query": query, "answer": answer}
        row["stages"] = dict(stages or {})
        if hits is not None:
            stage = {name: row.pop(name) for name in _OF_STAGE if name in row}
            row["stages"] = {"retrieve": {**_lists(hits), **stage}, **row["stages"]}
        balance = _intake(Path(store)).accept([(row, Where("ragnostic.log"))])
    except Exception as error:  # noqa: BLE001 - a service must not fail because it is watched
        _warn(f"a retrieval was not stored: {type(error).__name__}: {error}")
        return False
    if balance.quarantined or balance.dropped:
        _warn(f"a retrieval cannot be a record; see the quarantine of {store}")
    return balance.stored + balance.duplicate == 1


def _intake(store: Path) -> Intake:
    """The intake of a store, opened once a process: a child opens its own."""
    key = (os.getpid(), store.absolute())
    with _lock:
        if key not in _open:
            _open[key] = open_intake(store, os.environ)
            atexit.register(_close, key)
        return _open[key].intake


def _close(key: tuple[int, Path]) -> None:
    """At the end of the process that opened a store, not of its children."""
    if key[0] == os.getpid():
        with suppress(StoreError):
            _open[key].close()


def _warn(message: str) -> None:
    """Say something once, as every request may have the same trouble."""
    if message not in _said and len(_said) < _MOST_SAID:
        _said.add(message)
        _LOGGER.warning(message)


def _lists(hits: Any) -> dict[str, Any]:
    """Parallel lists from ids or from objects; anything else as it is, for the intake to refuse."""
    if isinstance(hits, str) or not isinstance(hits, Sequence):
        return {"ids": hits}
    if not all(isinstance(hit, Mapping) for hit in hits):
        return {"ids": list(hits)}
    named = [name for name in _HIT_LISTS if any(name in hit for hit in hits)]
    lists = {_HIT_LISTS[name]: [hit.get(name) for hit in hits] for name in named}
    return {"ids": [None] * len(hits), **lists}
