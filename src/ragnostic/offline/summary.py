"""Scoring the stages of a run: the long score table and each stage's summary."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.errors import Fault
from ragnostic.metrics import Metric
from ragnostic.metrics.inputs import Floats
from ragnostic.offline.account import stage_account
from ragnostic.records import JUDGED_TYPE, rank_score_stages, stages_of
from ragnostic.scoring import ChunkTokens, Plan, Scored, score
from ragnostic.scoring.plan import Missing, ScoreOrder
from ragnostic.stats import stage_summary, summarise, tail_summary
from ragnostic.stats.robustness import length_summary, paraphrase_summary
from ragnostic.stats.slices import query_lengths
from ragnostic.stats.unanswerable import unanswerable_summary

CURVE_DEPTH = 100
SCORES_SCHEMA = pa.schema(
    [
        ("record_id", pa.string()),
        ("query_id", pa.string()),
        ("stage", pa.string()),
        ("metric", pa.string()),
        ("value", pa.float64()),
        ("status", pa.string()),
    ]
)
_NAMED_IDS = 50


@dataclass(frozen=True, slots=True)
class RunScores:
    """``table`` has a row a query, stage and metric; ``stages`` and ``account`` are what run.json
    holds.
    """

    table: pa.Table
    stages: dict[str, dict[str, Any]]
    account: dict[str, Any] | None


def score_run(
    records: pa.Table,
    metrics: Sequence[Metric],
    *,
    missing: Missing = "zero",
    tokens: ChunkTokens | None = None,
    dangling: AbstractSet[str] = frozenset(),
) -> RunScores:
    """Score every stage of the records with the same metrics.

    ``dangling`` gold ids (not in the corpus) stay in the scores; where there are any, the means
    without them stand beside, as ``without_dangling`` (METRICS 1.6).
    """
    parts: list[pa.Table] = []
    summaries: dict[str, dict[str, Any]] = {}
    others = _without(records, dangling) if dangling else None
    ranks = rank_score_stages(records.schema)
    groups = records["group"].combine_chunks()
    lengths = query_lengths(records["query"])
    for stage in stages_of(records.schema):
        column = records[stage]
        asked = pc.max(pc.struct_field(column, "top_k")).as_py() or CURVE_DEPTH
        order: ScoreOrder = "rank" if stage in ranks else "similarity"
        plan = Plan(tuple(metrics), stage, missing, min(asked, CURVE_DEPTH), tokens, order)
        scored = score(records, plan)
        parts += [_long(scored, metric) for metric in (*plan.metrics, *plan.companions)]
        summary = stage_summary(scored, ties=_ties(column), took_ms=_took_ms(column))
        summaries[stage] = {
            **summary,
            "tail_decay": tail_summary(scored, _floats(records["frequency"])),
            "paraphrase": paraphrase_summary(scored, groups),
            "length": length_summary(scored, lengths),
            "unanswerable": unanswerable_summary(
                records, stage, metrics, missing=missing, score_order=order
            ),
            "warnings": [fault_row(fault) for fault in scored.faults],
        }
        if others is not None:
            beside = summarise(score(others, replace(plan, curve_depth=0)).table, plan.metrics)
            summaries[stage]["without_dangling"] = {
                name: {"mean": found.mean, "n": found.n} for name, found in beside.items()
            }
    table = pa.concat_tables(parts) if parts else SCORES_SCHEMA.empty_table()
    account = stage_account(records, metrics, table, missing=missing, tokens=tokens)
    return RunScores(table, summaries, account)


def _without(records: pa.Table, dangling: AbstractSet[str]) -> pa.Table:
    """The records without the judgments of these ids."""
    rows: list[dict[str, Any] | None] = records["judged"].to_pylist()
    for row in rows:
        if row is not None:
            kept = [place for place, id_ in enumerate(row["ids"]) if id_ not in dangling]
            for name, values in row.items():
                row[name] = values and [values[place] for place in kept]
    place = records.schema.get_field_index("judged")
    return records.set_column(place, records.schema.field(place), pa.array(rows, JUDGED_TYPE))


def _long(scored: Scored, metric: Metric) -> pa.Table:
    count = scored.table.num_rows
    return pa.table(
        {
            "record_id": scored.table["record_id"],
            "query_id": scored.table["query_id"],
            "stage": pa.array([scored.plan.stage] * count, pa.string()),
            "metric": pa.array([str(metric)] * count, pa.string()),
            "value": scored.table[str(metric)],
            "status": scored.table["status"],
        },
        schema=SCORES_SCHEMA,
    )


def _ties(column: pa.ChunkedArray) -> int:
    """Results whose score equals that of the result before them."""
    rows = pc.struct_field(column, "scores").to_pylist()
    return sum(
        before is not None and before == after
        for scores in rows
        if scores
        for before, after in pairwise(scores)
    )


def _took_ms(column: pa.ChunkedArray) -> Floats:
    return _floats(pc.struct_field(column, "took_ms"))


def _floats(column: pa.ChunkedArray) -> Floats:
    numbers = column.cast(pa.float64()).fill_null(float("nan"))
    return np.asarray(numbers.to_numpy(), dtype=np.float64)


def fault_row(fault: Fault) -> dict[str, Any]:
    """A fault as run.json holds it; of very many ids the first are named."""
    return {
        "kind": fault.kind,
        "message": fault.message,
        "ids": list(fault.ids[:_NAMED_IDS]),
        "where": fault.where,
        "count": fault.count,
    }


def fault_line(row: dict[str, Any]) -> str:
    """A fault of run.json as one line."""
    return f"{row['where']}: {row['message']}" if row["where"] else str(row["message"])
