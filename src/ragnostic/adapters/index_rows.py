"""What numbers in a vector index stand for: a file beside it, with a row a vector."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ragnostic.corpus.chunk_rows import IDS, rows_of
from ragnostic.errors import DataError, Fault, PathError
from ragnostic.ports import StoredBatch, Vectors

Keys = npt.NDArray[np.int64]
_KEYS = 1 << 64
"""Keys may be unsigned 64-bit numbers; here they are signed, of the same bits."""


class Row(NamedTuple):
    """What is known of one vector."""

    key: int
    id: str
    text: str | None
    doc_id: str | None
    version: str | None


def read_rows(path: Path) -> Iterator[Row]:
    """The rows of a JSON Lines or Parquet file: ``chunk_id`` (or ``id``, ``_id``), perhaps
    ``text``, ``doc_id``, ``version``, and ``key`` where the index has numbers of its own; else the
    rows stand in the order of the vectors. Raises DataError at the first that cannot be read: a
    row that is left out would move all others.
    """
    faults: list[Fault] = []
    for number, (where, values) in enumerate(rows_of(path, faults)):
        _raise(faults)
        name = next((name for name in IDS if values.get(name) is not None), None)
        if name is None:
            raise DataError(f"{where}: the row has no {', '.join(IDS)}")
        key = values.get("key", number)
        if not isinstance(key, int) or isinstance(key, bool):
            raise DataError(f"{where}: key must be a whole number, not {key!r}")
        yield Row(
            key - _KEYS if key >= _KEYS // 2 else key,
            str(values[name]),
            text_of(values.get("text")),
            text_of(values.get("doc_id")),
            text_of(values.get("version")),
        )
    _raise(faults)


def _raise(faults: list[Fault]) -> None:
    broken = next((fault for fault in faults if fault.kind == "quarantined"), None)
    if broken is not None:
        raise DataError(
            f"{broken}", hint="every row counts here: the rows stand in the order of the vectors"
        )


def text_of(value: Any) -> str | None:
    """A value of a column as text.

    >>> text_of(None), text_of(3)
    (None, '3')
    """
    return None if value is None else str(value)


@dataclass(frozen=True, slots=True)
class KeyedVectors:
    """Vectors under whole numbers, and the file that says what these stand for.

    ``keys``: all numbers of the index; ``vectors_of``: their vectors, (n, dimension).
    """

    keys: Keys
    vectors_of: Callable[[Keys], Vectors]
    dimension: int
    rows: Path

    def names(self) -> dict[int, str]:
        """Chunk id by number."""
        return {row.key: row.id for row in read_rows(self.rows)}

    def scan(self, rows: int) -> Iterator[StoredBatch]:
        """The rows of the file with their vectors, then the vectors that no row names."""
        held = np.sort(self.keys)
        named: list[int] = []
        listed = read_rows(self.rows)
        while batch := list(islice(listed, rows)):
            keys = np.array([row.key for row in batch], dtype=np.int64)
            named += keys.tolist()
            yield self._batch(batch, keys, np.isin(keys, held))
        rest = np.setdiff1d(held, np.array(named, dtype=np.int64))
        for start in range(0, len(rest), rows):
            keys = rest[start : start + rows]
            unnamed = [Row(key, unnamed_id(key), None, None, None) for key in keys.tolist()]
            yield self._batch(unnamed, keys, np.ones(len(keys), dtype=bool))

    def _batch(self, batch: list[Row], keys: Keys, held: npt.NDArray[np.bool_]) -> StoredBatch:
        vectors = np.full((len(batch), self.dimension), np.nan, dtype=np.float32)
        if held.any():
            vectors[held] = self.vectors_of(keys[held])
        return StoredBatch(
            ids=tuple(row.id for row in batch),
            vectors=vectors,
            sizes=tuple(self.dimension if one else 0 for one in held.tolist()),
            texts=tuple(row.text for row in batch),
            doc_ids=tuple(row.doc_id for row in batch),
            versions=tuple(row.version for row in batch),
        )


def unnamed_id(key: int) -> str:
    """The id of a vector that no row names.

    >>> unnamed_id(7)
    '#7'
    """
    return f"#{key}"


def ladder(k: int, top: int = 640) -> tuple[int, ...]:
    """Efforts that double, from ``k``.

    >>> ladder(10, 100)
    (10, 20, 40, 80)
    """
    found = [k]
    while found[-1] * 2 <= top:
        found.append(found[-1] * 2)
    return tuple(found)


def existing(base: Path, written: str, what: str, *, folder: bool = False) -> Path:
    """A path of the configuration that is there; raises PathError where it is not."""
    path = base / Path(written).expanduser()
    if not (path.is_dir() if folder else path.is_file()):
        raise PathError(
            f"{what}: no such {'folder' if folder else 'file'}: {written}",
            hint=f"paths are relative to {base}",
        )
    return path
