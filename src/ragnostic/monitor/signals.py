"""Judged live records → the rows of *scores*: what every later question is answered from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.metrics import Metric
from ragnostic.metrics.efficiency import query_efficiency
from ragnostic.monitor.corpus_view import CorpusView, Snapshot
from ragnostic.monitor.curves import until_last_rise
from ragnostic.monitor.durations import Latency, latencies
from ragnostic.monitor.judged_records import (
    ABSTAINED,
    JUDGED,
    judged_columns,
    judged_pairs,
    status_of,
)
from ragnostic.monitor.live_metrics import CURVE, CURVE_DEPTH, DEFAULT_METRICS, QER, QER_DEPTH, USED
from ragnostic.monitor.slice_values import slice_values
from ragnostic.monitor.spreads import Spreads, spreads
from ragnostic.monitor.used_chunks import Contexts, contexts, used_chunks
from ragnostic.monitor.windows import DEFAULT_ZONE
from ragnostic.records import STAGE_TYPE, stages_of
from ragnostic.scoring import Plan, score_batch
from ragnostic.scoring.judgments import Judgments
from ragnostic.scoring.judgments import judgments as flat_judgments
from ragnostic.scoring.strings import Indices

_ROWS = 1 << 15
NO_STAGE = "retrieve"
_READ = ("record_id", "query_id", "ts", "query", "context_ids", "latency_ms", "fanout", "outcome")
_SLICED = ("service", "model_version", "category", "language", "answerable", "revision")


def score_records(
    records: pa.Table,
    judgments: pa.Table,
    *,
    metrics: Sequence[Metric] | None = None,
    snapshot: Snapshot | None = None,
    zone: str = DEFAULT_ZONE,
) -> pa.Table:
    """Scores of records: a row for each record, judge and stage that the record has.

    ``judgments``: under ``records.JUDGMENT_SCHEMA``; a record without one is ``unjudged``.
    ``snapshot``: the corpus, for the spread of relevant chunks and hashes of contexts. ``zone``:
    in which days, hours and weekdays are. The columns are described in docs/signals.md.
    """
    return SignalScorer(metrics, snapshot, zone).score(records, judgments)


class SignalScorer:
    """Scores batch after batch; what it looks up in the corpus is made once."""

    def __init__(
        self,
        metrics: Sequence[Metric] | None = None,
        snapshot: Snapshot | None = None,
        zone: str = DEFAULT_ZONE,
    ) -> None:
        self.metrics = DEFAULT_METRICS if metrics is None else tuple(metrics)
        self.zone = zone
        self.corpus = None if snapshot is None else CorpusView(snapshot)

    def score(self, records: pa.Table, judgments: pa.Table) -> pa.Table:
        """As :func:`score_records`."""
        stages = stages_of(records.schema)
        if not stages:  # nothing was found in the traffic; the records are rows all the same
            stages = [NO_STAGE]
            records = records.append_column(NO_STAGE, pa.nulls(records.num_rows, STAGE_TYPE))
        wanted = [name for name in (*_READ, *_SLICED, *stages) if name in records.column_names]
        rows, judged = judged_pairs(records["record_id"].combine_chunks(), judgments)
        parts: list[pa.RecordBatch] = []
        for start in range(0, max(len(rows), 1), _ROWS):
            part = slice(start, start + _ROWS)
            batch = _taken(records.select(wanted), rows[part])
            batch = _with(batch, judged_columns(judgments, judged[part]))
            parts += self._scored(batch, stages)
        return pa.Table.from_batches(parts)

    def _scored(self, batch: pa.RecordBatch, stages: Sequence[str]) -> Iterator[pa.RecordBatch]:
        lone = _without_stage(batch, stages)
        batch = _ended(batch, lone)
        slices = slice_values(batch, self.zone)
        times = latencies(batch, stages)
        judged = flat_judgments(batch["judged"])
        slices["any_relevant"] = _any_relevant(batch, judged)
        known = _Batch(
            batch, judged, contexts(batch, self.corpus), spreads(batch, judged, self.corpus)
        )
        for place, stage in enumerate(stages):
            has = batch[stage].is_valid().to_numpy(zero_copy_only=False)
            rows = has | (lone if place == 0 else False)
            columns = self._stage(known, stage, times[stage])
            whole = pa.RecordBatch.from_pydict({**_first(batch, slices, stage, place), **columns})
            yield whole if rows.all() else whole.filter(pa.array(rows))

    def _stage(self, known: _Batch, stage: str, latency: Latency) -> dict[str, pa.Array]:
        batch = known.batch
        depth = _depth(batch[stage])
        tokens = None if self.corpus is None else self.corpus.tokens
        plan = Plan(self.metrics, stage, curve_depth=depth, tokens=tokens)
        scored = score_batch(batch, plan)
        used = used_chunks(batch[stage], known.judged, known.given, QER_DEPTH)
        status = status_of(scored["status"], batch["judgment"])
        counted = np.asarray(pc.is_in(status, pa.array(["ok", "missing"])))
        deep = ~(_numbers(scored["top_k"]) < QER_DEPTH)
        number = np.where(counted & deep, used.count, np.nan)
        fanout = _fanout(batch)
        curve = scored[str(plan.curve)] if plan.curve else None
        distance = None if self.corpus is None else self.corpus.random_distance
        return {
            "status": status,
            "results": scored["results"],
            "top_k": scored["top_k"].cast(pa.int32()),
            **{str(metric): scored[str(metric)] for metric in self.metrics},
            CURVE: until_last_rise(curve, len(batch)),
            USED: _floats(number),
            "latency_s": _floats(latency.seconds),
            "latency_from": latency.origin,
            "fanout": pa.array(fanout.astype(np.int32)),
            QER: _floats(query_efficiency(number, latency.seconds, fanout).value),
            "context_logged": pa.array(used.logged),
            "context_unresolved": pa.array(used.unresolved.astype(np.int32)),
            "duplicates": pa.array(used.duplicates.astype(np.int32)),
            "unknown": self._unknown(batch[stage]),
            "spread": _floats(known.scattered.value),
            "zero_vector": pa.array(known.scattered.broken),
            "random_distance": pa.nulls(len(batch), pa.float64())
            if distance is None
            else pa.array(np.full(len(batch), distance)),
        }

    def _unknown(self, column: pa.StructArray) -> pa.Array:
        """How many ids of each ranking the snapshot does not have; null without a snapshot."""
        if self.corpus is None:
            return pa.nulls(len(column), pa.int32())
        ids = pc.struct_field(column, "ids").cast(pa.list_(pa.string()))
        values, rows = pc.list_flatten(ids), pc.list_parent_indices(ids).to_numpy()
        named = values.is_valid().to_numpy(zero_copy_only=False)
        missing = rows[named & (self.corpus.ids.find(values) < 0)]
        return pa.array(np.bincount(missing, minlength=len(column)).astype(np.int32))


@dataclass(frozen=True, slots=True)
class _Batch:
    """Records with their judgments, and what was worked out for all stages at once."""

    batch: pa.RecordBatch
    judged: Judgments
    given: Contexts
    scattered: Spreads


def _taken(records: pa.Table, rows: Indices) -> pa.RecordBatch:
    """These records as one batch; without a copy where they stand together."""
    first = int(rows[0]) if rows.size else 0
    if bool((rows == np.arange(first, first + len(rows))).all()):
        part = records.slice(first, len(rows))
    else:
        part = records.take(pa.array(rows))
    return _with_one_chunk(part)


def _with_one_chunk(table: pa.Table) -> pa.RecordBatch:
    columns = {name: table[name].combine_chunks() for name in table.column_names}
    return pa.RecordBatch.from_pydict(columns)


def _with(batch: pa.RecordBatch, added: Mapping[str, pa.Array]) -> pa.RecordBatch:
    columns = {name: batch[name] for name in batch.schema.names}
    return pa.RecordBatch.from_pydict({**columns, **added})


def _first(
    batch: pa.RecordBatch, slices: Mapping[str, Any], stage: str, place: int
) -> dict[str, pa.Array]:
    """Whose row it is, and of which stage; ``stage_place`` keeps the order of the pipeline."""
    who = {"record_id": batch["record_id"], "query_id": batch["query_id"]}
    if "revision" in batch.schema.names:
        who["revision"] = batch["revision"]
    every = {
        "stage": pa.array([stage]).take(pa.array(np.zeros(len(batch), dtype=np.int64))),
        "stage_place": pa.array(np.full(len(batch), place, dtype=np.int8)),
    }
    judge = {name: batch[name] for name in ("judge", "judge_version")}
    return {**who, **slices, **every, **judge}


def _without_stage(batch: pa.RecordBatch, stages: Sequence[str]) -> npt.NDArray[np.bool_]:
    found = np.ones(len(batch), dtype=np.bool_)
    for stage in stages:
        found &= batch[stage].is_null().to_numpy(zero_copy_only=False)
    return found


def _depth(column: pa.StructArray) -> int:
    """How deep the recall curve goes: as deep as was asked for, or as anything came back."""
    members = dict(zip((f.name for f in column.type), column.flatten(), strict=True))
    asked = pc.max(members["top_k"]).as_py() if "top_k" in members else None
    longest = pc.max(pc.list_value_length(members["ids"])).as_py() or 0
    return min(CURVE_DEPTH, max(int(asked or 0), longest))


def _ended(batch: pa.RecordBatch, lone: npt.NDArray[np.bool_]) -> pa.RecordBatch:
    """The batch, in which a request that came to no stage is not judged: it is no missing one, it
    failed or was never retrieved, and its outcome says so.
    """
    if "outcome" not in batch.schema.names or not lone.any():
        return batch
    outcome = batch["outcome"].cast(pa.string())
    ended = pc.fill_null(pc.and_(pa.array(lone), pc.not_equal(outcome, "ok")), fill_value=False)
    nobody = pa.scalar(None, batch["judged"].type)
    return _with(
        batch,
        {
            "judged": pc.if_else(ended, nobody, batch["judged"]),
            "judgment": pc.if_else(ended, outcome, batch["judgment"]),
        },
    )


def _any_relevant(batch: pa.RecordBatch, judged: Judgments) -> pa.Array:
    """Whether the judge found a relevant chunk; null where it could not look."""
    relevant = (judged.grades >= 1) & ~judged.strings.missing[judged.positions]
    found = np.bincount(judged.rows[relevant], minlength=len(batch)) > 0
    looked = pc.is_in(batch["judgment"], pa.array([JUDGED, ABSTAINED]))
    return pa.array(found, mask=~np.asarray(looked))


def _fanout(batch: pa.RecordBatch) -> npt.NDArray[np.float64]:
    if "fanout" not in batch.schema.names:
        return np.ones(len(batch))
    given = _numbers(batch["fanout"].cast(pa.float64()))
    return np.where(given >= 1, given, 1.0)


def _numbers(column: pa.Array) -> npt.NDArray[np.float64]:
    filled = pc.fill_null(column.cast(pa.float64()), np.nan)
    return np.asarray(filled.to_numpy(zero_copy_only=False), dtype=np.float64)


def _floats(values: npt.NDArray[np.float64]) -> pa.Array:
    return pa.array(values, from_pandas=True)
