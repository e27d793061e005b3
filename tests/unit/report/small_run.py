"""A run of a few hand-written queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from ragnostic.records import CHUNK_SCHEMA, record_schema
from ragnostic.report.model import RunData

SCORE_COLUMNS = ("record_id", "query_id", "stage", "metric", "value", "status")


def small_run(
    queries: Sequence[Mapping[str, Any]] = (),
    *,
    stages: Sequence[str] = ("retrieve",),
    scores: Sequence[tuple[str, str, str, float | None]] = (),
    texts: Mapping[str, str] | None = None,
    meta: Mapping[str, Any] | None = None,
) -> RunData:
    """A run from short rows: a query has ``id``, ``gold`` (chunk → grade) and a list of chunk
    ids a stage; scores are (query, stage, metric, value).
    """
    schema = record_schema(stages)
    rows = [_row(query, stages, schema.names) for query in queries]
    chunks = [
        {"id": chunk, "doc_id": f"{chunk}.md", "text": text}
        for chunk, text in (texts or {}).items()
    ]
    empty = dict.fromkeys(CHUNK_SCHEMA.names)
    columns = [
        {"record_id": query, "query_id": query, "stage": stage, "metric": metric, "value": value}
        | {"status": "ok" if value is not None else "unscored"}
        for query, stage, metric, value in scores
    ]
    types = [pa.float64() if name == "value" else pa.string() for name in SCORE_COLUMNS]
    return RunData(
        meta or {},
        pa.Table.from_pylist(rows, schema),
        pa.Table.from_pylist([empty | chunk for chunk in chunks], CHUNK_SCHEMA),
        pa.Table.from_pylist(columns, pa.schema(list(zip(SCORE_COLUMNS, types, strict=True)))),
    )


def _row(query: Mapping[str, Any], stages: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(names)
    row |= {name: value for name, value in query.items() if name in names and name not in stages}
    row |= {"record_id": query["id"], "query_id": query["id"]}
    gold = query.get("gold", {})
    if gold is not None:
        row["judged"] = {
            "ids": list(gold),
            "grades": list(gold.values()),
            "items": query.get("items"),
            "facets": query.get("facets"),
        }
    for stage in stages:
        if stage in query:
            value = query[stage]
            row[stage] = value if isinstance(value, dict) else {"ids": list(value), "status": "ok"}
    return row
