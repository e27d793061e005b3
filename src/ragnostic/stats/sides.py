"""One side of a comparison: the values a query of one system, repeats averaged (METRICS 11)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.errors import DataError, UsageError
from ragnostic.metrics import Metric
from ragnostic.metrics.inputs import Floats
from ragnostic.stats.score_blocks import Block, Rows, blocks_of

STATUSES = ("ok", "missing", "unscored", "failed", "unjudged", "unanswerable")
"""What can be said of a query at a stage; of repeats that differ the first of these holds."""


@dataclass(frozen=True, slots=True)
class Side:
    """One system's values a query; repeated rows of a query are averaged within it (METRICS 11).

    ``query_ids`` (n,): distinct strings in the order of their first appearance. ``stages``: in
    the order of the pipeline. ``values``: (stage, metric) -> (n,), NaN where undefined.
    ``statuses``: stage -> (n,) strings of :data:`STATUSES`, null where the stage has no row.
    ``columns``: slice column -> (n,) strings, null where unknown. ``rows``: the rows of a stage
    and metric before averaging. ``spreads``: (stage, metric) -> (n,), largest minus smallest
    value of a query's repeats; empty where no query is repeated.
    """

    name: str
    query_ids: pa.Array
    stages: tuple[str, ...]
    values: Mapping[tuple[str, str], Floats]
    statuses: Mapping[str, pa.Array]
    columns: Mapping[str, pa.Array] = field(default_factory=dict)
    rows: int = 0
    spreads: Mapping[tuple[str, str], Floats] = field(default_factory=dict)

    @property
    def final_stage(self) -> str:
        """The last stage of the pipeline: what the generator gets."""
        return self.stages[-1]

    def metrics_of(self, stage: str) -> list[str]:
        """Names of the metrics that a stage has values of, in their order."""
        return [metric for of, metric in self.values if of == stage]


def side_from_scores(
    name: str,
    scores: pa.Table,
    *,
    stages: Sequence[str],
    metrics: Sequence[str] | None = None,
    columns: Mapping[str, pa.Array] | None = None,
) -> Side:
    """Side from a long score table: columns ``query_id, stage, metric, value, status``.

    ``metrics``: names to keep, all where None. ``columns``: slice column -> strings, together
    with the key ``query_id``, the queries that they belong to, row by row (the columns of a
    records table as they stand; of a repeated query the first row counts). Raises DataError for
    a query id that is null and for an infinite value.

    >>> rows = {"query_id": ["a", "a", "b"], "value": [0.2, 0.6, None]}
    >>> same = {"stage": ["retrieve"] * 3, "metric": ["RR@5"] * 3, "status": ["ok"] * 3}
    >>> side = side_from_scores("base", pa.table(rows | same), stages=["retrieve"])
    >>> side.values["retrieve", "RR@5"].round(2).tolist(), side.rows
    ([0.4, nan], 3)
    """
    _require_stages(name, stages)
    wanted = None if metrics is None else [str(Metric.parse(metric)) for metric in metrics]
    query_ids, blocks = blocks_of(scores, stages, wanted)
    values: dict[tuple[str, str], Floats] = {}
    spreads: dict[tuple[str, str], Floats] = {}
    statuses: dict[str, pa.Array] = {}
    for block in blocks:
        key = (block.stage, block.metric)
        _refuse_infinite(block.metric, block.values, block.query_ids)
        values[key], spread = _averaged(block.values, block.places, len(query_ids))
        if spread is not None:
            spreads[key] = spread
        if block.stage not in statuses:
            statuses[block.stage] = _statuses(block, len(query_ids))
    return Side(
        name=name,
        query_ids=query_ids,
        stages=tuple(stages),
        values=values,
        statuses=statuses,
        columns=_aligned(query_ids, columns or {}),
        rows=max((len(block.values) for block in blocks), default=0),
        spreads=spreads,
    )


def side_from_values(
    name: str,
    values: Mapping[str, Mapping[str, float | None]],
    stage: str = "retrieve",
) -> Side:
    """Side from values a query, by metric; None and NaN are undefined.

    Raises UsageError for a name that is no metric, DataError for a query id that is no text and
    for a value that is no finite number.

    >>> side = side_from_values("new", {"mrr@5": {"q1": 1, "q2": None}})
    >>> side.query_ids.to_pylist(), {k: v.tolist() for k, v in side.values.items()}
    (['q1', 'q2'], {('retrieve', 'RR@5'): [1.0, nan]})
    """
    ids = list(dict.fromkeys(query for of_metric in values.values() for query in of_metric))
    for query in ids:
        if not isinstance(query, str):
            raise DataError(f"query id {query!r} is no text", hint="write ids as strings")
    found: dict[tuple[str, str], Floats] = {}
    for metric, of_metric in values.items():
        key = (stage, str(Metric.parse(metric)))
        if key in found:
            raise UsageError(f"{name}: the metric {key[1]} is given twice")
        found[key] = np.array([_number(key[1], query, of_metric.get(query)) for query in ids])
    count = len(ids)
    known = np.zeros(count, dtype=np.bool_)
    for column in found.values():
        known |= ~np.isnan(column)
    status = pa.array(np.where(known, "ok", "unscored").tolist(), pa.string())
    return Side(name, pa.array(ids, pa.string()), (stage,), found, {stage: status}, rows=count)


def average_sides(sides: Sequence[Side]) -> Side:
    """Several runs of one system as one side: averaged within each query, each run the same.

    A query is averaged over the runs that have a value for it. Raises UsageError for none, and
    where the runs differ in their stages or metrics.

    >>> runs = [side_from_values("a", {"RR@5": {"q1": value}}) for value in (0.2, 0.6)]
    >>> whole = average_sides(runs)
    >>> whole.values["retrieve", "RR@5"].tolist(), whole.rows
    ([0.4], 2)
    """
    if not sides:
        raise UsageError("there is no run to average")
    first = sides[0]
    if len(sides) == 1:
        return first
    for side in sides[1:]:
        _require_alike(first, side)
    query_ids = pc.unique(pa.chunked_array([side.query_ids for side in sides]))
    seats = [pc.index_in(side.query_ids, value_set=query_ids).to_numpy() for side in sides]
    values: dict[tuple[str, str], Floats] = {}
    spreads: dict[tuple[str, str], Floats] = {}
    places = np.concatenate(seats)
    for key in first.values:
        joined = np.concatenate([side.values[key] for side in sides])
        values[key], spread = _averaged(joined, places, len(query_ids))
        if spread is not None:
            spreads[key] = _widest(spread, key, sides, seats)
    return Side(
        name=" + ".join(dict.fromkeys(side.name for side in sides)),
        query_ids=query_ids,
        stages=first.stages,
        values=values,
        statuses={
            stage: _first_statuses(
                pa.chunked_array([side.statuses[stage] for side in sides]), places, len(query_ids)
            )
            for stage in first.statuses
        },
        columns=_joined_columns(query_ids, sides),
        rows=sum(side.rows for side in sides),
        spreads=spreads,
    )


def _require_stages(name: str, stages: Sequence[str]) -> None:
    if not stages:
        raise UsageError(f"{name} has no stage, so there is nothing to compare")


def _require_alike(first: Side, other: Side) -> None:
    if first.stages != other.stages:
        raise UsageError(
            f"{first.name} has the stages {', '.join(first.stages)}, "
            f"{other.name} has {', '.join(other.stages)}: not runs of one system"
        )
    for one, two in ((first, other), (other, first)):
        for stage, metric in one.values:
            if (stage, metric) not in two.values:
                raise UsageError(f"{one.name} has {metric} at stage {stage}, {two.name} has not")


def _number(metric: str, query: str, value: Any) -> float:
    if value is None:
        return math.nan
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.inf
    if isinstance(value, str) or math.isinf(number):
        raise DataError(f"{metric} of query {query}: {value!r} is no finite number")
    return number


def _refuse_infinite(metric: str, values: Floats, query_ids: pa.ChunkedArray) -> None:
    infinite = np.flatnonzero(np.isinf(values))
    if infinite.size:
        query = query_ids[int(infinite[0])].as_py()
        raise DataError(f"{metric} of query {query} is infinite, so it cannot be compared")


def _averaged(values: Floats, places: Rows | None, count: int) -> tuple[Floats, Floats | None]:
    """(count,) means a query, and the spread of its rows where any query has several."""
    if places is None and len(values) == count:
        return values, None
    if places is None:
        places = np.arange(len(values))
    rows = np.bincount(places, minlength=count)
    if rows.max(initial=0) <= 1:
        alone = np.full(count, np.nan)
        alone[places] = values
        return alone, None
    known = ~np.isnan(values)
    seats, numbers = places[known], values[known]
    defined = np.bincount(seats, minlength=count)
    total = np.bincount(seats, weights=numbers, minlength=count)
    mean = np.full(count, np.nan)
    np.divide(total, defined, out=mean, where=defined > 0)
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(low, seats, numbers)
    np.maximum.at(high, seats, numbers)
    spread = np.where(defined > 0, 0.0, np.nan)
    np.subtract(high, low, out=spread, where=defined > 0)
    return mean, spread


def _widest(
    spread: Floats, key: tuple[str, str], sides: Sequence[Side], seats: Sequence[Rows]
) -> Floats:
    """The spread between the runs, or within one of them where that is larger."""
    found = spread.copy()
    for side, places in zip(sides, seats, strict=True):
        if key in side.spreads:
            found[places] = np.fmax(found[places], side.spreads[key])
    return found


def _statuses(block: Block, count: int) -> pa.Array:
    if block.places is None and len(block.values) == count:
        return pa.concat_arrays(block.statuses.cast(pa.string()).chunks)
    places = np.arange(len(block.values)) if block.places is None else block.places
    return _first_statuses(block.statuses, places, count)


def _first_statuses(statuses: pa.ChunkedArray, places: Rows, count: int) -> pa.Array:
    """Of each query's rows the status that comes first in :data:`STATUSES`; null without rows."""
    words = pa.array([*STATUSES, None], pa.string())
    known = pc.index_in(statuses.cast(pa.string()), value_set=words).fill_null(len(STATUSES))
    first = np.full(count, len(STATUSES), dtype=np.int64)
    np.minimum.at(first, places, known.to_numpy())
    return words.take(pa.array(first))


def _aligned(query_ids: pa.Array, columns: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
    if not columns:
        return {}
    rows = pc.index_in(query_ids, value_set=_flat(columns["query_id"]))
    return {
        name: _flat(column).take(rows) for name, column in columns.items() if name != "query_id"
    }


def _flat(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    found = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return found.cast(pa.string())


def _joined_columns(query_ids: pa.Array, sides: Sequence[Side]) -> dict[str, pa.Array]:
    """Slice columns of the queries; the first run that knows a value gives it."""
    found: dict[str, pa.Array] = {}
    for side in sides:
        for name, column in _aligned(
            query_ids, {"query_id": side.query_ids, **side.columns}
        ).items():
            found[name] = pc.coalesce(found[name], column) if name in found else column
    return found
