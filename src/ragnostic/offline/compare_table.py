"""Both values of every query as a table, for a file."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.metrics.inputs import Floats
from ragnostic.offline.compare import ComparisonResult
from ragnostic.stats.sides import Side


def values_table(result: ComparisonResult) -> pa.Table:
    """A row a query of either side: ``query_id``, and for each metric compared ``base METRIC``,
    ``candidate METRIC`` and ``difference METRIC``, null where undefined or where the side lacks
    the query. Queries stand in the order of the base, those of the candidate alone behind them.
    """
    sides = (result.base, result.candidate)
    query_ids = pc.unique(pa.chunked_array([side.query_ids for side in sides]))
    seats = [_seats(query_ids, side) for side in sides]
    columns: dict[str, pa.Array] = {"query_id": query_ids}
    for found in result.comparison.metrics:
        before, after = (
            _values(side, of, found.metric, places)
            for side, of, places in zip(sides, result.comparison.stages, seats, strict=True)
        )
        for name, values in (
            ("base", before),
            ("candidate", after),
            ("difference", after - before),
        ):
            columns[f"{name} {found.metric}"] = pa.array(values, mask=np.isnan(values))
    return pa.table(columns)


def _seats(query_ids: pa.Array, side: Side) -> pa.Array:
    return pc.index_in(query_ids, value_set=side.query_ids)


def _values(side: Side, stage: str, metric: str, places: pa.Array) -> Floats:
    """(queries of either side,) float64, NaN where the side has none."""
    values = np.append(side.values[stage, metric], np.nan)
    rows = np.asarray(places.fill_null(len(values) - 1).to_numpy(), dtype=np.int64)
    return np.asarray(values[rows], dtype=np.float64)
