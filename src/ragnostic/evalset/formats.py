"""Telling formats apart, and the two that are no rows of text: Parquet and one big JSON object."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ragnostic.corpus.files import iter_lines, read_text
from ragnostic.corpus.strict_json import RowError, parse_object
from ragnostic.errors import DataError, Fault

if TYPE_CHECKING:
    from ragnostic.evalset.rows import Columns

_PARQUET_MAGIC = b"PAR1"


def is_parquet(path: Path) -> bool:
    """Whether the file begins as Parquet does."""
    try:
        with path.open("rb") as file:
            return file.read(4) == _PARQUET_MAGIC
    except OSError:
        return False  # the reader that opens it next says why


def is_json_table(path: Path) -> bool:
    """Whether the file is one JSON object (not one a line)."""
    name = path.name.removesuffix(".gz")
    if name.endswith(".json"):
        return True
    if name.endswith((".jsonl", ".ndjson")):
        return False
    first = next(iter_lines(path, faults=[]), (1, ""))[1].strip()
    return first == "{"


def read_json_table(path: Path, faults: list[Fault]) -> Mapping[str, Any]:
    """A JSON object of query id → ids, or query id → {id: number}."""
    try:
        table = parse_object(read_text(path, faults=faults))
    except RowError as error:
        raise DataError(f"{path}: {error}") from error
    for query, values in table.items():
        if not isinstance(values, dict | list):
            raise DataError(
                f"{path}: query {query!r} holds a {type(values).__name__}",
                hint="write {query id: [ids, best first]} or {query id: {id: number}}",
            )
    return table


def open_parquet(path: Path, **options: Any) -> Any:
    """A pyarrow ParquetFile; raises DataError for a file that is none."""
    import pyarrow.parquet as pq  # noqa: PLC0415  not every run reads Parquet

    try:
        return pq.ParquetFile(path, **options)
    except (pa.ArrowInvalid, OSError) as error:
        raise DataError(f"{path}: not a readable Parquet file: {error}") from error


def long_columns(path: Path, columns: Columns) -> tuple[pa.Array, pa.Array, pa.Array]:
    """Query ids, chunk ids and values of a Parquet file with a row a pair."""
    file = open_parquet(path)
    names = columns.find(file.schema_arrow.names, path.name)
    table = file.read(columns=list(names))
    queries, chunks, values = (table[name].combine_chunks() for name in names)
    return as_text(queries, path, names[0]), as_text(chunks, path, names[1]), values


def as_text(column: pa.Array, path: Path, name: str) -> pa.Array:
    """An id column as strings; a column of numbers is refused, since 007 would be lost in it."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.dictionary_decode(), kind.value_type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return column.cast(pa.string()) if pa.types.is_string_view(kind) else column
    if pa.types.is_integer(kind):
        return column.cast(pa.string())
    raise DataError(f"{path}: column {name} holds {kind}, not ids", hint="store ids as text")
