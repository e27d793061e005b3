"""The stage account: what a perfect reranker could reach, and what the last stage did instead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.metrics import Metric
from ragnostic.metrics.inputs import Floats
from ragnostic.records import STAGE_TYPE, stages_of
from ragnostic.report.outcomes import GoldItem, failed, gold_items, ranking
from ragnostic.scoring import ChunkTokens, Plan, score
from ragnostic.scoring.ideal import ideal_order
from ragnostic.scoring.plan import Missing, wants
from ragnostic.stats.intervals import mean_interval
from ragnostic.stats.summary import values_of

NAMED = 50
"""Moved items, and queries without a candidate, that run.json names; totals are over all."""
_BLOCK = 2048
_SAME = 1e-9
_COLUMNS = ("query_id", "answerable", "judged", "outcome")


def stage_account(
    records: pa.Table,
    metrics: Sequence[Metric],
    scores: pa.Table,
    *,
    missing: Missing = "zero",
    tokens: ChunkTokens | None = None,
) -> dict[str, Any] | None:
    """``account`` of run.json; None for records without a stage.

    ``scores``: the long table of the same records and metrics. The *candidates* are the ranking
    of the stage before the last, or of the only one. ``ceiling`` is each metric with the
    candidates in ideal order (:func:`~ragnostic.scoring.ideal.ideal_order`); metrics that count
    tokens have none, since what fits into a budget is not a matter of order alone. With two
    stages or more each metric is paired, and the gold items that the last stage moved are named.
    """
    stages = stages_of(records.schema)
    if not stages:
        return None
    source, last = (stages[-2], stages[-1]) if len(stages) > 1 else (stages[0], None)
    ordered = [m for m in metrics if m.definition.on == "answerable" and not wants((m,), "tokens")]
    plan = Plan(tuple(ordered), source, missing, tokens=tokens)
    best = score(_with_ideal_order(records, source), plan).table
    found = _Moves.of(records, source, last)
    return {
        "candidates": source,
        "stage": last,
        "top_k": pc.max(pc.struct_field(records[source], "top_k")).as_py(),
        "metrics": {
            str(metric): _metric(
                _values(scores, source, metric),
                None if last is None else _values(scores, last, metric),
                values_of(best, metric),
            )
            for metric in ordered
        },
        "beyond": found.beyond(),
        "promoted": found.promoted() if last else None,
        "demoted": found.demoted() if last else None,
        "truncated_share": _truncated_share(records[last]) if last else None,
    }


def _with_ideal_order(records: pa.Table, stage: str) -> pa.Table:
    """The records with the stage's ids in ideal order; scores and texts of the old one are gone."""
    rows = []
    for batch in records.select([stage, "judged"]).to_batches(max_chunksize=_BLOCK):
        for hits, judged in zip(batch[stage].to_pylist(), batch["judged"].to_pylist(), strict=True):
            rows.append(hits and _reordered(hits, judged or {}))
    column = pa.array(rows, STAGE_TYPE)
    place = records.schema.get_field_index(stage)
    return records.set_column(place, pa.field(stage, STAGE_TYPE), column)


def _reordered(hits: dict[str, Any], judged: dict[str, Any]) -> dict[str, Any]:
    ids = hits.get("ids")
    if ids is None:
        return {"status": hits.get("status"), "top_k": hits.get("top_k")}
    ids = ids[: hits.get("top_k")]
    order = ideal_order(ids, judged)
    return {
        "ids": [ids[at] for at in order],
        "status": hits.get("status"),
        "top_k": hits.get("top_k"),
    }


def _values(scores: pa.Table, stage: str, metric: Metric) -> Floats:
    """Values in the order of the records; the long table keeps it for each stage and metric."""
    wanted = pc.and_(pc.equal(scores["stage"], stage), pc.equal(scores["metric"], str(metric)))
    column = scores.filter(wanted)["value"].fill_null(float("nan"))
    return np.asarray(column.to_numpy(), dtype=np.float64)


def _metric(before: Floats, after: Floats | None, ideal: Floats) -> dict[str, Any]:
    """One metric over the queries that have all values."""
    known = ~np.isnan(before) & ~np.isnan(ideal)
    if after is not None:
        known &= ~np.isnan(after)
    before = before[known]
    # What was seen can be reached, also where the greedy order falls short of it.
    ideal = np.maximum(ideal[known], before)
    row = {"n": before.size, "before": _mean(before), "ceiling": _mean(ideal)}
    if after is None:
        return row
    moved = after[known] - before
    low, high = mean_interval(moved) or (None, None)
    room = float((ideal - before).sum())
    return {
        **row,
        "after": _mean(after[known]),
        "difference": _mean(moved),
        "low": low,
        "high": high,
        "wins": int((moved > _SAME).sum()),
        "ties": int((np.abs(moved) <= _SAME).sum()),
        "losses": int((moved < -_SAME).sum()),
        "gain": _mean(np.maximum(moved, 0.0)),
        "harm": _mean(np.minimum(moved, 0.0)),
        "reached": float(moved.sum()) / room if room > _SAME else None,
    }


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if values.size else None


def _truncated_share(column: pa.ChunkedArray) -> float | None:
    marks = pc.list_flatten(pc.struct_field(column, "truncated"))
    return pc.mean(marks.cast(pa.int8())).as_py() if len(marks) else None


@dataclass(frozen=True, slots=True)
class _Moves:
    """Where the gold items of the scorable queries stood: (query id, item rows)."""

    queries: tuple[tuple[str, tuple[dict[str, Any], ...]], ...]

    @classmethod
    def of(cls, records: pa.Table, source: str, last: str | None) -> _Moves:
        stages = (source,) if last is None else (source, last)
        return cls(tuple(_read(records, stages)))

    def beyond(self) -> dict[str, Any]:
        """Gold that never was among the candidates: no reranker can bring it back."""
        items = [item for _, rows in self.queries for item in rows]
        lost = [query for query, rows in self.queries if any(r["from"] is None for r in rows)]
        none = [query for query, rows in self.queries if all(r["from"] is None for r in rows)]
        return {
            "items": sum(item["from"] is None for item in items),
            "of_items": len(items),
            "queries": len(lost),
            "of_queries": len(self.queries),
            "without_any": len(none),
            "ids": lost[:NAMED],
        }

    def promoted(self) -> dict[str, Any]:
        """Items that the last stage moved up."""
        return self._moved(up=True)

    def demoted(self) -> dict[str, Any]:
        """Items that it moved down, or dropped."""
        return self._moved(up=False)

    def _moved(self, *, up: bool) -> dict[str, Any]:
        """The largest changes of 1/rank first: 2nd to 6th tells more than 40th to 80th. Items
        that one chunk brought are one row.
        """
        moved = Counter(
            (query, item["id"], item["from"], item["to"])
            for query, items in self.queries
            for item in items
            if (_nearness(item["to"]) - _nearness(item["from"])) * (1 if up else -1) > 0
        )
        largest = sorted(moved, key=lambda row: -abs(_nearness(row[3]) - _nearness(row[2])))
        names = ("query_id", "id", "from", "to")
        return {
            "items": moved.total(),
            "queries": len({query for query, *_ in moved}),
            "largest": [
                dict(zip(names, row, strict=True)) | {"items": moved[row]}
                for row in largest[:NAMED]
            ],
        }


def _nearness(rank: int | None) -> float:
    return 0.0 if rank is None else 1 / rank


def _read(
    records: pa.Table, stages: Sequence[str]
) -> Iterator[tuple[str, tuple[dict[str, Any], ...]]]:
    """Of each query that can be scored: its relevant items with their ranks at these stages."""
    names = [name for name in (*_COLUMNS, *stages) if name in records.column_names]
    for batch in records.select(names).to_batches(max_chunksize=_BLOCK):
        for row in batch.to_pylist():
            if row.get("answerable") is False or failed(row, stages):
                continue
            items = gold_items(row, stages, 0)
            if items:
                yield str(row["query_id"]), tuple(_item(row, stages, item) for item in items)


def _item(row: dict[str, Any], stages: Sequence[str], item: GoldItem) -> dict[str, Any]:
    ranks = [
        rank if rank is not None and rank <= _top_k(row, stage) else None
        for stage, rank in zip(stages, item.ranks, strict=True)
    ]
    at = next(((s, r) for s, r in zip(stages, ranks, strict=True) if r is not None), None)
    shown = next(iter(item.ids), None) if at is None else ranking(row, at[0])[at[1] - 1][2]
    return {"id": shown, "from": ranks[0], "to": ranks[-1]}


def _top_k(row: dict[str, Any], stage: str) -> float:
    asked = (row.get(stage) or {}).get("top_k")
    return float("inf") if asked is None else asked
