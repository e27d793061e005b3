"""What mending a cause is worth: recall if all its misses were mended, alone and in order.

An item that is mended at one link still has to pass the links behind it. How many do is taken from
the items that passed this link by themselves: ``survival`` is the share of them that reached its
place in the end. The expected gain is the missed share times it, and the ceiling is that share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ragnostic.diagnose.causes import NAMES
from ragnostic.diagnose.misses import Item
from ragnostic.metrics.inputs import Floats

_RESAMPLES = 2000
_BLOCK = 1 << 22
_SEED = 20_260_301


@dataclass(frozen=True, slots=True)
class Gain:
    """One cause. ``items`` missed by it, ``share`` of all that are missed; ``gain`` in recall if
    only it is mended, within [``low``, ``high``] (95 %); ``ceiling`` if every item of it then
    reached its place; ``in_order`` is the recall if it and all causes before it are mended.
    """

    cause: str
    items: int
    share: float
    gain: float
    low: float
    high: float
    ceiling: float
    in_order: float

    def as_json(self) -> dict[str, Any]:
        """For strict JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


def gains(items: Sequence[Item], causes: Mapping[tuple[str, int], str]) -> list[Gain]:
    """A gain for each cause that has misses, in pipeline order.

    ``items``: all of the queries, found ones too; ``causes``: by query id and place, of each that
    is missed. Resampled over queries; whether each mended item passes the rest is drawn too.

    >>> def item(query, missed):
    ...     return Item(query, 0, ("c",), 1.0, (1,), weight=1.0, missed=missed)
    >>> found = gains([item("a", False), item("b", True)], {("b", 0): "cut_by_chunker"})
    >>> found[0].cause, found[0].gain, found[0].in_order
    ('cut_by_chunker', 0.5, 1.0)
    """
    if not causes:
        return []
    queries = {query: n for n, query in enumerate(dict.fromkeys(item.query_id for item in items))}
    table = _table(items, causes, queries)
    drawn = _drawn(table)
    n = len(queries)
    missed = table.count.sum(axis=0)
    names = [(column, name) for column, name in enumerate(NAMES) if missed[column]]
    base, before, result = float(table.found_weight.sum()) / n, 0.0, []
    survival = _survival(table.found.sum(), missed)
    for column, name in names:
        ceiling = float(table.weight[:, column].sum()) / n
        before += ceiling
        low, high = np.quantile(drawn[:, column], (0.025, 0.975))
        result.append(
            Gain(
                *(name, int(missed[column]), float(missed[column] / missed.sum())),
                gain=float(survival[column] * ceiling),
                low=float(max(0.0, low)),
                high=float(min(ceiling, high)) if high > 0 else 0.0,
                ceiling=ceiling,
                in_order=float(base + survival[column] * before),
            )
        )
    return result


@dataclass(frozen=True, slots=True)
class _Table:
    """By query: items found and their weight; by query and cause: misses, their weight, and the
    sum of its squares.
    """

    found: Floats
    found_weight: Floats
    count: Floats
    weight: Floats
    squares: Floats


def _table(
    items: Sequence[Item], causes: Mapping[tuple[str, int], str], queries: Mapping[str, int]
) -> _Table:
    shape = (len(queries), len(NAMES))
    column = {name: n for n, name in enumerate(NAMES)}
    found, found_weight = np.zeros(len(queries)), np.zeros(len(queries))
    count, weight, squares = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for item in items:
        row = queries[item.query_id]
        if not item.missed:
            found[row] += 1
            found_weight[row] += item.weight
            continue
        place = (row, column[causes[item.query_id, item.place]])
        count[place] += 1
        weight[place] += item.weight
        squares[place] += item.weight**2
    return _Table(found, found_weight, count, weight, squares)


def _survival(found: Any, missed: Floats) -> Floats:
    """By cause: of the items that passed it, the share that reached its place; 1 where none did.

    ``found`` (…,) and ``missed`` (…, causes).

    >>> _survival(np.array(6.0), np.array([2.0, 3.0, 1.0])).round(2).tolist()
    [0.6, 0.86, 1.0]
    """
    later = missed[..., ::-1].cumsum(axis=-1)[..., ::-1] - missed
    passed = np.asarray(found)[..., None] + later
    shares: Floats = np.divide(
        np.broadcast_to(np.asarray(found)[..., None], passed.shape),
        passed,
        out=np.ones_like(passed),
        where=passed > 0,
    )
    return shares


def _drawn(table: _Table) -> Floats:
    """(resamples, causes): gains in resamples of the queries."""
    n = len(table.found)
    rng = np.random.default_rng(_SEED)
    parts = []
    step = max(1, _BLOCK // max(n, 1))
    for start in range(0, _RESAMPLES, step):
        size = min(step, _RESAMPLES - start)
        often = rng.multinomial(n, np.full(n, 1 / n), size=size).astype(np.float64)
        survival = _survival(often @ table.found, often @ table.count)
        expected = survival * (often @ table.weight) / n
        spread = np.sqrt(survival * (1 - survival) * (often @ table.squares)) / n
        parts.append(expected + spread * rng.standard_normal(expected.shape))
    return np.concatenate(parts)
