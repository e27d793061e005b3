"""Values a query as a file: CSV that a spreadsheet will not execute, JSON Lines, Parquet."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa

from ragnostic.errors import UsageError

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"-\d+(?:\.\d+)?")


def write_per_query(table: pa.Table, path: Path) -> None:
    """Write a table by the file's suffix: ``.csv``, ``.jsonl`` or ``.parquet``; null stays empty.

    Raises UsageError for another suffix and where the file cannot be written.
    """
    writers = {".csv": _csv, ".jsonl": _jsonl, ".parquet": _parquet}
    if path.suffix not in writers:
        raise UsageError(f"{path}: unknown suffix", hint=f"use one of {', '.join(writers)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        writers[path.suffix](table, path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from error


def safe_cell(value: Any) -> Any:
    """A text that a spreadsheet would take for a formula, made harmless; numbers stay numbers,
    those that are written as text too.

    >>> safe_cell("=1+1"), safe_cell(-2.5), safe_cell("-2.5"), safe_cell("q1")
    ("'=1+1", -2.5, '-2.5', 'q1')
    """
    if isinstance(value, str) and value.startswith(_FORMULA) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value


def _csv(table: pa.Table, path: Path) -> None:
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(map(safe_cell, table.column_names))
        for batch in table.to_batches(max_chunksize=8192):
            columns = [column.to_pylist() for column in batch.columns]
            writer.writerows([safe_cell(v) for v in row] for row in zip(*columns, strict=True))


def _jsonl(table: pa.Table, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for batch in table.to_batches(max_chunksize=8192):
            for row in batch.to_pylist():
                file.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")


def _parquet(table: pa.Table, path: Path) -> None:
    import pyarrow.parquet as pq  # noqa: PLC0415  only when asked for

    pq.write_table(table, path, compression="zstd")
