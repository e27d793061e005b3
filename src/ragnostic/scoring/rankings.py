"""Rankings of a block of records as one matrix of id hashes, duplicates taken out (METRICS 1.3)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ragnostic.scoring.strings import Hashes, Indices, Strings


@dataclass(frozen=True, slots=True)
class Rankings:
    """n rankings padded to one depth.

    ``ids``, ``strings``: all ids of the block, as Arrow and as bytes. ``hashes``, ``positions``
    (n, depth): hash of the id at each rank and its index in ``ids``; padding and missing ids carry
    hashes that equal nothing. ``lengths`` (n,): ranks after duplicates were taken out.
    ``duplicates``: (row, index in ``ids``) of each removed repetition.
    """

    ids: pa.Array
    strings: Strings
    hashes: Hashes
    positions: Indices
    lengths: Indices
    duplicates: tuple[tuple[int, int], ...]

    @property
    def inside(self) -> npt.NDArray[np.bool_]:
        """Which cells hold a rank rather than padding; (n, depth)."""
        return np.arange(self.hashes.shape[1]) < self.lengths[:, None]


def flat(lists: pa.ListArray) -> tuple[pa.Array, Indices, Indices]:
    """Values of a list column, and each row's start in them and length (0 for a null row).

    >>> values, starts, lengths = flat(pa.array([["a", "b"], None, ["c"]]))
    >>> values.to_pylist(), starts.tolist(), lengths.tolist()
    (['a', 'b', 'c'], [0, 2, 2], [2, 0, 1])
    """
    offsets = lists.offsets.to_numpy().astype(np.int64)
    first, last = int(offsets[0]), int(offsets[-1])
    lengths = np.diff(offsets)
    if lists.null_count:
        lengths = np.where(lists.is_null().to_numpy(zero_copy_only=False), 0, lengths)
    return lists.values.slice(first, last - first), offsets[:-1] - first, lengths


def rankings(lists: pa.ListArray, limit: Indices | None = None) -> Rankings:
    """The rankings of a list<string> column, each cut at ``limit`` (the stage's top_k).

    >>> found = rankings(pa.array([["A", "A", "B"], ["C"]]))
    >>> found.lengths.tolist(), found.duplicates
    ([2, 1], ((0, 1),))
    """
    values, starts, lengths = flat(lists)
    if limit is not None:
        lengths = np.minimum(lengths, limit)
    strings = Strings.of(values)
    depth = int(lengths.max(initial=0))
    positions = starts[:, None] + np.arange(depth)
    dead = np.arange(depth) >= lengths[:, None]
    if dead.any():
        positions[dead] = 0
    hashes = strings.hashes()[positions] if len(values) else _no_hashes(positions.shape)
    if strings.missing.any():
        dead |= strings.missing[positions]
    if dead.any():
        hashes[dead] = _no_hashes(positions.shape)[dead]
    return _without_duplicates(Rankings(values, strings, hashes, positions, lengths, ()))


def _no_hashes(shape: tuple[int, ...]) -> Hashes:
    """Complements of small integers: no two cells alike, and none likely to equal a real hash."""
    size = int(np.prod(shape))
    return ~np.arange(size, dtype=np.uint64).reshape(shape)


def _without_duplicates(given: Rankings) -> Rankings:
    # Half hashes only raise suspicion, at half the cost; suspects are verified.
    ordered = np.sort(given.hashes.astype(np.uint32), axis=1)
    rows = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
    if not rows.size:
        return given
    repeated = np.zeros(given.hashes.shape, dtype=np.bool_)
    repeated[rows] = _repetitions(given, rows)
    order = np.argsort(repeated[rows], axis=1, kind="stable")
    hashes, positions, lengths = given.hashes.copy(), given.positions.copy(), given.lengths.copy()
    hashes[repeated] = _no_hashes(hashes.shape)[repeated]
    hashes[rows] = np.take_along_axis(hashes[rows], order, axis=1)
    positions[rows] = np.take_along_axis(positions[rows], order, axis=1)
    lengths -= repeated.sum(axis=1)
    removed = tuple((int(r), int(given.positions[r, c])) for r, c in np.argwhere(repeated))
    return replace(given, hashes=hashes, positions=positions, lengths=lengths, duplicates=removed)


def _repetitions(given: Rankings, rows: Indices) -> npt.NDArray[np.bool_]:
    """Which cells of ``rows`` repeat an earlier id of their row, verified byte by byte."""
    hashes, positions = given.hashes[rows], given.positions[rows]
    order = np.argsort(hashes, axis=1, kind="stable")
    ranked = np.take_along_axis(hashes, order, axis=1)
    where = np.take_along_axis(positions, order, axis=1)
    row, column = np.nonzero(ranked[:, 1:] == ranked[:, :-1])
    same = given.strings.equal(where[row, column + 1], given.strings, where[row, column])
    # Padding points at the block's first id, so a hash like padding's would look like a repetition.
    same &= order[row, column + 1] < given.lengths[rows[row]]
    repeated = np.zeros(hashes.shape, dtype=np.bool_)
    repeated[row[same], order[row[same], column[same] + 1]] = True
    for line in np.unique(row[~same]).tolist():  # a hash collision: compare this row's ids exactly
        repeated[line] = _exact_repetitions(given, int(rows[line]))
    return repeated


def _exact_repetitions(given: Rankings, row: int) -> npt.NDArray[np.bool_]:
    seen: set[bytes] = set()
    repeated = np.zeros(given.hashes.shape[1], dtype=np.bool_)
    for rank in range(int(given.lengths[row])):
        position = int(given.positions[row, rank])
        chunk = given.strings.bytes_at(position)
        repeated[rank] = bool(chunk) and chunk in seen
        seen.add(chunk)
    return repeated
