"""The best order that a reranker could give to a query's candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def ideal_order(ids: Sequence[str | None], judged: Mapping[str, Any]) -> list[int]:
    """Positions in ``ids`` in ideal order: the chunk that adds most new grades first.

    ``judged``: parallel lists as in a record (METRICS 1.8): what is found once adds nothing a
    second time, so a further chunk of the same item follows behind all items; then come the
    chunks that are judged irrelevant or not at all, as they stood.

    >>> ideal_order(["x", "a", "b", "c"], {"ids": ["a", "b", "c"], "grades": [1, 2, 1]})
    [2, 1, 3, 0]
    >>> ideal_order(["a", "b", "c"], {"ids": ["a", "b", "c"], "items": [0, 0, 1]})
    [0, 2, 1]
    """
    holds = _holdings(judged)
    open_ = {at: holds[id_] for at, id_ in enumerate(ids) if id_ in holds}
    order: list[int] = []
    found: dict[Any, float] = {}
    while open_:
        # The first of equals, so that the order is always the same.
        best = max(open_, key=lambda at: (_added(open_[at], found), -at))
        if not _added(open_[best], found):
            break
        for item, grade in open_.pop(best).items():
            found[item] = max(grade, found.get(item, 0.0))
        order.append(best)
    order += sorted(open_, key=lambda at: (-max(open_[at].values()), at))
    placed = set(order)
    return order + [at for at in range(len(ids)) if at not in placed]


def _holdings(judged: Mapping[str, Any]) -> dict[str, dict[Any, float]]:
    """Chunk id → the items it holds, with a grade above 0."""
    ids = judged.get("ids") or ()
    columns = (judged.get(name) or [None] * len(ids) for name in ("grades", "items", "facets"))
    found: dict[str, dict[Any, float]] = {}
    for id_, grade, item, facet in zip(ids, *columns, strict=True):
        worth = 1.0 if grade is None else float(grade)
        if id_ and worth > 0:
            key = (facet, id_ if item is None else item)
            own = found.setdefault(id_, {})
            own[key] = max(worth, own.get(key, 0.0))
    return found


def _added(items: Mapping[Any, float], found: Mapping[Any, float]) -> float:
    return sum(grade for item, grade in items.items() if item not in found)
