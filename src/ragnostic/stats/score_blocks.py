"""A long score table taken apart: one block of rows a stage and metric, its queries as places.

A million queries with five metrics are five million rows, so nothing here makes a Python object
a row, and queries that stand in the same order in every block, as our own files have them, are
looked up once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.errors import DataError
from ragnostic.metrics.inputs import Floats

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Block:
    """The rows of one stage and metric, in their order in the table.

    ``query_ids``, ``statuses``: (rows,) strings. ``values`` (rows,): NaN for null. ``places``
    (rows,): where each row's query stands among the distinct queries; None where row i belongs
    to query i.
    """

    stage: str
    metric: str
    query_ids: pa.ChunkedArray
    values: Floats
    statuses: pa.ChunkedArray
    places: Rows | None = None


def blocks_of(
    scores: pa.Table, stages: Sequence[str], metrics: Sequence[str] | None
) -> tuple[pa.Array, list[Block]]:
    """Distinct query ids in the order of their first appearance, and the blocks.

    Blocks come by stage as ``stages`` says, then by metric as ``metrics`` says or, where None,
    as the table has them. A stage or metric that the table lacks gives no block. Raises
    DataError for a query id that is null.

    >>> row = {"query_id": ["a"], "stage": ["rerank"], "metric": ["AP"]}
    >>> table = pa.table(row | {"value": [1.0], "status": ["ok"]})
    >>> ids, blocks = blocks_of(table, ["retrieve", "rerank"], None)
    >>> ids.to_pylist(), [(block.stage, block.metric) for block in blocks]
    (['a'], [('rerank', 'AP')])
    """
    if scores["query_id"].null_count:
        raise DataError("a row of the scores has no query id")
    return _placed(list(_blocks(scores, stages, metrics)))


def _blocks(
    scores: pa.Table, stages: Sequence[str], metrics: Sequence[str] | None
) -> Iterator[Block]:
    stage_codes, stage_names = _codes(scores["stage"])
    metric_codes, metric_names = _codes(scores["metric"])
    kept = scores.select(["query_id", "value", "status"])
    for stage in dict.fromkeys(stages):
        for metric in dict.fromkeys(metric_names if metrics is None else metrics):
            if stage not in stage_names or metric not in metric_names:
                continue
            of_stage = stage_codes == stage_names.index(stage)
            rows = np.flatnonzero(of_stage & (metric_codes == metric_names.index(metric)))
            if not rows.size:
                continue
            part = _rows(kept, rows)
            values = part["value"].cast(pa.float64()).fill_null(float("nan"))
            ids = part["query_id"].cast(pa.string())
            yield Block(stage, metric, ids, np.asarray(values.to_numpy()), part["status"])


def _codes(column: pa.ChunkedArray) -> tuple[npt.NDArray[Any], list[str]]:
    """Each row's word as a number, -1 for null, and the words."""
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    chunks = encoded.unify_dictionaries().chunks
    if not chunks:
        return np.zeros(0, dtype=np.int32), []
    codes = [chunk.indices.fill_null(-1).to_numpy() for chunk in chunks]
    return np.concatenate(codes), chunks[0].dictionary.to_pylist()


def _rows(table: pa.Table, rows: Rows) -> pa.Table:
    """These rows; without a copy where they stand together."""
    start, stop = int(rows[0]), int(rows[-1]) + 1
    return table.slice(start, rows.size) if stop - start == rows.size else table.take(rows)


def _placed(blocks: Sequence[Block]) -> tuple[pa.Array, list[Block]]:
    if not blocks:
        return pa.array([], pa.string()), []
    known = pc.unique(blocks[0].query_ids)
    for block in blocks[1:]:
        if not block.query_ids.equals(blocks[0].query_ids):
            known = pc.unique(pa.chunked_array([known, *block.query_ids.chunks]))
    found: list[Block] = []
    for block in blocks:
        if found and block.query_ids.equals(blocks[0].query_ids):
            places = found[0].places
        elif block.query_ids.equals(pa.chunked_array([known[: len(block.query_ids)]])):
            places = None
        else:
            places = pc.index_in(block.query_ids, value_set=known).to_numpy().astype(np.int64)
        found.append(replace(block, places=places))
    return known, found
