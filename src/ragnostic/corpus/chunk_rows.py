"""Chunks as a service has them: one row a chunk, under the id that its results name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ragnostic.corpus.files import iter_lines
from ragnostic.corpus.strict_json import RowError, kind_of, parse_object, read_id
from ragnostic.errors import DataError, Fault, counted
from ragnostic.records import Chunk
from ragnostic.text import count_tokens

IDS = ("chunk_id", "id", "_id")
VECTOR = "vector"
_PARQUET = (".parquet", ".pq")
_ROWS = 8192

Vector = list[float] | None


def chunk_rows(path: Path, faults: list[Fault]) -> Iterator[tuple[Chunk, Vector]]:
    """The chunks of a JSON Lines or Parquet file, each with its vector where it has one.

    A row holds ``chunk_id``, ``id`` or ``_id``, and ``text``; perhaps ``doc_id``, ``start``,
    ``end`` and ``vector``. A row that cannot be used, or whose id came before, is left out with
    a Fault that names file and line.
    """
    numbers: list[str] = []
    places: dict[str, str] = {}
    for where, row in rows_of(path, faults):
        try:
            chunk, vector = _chunk(row, numbers), _vector(row.get(VECTOR))
        except RowError as error:
            faults.append(Fault("quarantined", f"{error}; left out", where=where))
            continue
        if chunk.id in places:
            message = f"chunk id {chunk.id!r} was given before, in {places[chunk.id]}; left out"
            faults.append(Fault("quarantined", message, (chunk.id,), where))
            continue
        places[chunk.id] = where
        yield chunk, vector
    if numbers:
        found = counted(len(numbers), "chunk id is a number", "chunk ids are numbers")
        message = f"{found}, read as text, such as {numbers[0]!r}"
        faults.append(Fault("number_ids", message, tuple(numbers[:20]), path.name, len(numbers)))


def rows_of(path: Path, faults: list[Fault]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(place, row) of each row of a JSON Lines or Parquet file; a line that is none is a Fault."""
    if path.suffix.lower() in _PARQUET:
        yield from _parquet_rows(path)
        return
    for line, text in iter_lines(path, faults=faults):
        if not text.strip():
            continue
        where = f"{path.name}:{line}"
        try:
            yield where, parse_object(text)
        except RowError as error:
            faults.append(Fault("quarantined", f"{error}; line left out", where=where))


def _parquet_rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    number = 0
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=_ROWS):
                for row in batch.to_pylist():
                    number += 1
                    yield f"{path.name}:{number}", row
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read as Parquet: {error}") from error


def _chunk(row: Mapping[str, Any], numbers: list[str]) -> Chunk:
    name = next((name for name in IDS if row.get(name) is not None), None)
    if name is None:
        raise RowError(f"has no {IDS[0]}, id or _id (keys: {', '.join(row) or 'none'})")
    text = row.get("text")
    if not isinstance(text, str):
        raise RowError(f"text must be a string, not {kind_of(text)}")
    identity = read_id(row[name], name, numbers)
    document = row.get("doc_id")
    return Chunk(
        id=identity,
        doc_id=identity if document is None else read_id(document, "doc_id", numbers),
        start=_place(row, "start", 0),
        end=_place(row, "end", len(text)),
        tokens=count_tokens(text),
        text=text,
    )


def _place(row: Mapping[str, Any], name: str, absent: int) -> int:
    value = row.get(name)
    if value is None:
        return absent
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise RowError(f"{name} must be a whole number of at least 0, not {value!r}")
    return value


def _vector(value: Any) -> Vector:
    if value is None:
        return None
    numbers = isinstance(value, list) and all(
        isinstance(part, int | float) and not isinstance(part, bool) for part in value
    )
    if not numbers or not value:
        raise RowError(f"{VECTOR} must be a list of numbers")
    return [float(part) for part in value]
