"""The ``judged`` column of a block of records as flat arrays, one entry a judged chunk."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.errors import DataError
from ragnostic.scoring.rankings import flat
from ragnostic.scoring.strings import Hashes, Indices, Strings

OVERALL = ""
FACETS = "*"
"""The view in which a query's facets are the items (for ``coverage``)."""


@dataclass(frozen=True, slots=True)
class Judgments:
    """Entries of n records, ordered by row; all arrays but the last are (e,).

    ``rows``: the record of each entry. ``positions``: its id in ``strings``. ``items``: entries of
    one row with equal items are one item (METRICS 1.8). ``judged`` (n,): rows with a judgment.
    """

    strings: Strings
    rows: Indices
    positions: Indices
    hashes: Hashes
    grades: npt.NDArray[np.float64]
    items: Indices
    weights: npt.NDArray[np.float64]
    facets: npt.NDArray[Any]
    judged: npt.NDArray[np.bool_]

    def pick(self, chosen: npt.NDArray[np.bool_]) -> Judgments:
        """Only the chosen entries."""
        columns = ("rows", "positions", "hashes", "grades", "items", "weights", "facets")
        return replace(self, **{name: getattr(self, name)[chosen] for name in columns})


def judgments(column: pa.StructArray, view: str = OVERALL) -> Judgments:
    """The entries of a ``judged`` column that ``view`` asks for.

    ``view``: overall (entries without a facet), the name of a facet, or :data:`FACETS`.
    Negative grades count as 0 (METRICS 1.5). An id that is null without an item is no judgment.
    Raises DataError where the parallel lists differ in length.

    >>> from ragnostic.records import JUDGED_TYPE
    >>> given = pa.array([{"ids": ["a", "b"], "grades": [2, -1]}], JUDGED_TYPE)
    >>> judgments(given).grades.tolist()
    [2.0, 0.0]
    """
    members = {
        name: _member(column, name) for name in ("ids", "grades", "weights", "items", "facets")
    }
    values, _, lengths = flat(members["ids"])
    known = column.is_valid().to_numpy(zero_copy_only=False)
    rows = np.repeat(np.arange(len(column)), lengths)
    strings = Strings.of(values)
    grades = _floats(members["grades"], lengths, "grades", absent=1.0)
    broken = np.flatnonzero(~np.isfinite(grades))
    if broken.size:
        found = grades[broken[0]]
        raise DataError(f"row {int(rows[broken[0]])}: judged.grades holds {found}, no grade")
    items, has_item = _items(members["items"], lengths)
    every = Judgments(
        strings=strings,
        rows=rows,
        positions=np.arange(len(rows)),
        hashes=strings.hashes(),
        grades=np.maximum(grades, 0.0),
        items=items,
        weights=_floats(members["weights"], lengths, "weights"),
        facets=_texts(members["facets"], lengths),
        judged=known,
    )
    return _viewed(every, has_item, view)


def _viewed(every: Judgments, has_item: npt.NDArray[np.bool_], view: str) -> Judgments:
    no_facet = every.facets == ""
    usable = has_item | ~every.strings.missing
    if view == FACETS:
        codes = np.unique(every.facets, return_inverse=True)[1].astype(np.int64)
        return replace(every, items=codes).pick(usable & ~no_facet)
    chosen = usable & (no_facet if view == OVERALL else every.facets == view)
    return _one_item_a_chunk(every.pick(chosen), has_item[chosen])


def _one_item_a_chunk(given: Judgments, has_item: npt.NDArray[np.bool_]) -> Judgments:
    """Items for entries that name none: each distinct chunk is its own."""
    if has_item.all():
        return given
    items = np.where(has_item, given.items, -1 - np.arange(len(given.rows)))
    keys = given.hashes ^ (given.rows.astype(np.uint64) * np.uint64(0xD6E8FEB86659FD93))
    if has_repeats(keys[~has_item]):
        order = np.lexsort((given.hashes, given.rows))
        order = order[~has_item[order]]
        rows, hashes, positions = given.rows[order], given.hashes[order], given.positions[order]
        alike = (rows[1:] == rows[:-1]) & (hashes[1:] == hashes[:-1])
        same = alike & given.strings.equal(positions[1:], given.strings, positions[:-1])
        group = np.concatenate([[0], np.cumsum(~same)])
        first = np.unique(group, return_index=True)[1]
        items[order] = items[order][first][group]
        if (alike & ~same).any():  # a hash collision: others may stand between equal ids
            _unite_exactly(given, items, order)
    return replace(given, items=items)


def _unite_exactly(given: Judgments, items: Indices, entries: Indices) -> None:
    first: dict[tuple[int, bytes], int] = {}
    for entry in entries.tolist():
        chunk = given.strings.bytes_at(int(given.positions[entry]))
        items[entry] = first.setdefault((int(given.rows[entry]), chunk), int(items[entry]))


def has_repeats(keys: npt.NDArray[Any]) -> bool:
    """Whether any value comes twice.

    >>> has_repeats(np.array([3, 1, 3])), has_repeats(np.array([], dtype=int))
    (True, False)
    """
    ordered = np.sort(keys)
    return bool((ordered[1:] == ordered[:-1]).any())


def _member(column: pa.StructArray, name: str) -> pa.ListArray | None:
    index = column.type.get_field_index(name)
    if index < 0:
        if name == "ids":
            raise DataError("the judged column has no member 'ids'")
        return None
    # flatten() hands the struct's own nulls down to its members; field() would not.
    member = column.flatten()[index]
    if pa.types.is_large_list(member.type) or pa.types.is_null(member.type):
        inner = member.type.value_type if pa.types.is_large_list(member.type) else pa.string()
        member = member.cast(pa.list_(inner))
    return member


def _parallel(member: pa.ListArray | None, lengths: Indices, name: str) -> pa.Array | None:
    """Values of a member that is parallel to ``ids``; None where it is absent altogether."""
    if member is None or member.null_count == len(member):
        return None
    values, _, own = flat(member)
    given = member.is_valid().to_numpy(zero_copy_only=False)
    wrong = np.flatnonzero(given & (own != lengths))
    if wrong.size:
        row = int(wrong[0])
        raise DataError(
            f"row {row}: judged.{name} has {own[row]} values for {lengths[row]} ids",
            hint="the lists in judged are parallel",
        )
    if given.all() or (own == lengths).all():
        return values
    take = np.full(int(lengths.sum()), -1, dtype=np.int64)
    take[np.repeat(given, lengths)] = np.arange(len(values))
    return values.take(pa.array(take, mask=take < 0))


def _floats(
    member: pa.ListArray | None, lengths: Indices, name: str, absent: float = np.nan
) -> npt.NDArray[np.float64]:
    values = _parallel(member, lengths, name)
    if values is None:
        return np.full(int(lengths.sum()), absent)
    filled = pc.fill_null(values.cast(pa.float64()), absent)
    return np.asarray(filled.to_numpy(zero_copy_only=False), dtype=np.float64)


def _items(member: pa.ListArray | None, lengths: Indices) -> tuple[Indices, npt.NDArray[np.bool_]]:
    values = _parallel(member, lengths, "items")
    if values is None:
        size = int(lengths.sum())
        return np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.bool_)
    present = values.is_valid().to_numpy(zero_copy_only=False)
    filled = pc.fill_null(values.cast(pa.int64()), 0)
    return filled.to_numpy(zero_copy_only=False), present


def _texts(member: pa.ListArray | None, lengths: Indices) -> npt.NDArray[Any]:
    values = _parallel(member, lengths, "facets")
    if values is None or values.null_count == len(values):
        return np.full(int(lengths.sum()), "", dtype="<U1")
    return np.array(pc.fill_null(values, "").to_pylist(), dtype=np.str_)
