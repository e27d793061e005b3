"""Documents from rows: JSON Lines and Parquet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ragnostic.corpus.files import iter_lines
from ragnostic.corpus.strict_json import RowError, kind_of, parse_object, read_id
from ragnostic.errors import DataError, Fault, counted
from ragnostic.records import Document

_ID_COLUMNS = ("_id", "id")


def iter_jsonl(path: Path, faults: list[Fault]) -> Iterator[tuple[str, Document]]:
    """Yield (``file:line``, document) for each good line; blank lines are nothing."""
    numbers: list[str] = []
    for line, text in iter_lines(path, faults=faults):
        if not text.strip():
            continue
        where = f"{path.name}:{line}"
        try:
            yield where, _document(parse_object(text), numbers)
        except RowError as error:
            faults.append(Fault("quarantined", f"{error}; line left out", where=where))
    _announce_numbers(path.name, numbers, faults)


def iter_parquet(path: Path, faults: list[Fault]) -> Iterator[tuple[str, Document]]:
    """Yield (``file:row``, document) for each good row, rows counted from 1."""
    import pyarrow as pa  # noqa: PLC0415  only where Parquet is read
    import pyarrow.parquet as pq  # noqa: PLC0415  the same

    numbers: list[str] = []
    row = 0
    try:
        with pq.ParquetFile(path) as file:
            columns = _columns(path, file.schema_arrow.names)
            for batch in file.iter_batches(columns=columns):
                for values in batch.to_pylist():
                    row += 1
                    where = f"{path.name}:{row}"
                    try:
                        yield where, _document(values, numbers)
                    except RowError as error:
                        faults.append(Fault("quarantined", f"{error}; row left out", where=where))
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read as Parquet: {error}") from error
    _announce_numbers(path.name, numbers, faults)


def _columns(path: Path, names: list[str]) -> list[str]:
    identity = next((name for name in _ID_COLUMNS if name in names), None)
    if identity is None or "text" not in names:
        raise DataError(
            f"{path} has the columns {', '.join(names)}; a corpus needs _id (or id) and text",
            hint="rename the columns",
        )
    return [name for name in (identity, "title", "text") if name in names]


def _document(row: Mapping[str, Any], numbers: list[str]) -> Document:
    """A row as a document; raises RowError."""
    identity = next((name for name in _ID_COLUMNS if name in row), None)
    if identity is None:
        raise RowError(f"has no _id (keys: {', '.join(row) or 'none'})")
    text = row.get("text")
    if not isinstance(text, str):
        problem = f"must be a string, not {kind_of(text)}" if "text" in row else "is missing"
        raise RowError(f"text {problem}")
    title = row.get("title") or ""
    if not isinstance(title, str):
        raise RowError(f"title must be a string, not {kind_of(title)}")
    return Document(read_id(row[identity], identity, numbers), text, title)


def _announce_numbers(name: str, numbers: list[str], faults: list[Fault]) -> None:
    if numbers:
        found = counted(len(numbers), "document id is a number", "document ids are numbers")
        message = f"{found}, read as text, such as {numbers[0]!r}"
        faults.append(Fault("number_ids", message, tuple(numbers[:20]), name, len(numbers)))
