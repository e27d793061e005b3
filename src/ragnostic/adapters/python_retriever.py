"""The user's own retrieval function."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from ragnostic.adapters.hits import make_hits, shown
from ragnostic.adapters.user_code import UserFunction, call
from ragnostic.errors import RetrievalError, counted
from ragnostic.records import BASE_FIELDS, Hits

_MEMBERS = {"id": "ids", "score": "scores", "doc_id": "doc_ids", "text": "texts"}


class PythonRetriever(UserFunction):
    """Calls ``function(query, k)``, which may be async.

    It returns a list, best first, of ids, of ``(id, score)``, or of dicts with ``id`` and
    optionally ``score``, ``doc_id``, ``text``; or a dict from stage name to such a list.
    """

    def retrieve(self, query: str, top_k: int) -> Mapping[str, Hits]:
        """One call; where it returns several stages, the last one holds the measured time."""
        started = time.perf_counter()
        returned = call(self._target, self._function, query, top_k)
        took_ms = (time.perf_counter() - started) * 1000
        stages = returned if isinstance(returned, Mapping) else {"retrieve": returned}
        if not stages:
            raise RetrievalError(f"{self._target} returned a dict without a stage")
        last = list(stages)[-1]
        return {
            stage: self._hits(stage, rows, top_k, took_ms if stage == last else None)
            for stage, rows in stages.items()
        }

    def _hits(self, stage: Any, rows: Any, top_k: int, took_ms: float | None) -> Hits:
        source = f"{self._target} ({stage})"
        if not isinstance(stage, str) or stage in BASE_FIELDS:
            raise RetrievalError(
                f"{self._target} returned {shown(stage)} as a stage name",
                hint='return a list of hits, or a dict like {"retrieve": [...], "rerank": [...]}',
            )
        return make_hits(source, columns(source, rows), top_k=top_k, took_ms=took_ms)


def columns(source: str, rows: Any) -> dict[str, Any]:
    """Hits in one of the accepted forms as parallel lists; raises RetrievalError if mixed.

    >>> columns("s", [("a", 0.5), ("b", 0.25)])
    {'ids': ['a', 'b'], 'scores': [0.5, 0.25]}
    """
    if isinstance(rows, (str, bytes)) or not hasattr(rows, "__iter__"):
        raise RetrievalError(f"{source}: should return a list of hits, not {shown(rows)}")
    listed = list(rows)
    if listed and all(isinstance(row, Mapping) for row in listed):
        return _dict_columns(source, listed)
    if listed and all(isinstance(row, (tuple, list)) and len(row) == 2 for row in listed):
        return {"ids": [row[0] for row in listed], "scores": [row[1] for row in listed]}
    if any(isinstance(row, (Mapping, tuple, list)) for row in listed):
        raise RetrievalError(
            f"{source}: hits should all be ids, (id, score) or dicts, not {shown(listed)}"
        )
    return {"ids": listed}


def _dict_columns(source: str, rows: list[Mapping[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for member, name in _MEMBERS.items():
        having = sum(member in row for row in rows)
        if having == len(rows):
            found[name] = [row[member] for row in rows]
        elif having or member == "id":
            raise RetrievalError(
                f"{source}: no {member!r} in {len(rows) - having} of {counted(len(rows), 'hit')}"
            )
    return found
