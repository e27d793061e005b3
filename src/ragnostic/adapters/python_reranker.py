"""The user's own reranking function."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

from ragnostic.adapters.hits import number, shown
from ragnostic.adapters.python_retriever import columns
from ragnostic.adapters.user_code import UserFunction, call
from ragnostic.errors import RetrievalError
from ragnostic.ports import Candidate, Progress, Reranking, no_progress


class PythonReranker(UserFunction):
    """Calls ``function(query, [{"id", "text", "score"}], top_n)``, which may be async.

    It returns, best first, a list of ids (text), of indices into the candidates (whole numbers),
    or of pairs of either with a score. Candidates that it leaves out are not in the order.
    """

    def prepare(self, texts: Iterable[str], progress: Progress = no_progress) -> None:
        """Nothing to prepare: the function is the user's."""

    def rerank(self, query: str, candidates: Sequence[Candidate], top_n: int) -> Reranking:
        """One call; raises RetrievalError for an unknown or repeated candidate."""
        started = time.perf_counter()
        offered = [
            {"id": candidate.id, "text": candidate.text, "score": candidate.score}
            for candidate in candidates
        ]
        returned = call(self._target, self._function, query, offered, top_n)
        took_ms = (time.perf_counter() - started) * 1000
        found = columns(self._target, returned)
        scores = found.get("scores")
        return Reranking(
            order=_positions(self._target, found["ids"], [row.id for row in candidates]),
            scores=None if scores is None else tuple(number(self._target, row) for row in scores),
            truncated=(False,) * len(candidates),
            took_ms=took_ms,
        )


def _positions(source: str, returned: Sequence[Any], ids: Sequence[str]) -> tuple[int, ...]:
    """Ids or indices as indices, each once."""
    known = {chunk_id: position for position, chunk_id in reversed(list(enumerate(ids)))}
    positions: list[int] = []
    for value in returned:
        index = isinstance(value, Integral) and not isinstance(value, bool)
        position = int(value) if index else known.get(value, -1) if isinstance(value, str) else -1
        if not 0 <= position < len(ids):
            raise RetrievalError(
                f"{source} returned {shown(value)}, which is no candidate",
                hint="return ids as text, or indices from 0 as whole numbers",
            )
        if position in positions:
            raise RetrievalError(f"{source} returned {shown(value)} twice")
        positions.append(position)
    return tuple(positions)
