"""``score_batch``: records in, one row of values a record out; the unit every engine runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.errors import DataError, Fault
from ragnostic.metrics import UNJUDGED as NOT_JUDGED
from ragnostic.metrics import Gains, per_query
from ragnostic.metrics.registry import Queries
from ragnostic.records import STAGE_TYPE
from ragnostic.scoring.faults import ranking_faults
from ragnostic.scoring.judgments import OVERALL, judgments
from ragnostic.scoring.matching import gain_matrix
from ragnostic.scoring.plan import ChunkTokens, Plan, view_of, wants
from ragnostic.scoring.rankings import Rankings, rankings
from ragnostic.scoring.results import results
from ragnostic.scoring.strings import Indices

CELLS = 1 << 18
"""Cells of the gain matrix that one slice may have (8,192 rows of depth 32)."""

OK, MISSING, FAILED = "ok", "missing", "failed"
UNJUDGED, UNSCORED, UNANSWERABLE = "unjudged", "unscored", "unanswerable"
_STATUSES = (OK, MISSING, UNSCORED, UNJUDGED, FAILED, UNANSWERABLE)
_CODE = {name: code for code, name in enumerate(_STATUSES)}


def score_batch(batch: pa.RecordBatch, plan: Plan) -> pa.RecordBatch:
    """Per-query values of one stage of a record batch.

    Returns ``record_id, query_id, status``, ``judged`` and ``results`` (judged chunks and all
    chunks of the ranking), ``top_k``, and one column a metric of ``plan.columns``: float64, null
    where undefined; a list<double> for the recall curve. ``status``: ``ok``, ``missing`` (judged,
    but no ranking), ``failed``, ``unjudged``, ``unscored`` (nothing relevant is judged) or
    ``unanswerable``. Pure: the same batch gives the same bytes in a thread, a process or a cluster.

    >>> from ragnostic.metrics import Metric
    >>> from ragnostic.records import JUDGED_TYPE
    >>> rows = [{"query_id": "q1", "retrieve": {"ids": ["x", "a"]}, "judged": {"ids": ["a"]}}]
    >>> schema = pa.schema(
    ...     [("query_id", pa.string()), ("retrieve", STAGE_TYPE), ("judged", JUDGED_TYPE)]
    ... )
    >>> plan = Plan((Metric.parse("RR@5"),))
    >>> score_batch(pa.RecordBatch.from_pylist(rows, schema), plan)["RR@5"].to_pylist()
    [0.5]
    """
    return score_with_faults(batch, plan)[0]


def score_with_faults(batch: pa.RecordBatch, plan: Plan) -> tuple[pa.RecordBatch, list[Fault]]:
    """:func:`score_batch`, and the data faults of the rankings it met."""
    faults: list[Fault] = []
    parts = []
    for part in _slices(batch, plan.stage):
        scored, found = _score(part, plan)
        parts.append(scored)
        faults += found
    if not parts:
        parts = [_score(batch, plan)[0]]
    return pa.concat_batches(parts), faults


def _slices(batch: pa.RecordBatch, stage: str) -> Iterator[pa.RecordBatch]:
    """Slices whose gain matrix stays small, however deep single rankings are."""
    lengths = pc.list_value_length(_stage(batch, stage).ids)
    deepest = pc.max(lengths).as_py() or 1
    step = max(1, CELLS // deepest)
    for start in range(0, len(batch), step):
        yield batch.slice(start, step)


@dataclass(frozen=True, slots=True)
class _Stage:
    """The members of a stage column that scoring reads."""

    ids: pa.ListArray
    top_k: npt.NDArray[np.float64]
    absent: npt.NDArray[np.bool_]
    failed: npt.NDArray[np.bool_]


def _stage(batch: pa.RecordBatch, stage: str) -> _Stage:
    if stage not in batch.schema.names:
        raise DataError(f"the records have no stage {stage!r}; columns: {batch.schema.names}")
    if "judged" not in batch.schema.names:
        raise DataError(
            "the records hold no judgments: there is no column 'judged'",
            hint="give the qrels beside them, or judge the records first",
        )
    if not pa.types.is_struct(batch["judged"].type):
        raise DataError("column 'judged' is no struct with a member 'ids'")
    column = batch[stage]
    if not pa.types.is_struct(column.type) or column.type.get_field_index("ids") < 0:
        raise DataError(f"column {stage!r} is no stage: it has no member 'ids'")
    members = dict(zip((f.name for f in column.type), column.flatten(), strict=True))
    ids = members["ids"]
    if ids.type != STAGE_TYPE.field("ids").type:
        ids = ids.cast(STAGE_TYPE.field("ids").type)
    nothing = pa.nulls(len(batch))
    top_k = pc.fill_null(members.get("top_k", nothing).cast(pa.float64()), np.inf)
    failed = pc.fill_null(
        pc.equal(members.get("status", nothing).cast(pa.string()), FAILED), _scalar(value=False)
    )
    absent = column.is_null().to_numpy(zero_copy_only=False)
    return _Stage(
        ids,
        top_k.to_numpy(zero_copy_only=False),
        absent | (ids.is_null().to_numpy(zero_copy_only=False) & ~_array(failed)),
        _array(failed),
    )


def _scalar(*, value: bool) -> pa.Scalar:
    # Made on use: pyarrow imports pandas, where it is installed, to make its first scalar.
    return pa.scalar(value)


def _array(column: pa.Array) -> npt.NDArray[Any]:
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _score(batch: pa.RecordBatch, plan: Plan) -> tuple[pa.RecordBatch, list[Fault]]:
    stage = _stage(batch, plan.stage)
    limit: Indices = np.minimum(stage.top_k, np.iinfo(np.int32).max).astype(np.int64)
    ranked = rankings(stage.ids, limit)
    relevance = [metric for metric in plan.columns if metric.definition.on == "answerable"]
    views = {OVERALL, *(view_of(metric) for metric in relevance)}
    gains = {view: _gains(batch, ranked, view, plan) for view in views}
    overall = gains[OVERALL]
    status = _status(batch, stage, overall)
    scored_rows = _rows(status, stage, plan)
    found = None
    if len(relevance) < len(plan.columns):
        found = results(batch[plan.stage], ranked, plan.score_order)
    columns: dict[str, pa.Array] = {
        "record_id": _ids(batch, "record_id"),
        "query_id": batch["query_id"],
        "status": pa.array(_STATUSES).take(pa.array(status)),
        "judged": pa.array((overall.matrix != NOT_JUDGED).sum(axis=1).astype(np.int32)),
        "results": pa.array(ranked.lengths.astype(np.int32)),
        "top_k": pa.array(np.where(np.isinf(stage.top_k), np.nan, stage.top_k), from_pandas=True),
    }
    for metric in plan.columns:
        queries = metric.definition.on
        given = gains[view_of(metric)] if found is None or queries == "answerable" else found
        value = per_query(metric, given).value.copy()
        # A curve is drawn from what was asked for; a value deeper than top_k would be invented.
        deepest = 0 if metric == plan.curve else metric.cutoff or 0
        value[~scored_rows[queries] | (stage.top_k < deepest)] = np.nan
        columns[str(metric)] = _column(value)
    return pa.RecordBatch.from_pydict(columns), ranking_faults(
        batch, plan.stage, stage.top_k, ranked
    )


def _rows(
    status: npt.NDArray[Any], stage: _Stage, plan: Plan
) -> dict[Queries, npt.NDArray[np.bool_]]:
    """The rows that have a value: of the metrics of answerable queries, and of METRICS 9."""
    skipped = stage.absent if plan.missing == "skip" else np.zeros(len(status), dtype=np.bool_)
    unanswerable = (status == _CODE[UNANSWERABLE]) & ~stage.failed & ~skipped
    answerable = (status < _CODE[UNJUDGED]) & ~skipped
    both = answerable | unanswerable
    return {"answerable": answerable, "unanswerable": unanswerable, "both": both}


def _ids(batch: pa.RecordBatch, name: str) -> pa.Array:
    return batch[name] if name in batch.schema.names else batch["query_id"]


def _column(value: npt.NDArray[np.float64]) -> pa.Array:
    if value.ndim == 1:
        return pa.array(value, from_pandas=True)
    flat = pa.array(value.ravel(), from_pandas=True)
    return pa.FixedSizeListArray.from_arrays(flat, value.shape[1]).cast(pa.list_(pa.float64()))


def _gains(batch: pa.RecordBatch, ranked: Rankings, view: str, plan: Plan) -> Gains:
    judged = judgments(batch["judged"], view)
    weights = wants(plan.metrics, "weights")
    gains = gain_matrix(ranked, judged, with_weights=weights)
    if plan.tokens is not None and wants(plan.metrics, "tokens"):
        gains = _with_tokens(gains, batch, ranked, plan.tokens)
    return gains


def _with_tokens(
    gains: Gains, batch: pa.RecordBatch, ranked: Rankings, counts: ChunkTokens
) -> Gains:
    tokens = np.where(ranked.inside, counts.of(ranked.ids)[ranked.positions], 0.0)
    inside = np.where(gains.matrix > 0, tokens, 0.0)
    if counts.gold:
        names, queries = ranked.ids.to_pylist(), batch["query_id"].to_pylist()
        for row, column in np.argwhere(gains.matrix > 0).tolist():
            key = (queries[row], names[ranked.positions[row, column]])
            inside[row, column] = counts.gold.get(key, inside[row, column])
    return replace(gains, tokens=tokens, gold_tokens=inside)


def _status(batch: pa.RecordBatch, stage: _Stage, gains: Gains) -> npt.NDArray[Any]:
    judged = batch["judged"].is_valid().to_numpy(zero_copy_only=False)
    status = np.full(len(batch), _CODE[OK], dtype=np.int8)
    status[stage.absent] = _CODE[MISSING]
    status[gains.relevant_items(1) == 0] = _CODE[UNSCORED]
    status[~judged] = _CODE[UNJUDGED]
    status[stage.failed] = _CODE[FAILED]
    if "answerable" in batch.schema.names:
        answerable = pc.fill_null(batch["answerable"], _scalar(value=True))
        status[~_array(answerable)] = _CODE[UNANSWERABLE]
    return status
