"""What a service or a function returned, checked and made into Hits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any

from ragnostic.errors import RetrievalError, counted
from ragnostic.records import Hits


def make_hits(
    source: str,
    lists: Mapping[str, Any],
    *,
    top_k: int,
    took_ms: float | None,
    distance: bool = False,
) -> Hits:
    """Parallel lists ``ids`` and, where given, ``scores``, ``doc_ids``, ``texts`` as Hits.

    Ids are text or whole numbers (made text) or null; a null id keeps its rank (METRICS 1.6).
    Scores are finite numbers; with ``distance`` they are negated, so that higher is better
    everywhere in a record. Raises RetrievalError, which names ``source``, for anything else.

    >>> make_hits("s", {"ids": [7, "b"], "scores": [0.1, 0.4]}, top_k=2, took_ms=None).ids
    ('7', 'b')
    """
    ids = tuple(_identifier(source, "ids", value) for value in _listed(source, "ids", lists["ids"]))
    scores = doc_ids = texts = None
    if lists.get("scores") is not None:
        scores = tuple(
            number(source, value) for value in _listed(source, "scores", lists["scores"])
        )
        scores = tuple(0.0 - score for score in scores) if distance else scores
    if lists.get("doc_ids") is not None:
        listed = _listed(source, "doc_ids", lists["doc_ids"])
        doc_ids = tuple(_identifier(source, "doc_ids", value) for value in listed)
    if lists.get("texts") is not None:
        texts = tuple(_text(source, value) for value in _listed(source, "texts", lists["texts"]))
    for name, values in (("scores", scores), ("doc_ids", doc_ids), ("texts", texts)):
        if values is not None and len(values) != len(ids):
            raise RetrievalError(
                f"{source}: {counted(len(ids), 'id')} but {counted(len(values), name[:-1])}",
                hint="the lists must be parallel, one entry a hit",
            )
    return Hits(ids=ids, scores=scores, doc_ids=doc_ids, texts=texts, top_k=top_k, took_ms=took_ms)


def number(source: str, value: Any) -> float:
    """A finite score; raises RetrievalError for NaN, infinity and what is no number.

    >>> number("s", 3)
    3.0
    """
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise RetrievalError(f"{source}: a score is not a finite number: {shown(value)}")
    return float(value)


def shown(value: Any) -> str:
    """A short form of a value for a message.

    >>> len(shown("x" * 100))
    61
    """
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _listed(source: str, name: str, values: Any) -> list[Any]:
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise RetrievalError(f"{source}: {name} should be a list, not {shown(values)}")
    return list(values)


def _identifier(source: str, name: str, value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return None if value is None else str(value)
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise RetrievalError(
            f"{source}: {name} should be text or whole numbers, not {shown(value)}"
        )
    return str(int(value))


def _text(source: str, value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise RetrievalError(f"{source}: texts should be text, not {shown(value)}")
