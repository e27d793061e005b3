"""Reading records: Parquet batch by batch, JSON Lines row by row (INTERFACES, Record)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from ragnostic.corpus.files import iter_lines
from ragnostic.corpus.strict_json import RowError, kind_of, parse_object
from ragnostic.errors import DataError, Fault
from ragnostic.evalset.formats import is_parquet, open_parquet
from ragnostic.evalset.record_values import instant
from ragnostic.evalset.rows import quarantine
from ragnostic.records import (
    BASE_FIELDS,
    JUDGED_TYPE,
    STAGE_TYPE,
    rank_score_stages,
    record_schema,
    stages_of,
)

_ROWS = 8192
_LISTS = {name for name, kind in BASE_FIELDS.items() if pa.types.is_list(kind)}
_LIST_MEMBERS = {f.name for f in (*STAGE_TYPE, *JUDGED_TYPE) if pa.types.is_list(f.type)}


def record_stages(path: Path) -> list[str]:
    """Names of the stages in a records file, in pipeline order; raises DataError without one."""
    if is_parquet(path):
        found = stages_of(open_parquet(path).schema_arrow)
    else:
        rows = islice(_objects(path, []), 1000)
        found = list(dict.fromkeys(name for _, row in rows for name in _stages(row)))
    if not found:
        raise DataError(
            f"{path}: the records have no stage",
            hint='a stage is a struct with ids, for example "retrieve": {"ids": ["c1", "c2"]}',
        )
    return found


def stages_of_ranks(path: Path) -> list[str]:
    """The stages of a records file whose scores only encode a rank, where it says so."""
    return rank_score_stages(open_parquet(path).schema_arrow) if is_parquet(path) else []


def read_records(
    path: Path, stages: Sequence[str], faults: list[Fault], columns: Sequence[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """Record batches of a file. ``columns`` (Parquet only) limits what is read: ``a`` or ``a.b``.

    A line that cannot be read is set aside as a fault with its file and line.
    """
    if is_parquet(path):
        file = open_parquet(path)
        names = file.schema_arrow.names
        wanted = columns and [name for name in columns if name.partition(".")[0] in names]
        for batch in file.iter_batches(batch_size=_ROWS, columns=wanted):
            yield _checked(batch, path)
        return
    schema = record_schema(stages)
    rows = _objects(path, faults)
    while block := list(islice(rows, _ROWS)):
        yield _batch(path, block, schema, faults)


def _stages(row: dict[str, Any]) -> list[str]:
    return [
        name
        for name, value in row.items()
        if name not in BASE_FIELDS and isinstance(value, dict) and "ids" in value
    ]


def _objects(path: Path, faults: list[Fault]) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in iter_lines(path, faults=faults):
        if not line.strip():
            continue
        try:
            row = parse_object(line)
            if not isinstance(row.get("query_id"), str):
                quarantine(path, number, "a record needs a query_id that is text", faults)
                continue
            _check_lists(row)
            if row.get("ts") is not None:
                row["ts"] = instant(row["ts"])
            yield number, row
        except RowError as error:
            quarantine(path, number, str(error), faults)


def _check_lists(row: dict[str, Any]) -> None:
    """Arrow would take a text or an object for a list of its characters or keys."""
    for name, value in row.items():
        if name in _LISTS:
            _check_list(name, value)
        elif isinstance(value, dict) and name != "labels":
            for member in _LIST_MEMBERS & value.keys():
                _check_list(f"{name}.{member}", value[member])


def _check_list(name: str, value: Any) -> None:
    if value is not None and not isinstance(value, list):
        raise RowError(f"{name} must be a list, not {kind_of(value)}")


def _batch(
    path: Path, block: list[tuple[int, dict[str, Any]]], schema: pa.Schema, faults: list[Fault]
) -> pa.RecordBatch:
    rows = [_with_json_labels(row) for _, row in block]
    try:
        return pa.RecordBatch.from_pylist(rows, schema=schema)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        good = []
        for (number, _), row in zip(block, rows, strict=True):
            try:
                pa.RecordBatch.from_pylist([row], schema=schema)
                good.append(row)
            except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
                quarantine(path, number, f"does not fit the record: {error}", faults)
        return pa.RecordBatch.from_pylist(good, schema=schema)


def _with_json_labels(row: dict[str, Any]) -> dict[str, Any]:
    labels = row.get("labels")
    if not isinstance(labels, dict):
        return row
    texts = {k: v if isinstance(v, str) else json.dumps(v) for k, v in labels.items()}
    return {**row, "labels": list(texts.items())}


def _checked(batch: pa.RecordBatch, path: Path) -> pa.RecordBatch:
    if "query_id" not in batch.schema.names:
        raise DataError(f"{path}: the records have no column query_id")
    return batch
