"""Tables of different times under one schema: other stages, other unknown columns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.errors import DataError
from ragnostic.ports import RecordKind
from ragnostic.records import (
    JUDGMENT_SCHEMA,
    RANK_SCORES_KEY,
    STAGES_KEY,
    rank_score_stages,
    record_schema,
)

TS = pa.timestamp("us", tz="UTC")
_TEXTS = pa.list_(pa.string())
_DAY = [("ts", TS), ("day", pa.string())]
SCHEMAS: Mapping[RecordKind, pa.Schema] = {
    "records": record_schema((), [pa.field("revision", pa.int64()), pa.field("day", pa.string())]),
    "judgments": pa.schema([*JUDGMENT_SCHEMA, *(pa.field(*column) for column in _DAY)]),
    "scores": pa.schema(
        [
            *((name, pa.string()) for name in ("record_id", "query_id")),
            *_DAY,
            *((name, pa.string()) for name in ("stage", "judge", "status")),
            ("any_relevant", pa.bool_()),
        ]
    ),
    "rollups": pa.schema(
        [
            *_DAY,
            *((name, pa.string()) for name in ("judge", "stage", "slice", "value", "metric")),
            ("n", pa.int64()),
            ("sum", pa.float64()),
            ("sum_squares", pa.float64()),
        ]
    ),
    "probes": pa.schema(
        [
            *((name, pa.string()) for name in ("query_id", "query")),
            *_DAY,
            ("perturbation", pa.string()),
            ("first", _TEXTS),
            ("second", _TEXTS),
            ("seed", pa.int64()),
            ("reranker", pa.string()),
        ]
    ),
}
"""What a kind has at least: the schema of an empty lake."""


def local_days(ts: pa.Array | pa.ChunkedArray, zone: str) -> pa.Array | pa.ChunkedArray:
    """YYYY-MM-DD of each instant in a zone: the column ``day``.

    >>> from datetime import UTC, datetime
    >>> local_days(pa.array([datetime(2025, 7, 31, 20, tzinfo=UTC)]), "Asia/Shanghai").to_pylist()
    ['2025-08-01']
    """
    local = pc.local_timestamp(ts.cast(pa.timestamp("us", tz=zone)))
    return local.cast(pa.date32(), safe=False).cast(pa.string())


def plain(table: pa.Table) -> pa.Table:
    """A table that goes with others: dictionary columns spelled out, ``ts`` in microseconds UTC.

    Raises DataError where ``ts`` is no instant.

    >>> plain(pa.table({"a": pa.array(["x"]).dictionary_encode()})).schema.field("a").type
    DataType(string)
    """
    fields = []
    for field in table.schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if field.name == "ts":
            if not pa.types.is_timestamp(kind) or kind.tz is None:
                raise DataError(f"ts is {kind}, which is no instant", hint="give it a time zone")
            kind = TS
        fields.append(field.with_type(kind))
    return table.cast(pa.schema(fields, metadata=table.schema.metadata), safe=False)


def united(tables: Sequence[pa.Table]) -> pa.Table:
    """One table of all columns that occur; a column that tables disagree on becomes text (JSON
    for what is not simple). The stages of all stand in the metadata, in pipeline order.

    >>> a, b = pa.table({"x": [1]}), pa.table({"x": ["one"], "y": [True]})
    >>> united([a, b]).to_pylist()
    [{'x': '1', 'y': None}, {'x': 'one', 'y': True}]
    """
    metadata = _metadata([table.schema for table in tables])
    bare = [table.replace_schema_metadata(None) for table in tables]
    clashing = {
        name
        for name in dict.fromkeys(name for table in bare for name in table.column_names)
        if not _agree([table.schema.field(name) for table in bare if name in table.column_names])
    }
    for name in clashing:
        bare = [
            table.set_column(table.column_names.index(name), name, _as_text(table[name]))
            if name in table.column_names
            else table
            for table in bare
        ]
    return pa.concat_tables(bare, promote_options="permissive").replace_schema_metadata(metadata)


def _agree(fields: Sequence[pa.Field]) -> bool:
    try:
        pa.unify_schemas([pa.schema([field]) for field in fields], promote_options="permissive")
    except pa.ArrowTypeError:
        return False
    return True


def _as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    try:
        return column.cast(pa.string())
    except pa.ArrowNotImplementedError:
        values = (
            None if value is None else json.dumps(value, ensure_ascii=False, default=str)
            for value in column.to_pylist()
        )
        return pa.chunked_array([pa.array(values, pa.string())])


def _metadata(schemas: Sequence[pa.Schema]) -> dict[bytes, bytes] | None:
    """The metadata of the last, with the stages of all: a new one stands behind the one that it
    followed where it was.
    """
    metadata = dict(schemas[-1].metadata or {}) if schemas else {}
    stages: list[str] = []
    ranks: dict[str, None] = {}
    for schema in schemas:
        place = 0
        for stage in json.loads((schema.metadata or {}).get(STAGES_KEY, b"[]")):
            if stage not in stages:
                stages.insert(place, stage)
            place = stages.index(stage) + 1
        ranks.update(dict.fromkeys(rank_score_stages(schema)))
    if stages:
        metadata[STAGES_KEY] = json.dumps(stages).encode()
    if ranks:
        metadata[RANK_SCORES_KEY] = json.dumps(list(ranks)).encode()
    return metadata or None


def projected(table: pa.Table, kind: RecordKind, columns: Sequence[str] | None) -> pa.Table:
    """The named columns in their order, all where none are named; one that was never written is
    null, with the type that the kind gives it.

    >>> projected(pa.table({"a": [1]}), "scores", ["a", "stage"]).to_pylist()
    [{'a': 1, 'stage': None}]
    """
    if columns is None:
        return table
    known = SCHEMAS[kind]
    fields, arrays = [], []
    for name in dict.fromkeys(columns):
        if name in table.column_names:
            field, array = table.schema.field(name), table[name]
        else:
            field = known.field(name) if name in known.names else pa.field(name, pa.null())
            array = pa.nulls(table.num_rows, field.type)
        fields.append(field)
        arrays.append(array)
    return pa.table(arrays, schema=pa.schema(fields, metadata=table.schema.metadata))
