"""Telling formats apart, and the two that are no rows of text: Parquet and one big JSON object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.corpus.files import iter_lines, read_text
from ragnostic.corpus.strict_json import RowError, parse_object
from ragnostic.errors import DataError, Fault

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


def as_text(column: pa.Array, where: object, name: str) -> pa.Array:
    """An id column as strings; one of other numbers than whole ones is refused."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.dictionary_decode(), kind.value_type
    if pa.types.is_string(kind):
        return column
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind) or pa.types.is_integer(kind):
        return column.cast(pa.string())
    if pa.types.is_null(kind):
        return pa.nulls(len(column), pa.string())
    raise DataError(f"{where}: column {name} holds {kind}, not ids", hint="store ids as text")


def whole_number_ids(schema: pa.Schema, names: Sequence[str], where: str) -> list[Fault]:
    """The announcement that id columns hold whole numbers, in which 007 would have been lost.

    >>> found = whole_number_ids(pa.schema([("query_id", pa.int64())]), ["query_id"], "run")
    >>> print(found[0])
    run: ids in column query_id are whole numbers and are read as text
    """
    found = [name for name in names if pa.types.is_integer(schema.field(name).type)]
    if not found:
        return []
    text = f"ids in column {' and '.join(found)} are whole numbers and are read as text"
    return [Fault("number_ids", text, where=where)]


def as_numbers(column: pa.Array, where: object, name: str) -> npt.NDArray[np.float64]:
    """A column as float64, NaN for null; raises DataError for a column of something else."""
    try:
        numbers = column.cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"{where}: column {name} holds {column.type}: {error}") from error
    return np.asarray(numbers.fill_null(float("nan")).to_numpy(), dtype=np.float64)


def no_id(column: pa.Array) -> npt.NDArray[np.bool_]:
    """Where a text column is null or empty."""
    empty = pc.fill_null(pc.equal(column, ""), pa.scalar(value=True))
    return np.asarray(empty.to_numpy(zero_copy_only=False))


def ranking_columns(batch: pa.RecordBatch, stage: str, where: object) -> pa.RecordBatch:
    """``query_id`` as text and a stage that is one, of a table with a row a query.

    Raises DataError where either is missing, or a query has no id.
    """
    if "query_id" not in batch.schema.names:
        raise DataError(f"{where}: there is no column query_id beside {stage}")
    column = batch[stage]
    if not pa.types.is_struct(column.type) or column.type.get_field_index("ids") < 0:
        raise DataError(f"{where}: column {stage} is no stage: it has no member 'ids'")
    queries = as_text(batch["query_id"], where, "query_id")
    if no_id(queries).any():
        raise DataError(f"{where}: a query id is null or empty")
    return pa.RecordBatch.from_arrays([queries, column], ["query_id", stage])
