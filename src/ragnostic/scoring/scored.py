"""Scoring a stream of record batches: values a query, faults, counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.errors import Fault
from ragnostic.scoring.batch import score_with_faults
from ragnostic.scoring.faults import merged
from ragnostic.scoring.plan import Plan

_KEPT_FAULTS = 100_000
"""Single faults kept before they are merged; far more than any message names."""


@dataclass(frozen=True, slots=True)
class Scored:
    """Values of one stage: ``table`` as :func:`~ragnostic.scoring.score_batch` gives it.

    ``faults``: one a kind. ``counts``: rows by status, and ``duplicates``.
    """

    plan: Plan
    table: pa.Table
    faults: list[Fault]
    counts: dict[str, int]


def score(records: pa.Table | Iterable[pa.RecordBatch], plan: Plan) -> Scored:
    """Score one stage of records, batch by batch; memory holds the values, not the records.

    >>> from ragnostic.metrics import Metric
    >>> from ragnostic.records import record_schema
    >>> rows = [{"query_id": "q1", "retrieve": {"ids": ["a"]}, "judged": {"ids": ["a"]}}]
    >>> table = pa.Table.from_pylist(rows, record_schema(["retrieve"]))
    >>> score(table, Plan((Metric.parse("RR@5"),))).counts["ok"]
    1
    """
    batches = records.to_batches(max_chunksize=8192) if isinstance(records, pa.Table) else records
    parts: list[pa.RecordBatch] = []
    faults: list[Fault] = []
    for batch in batches:
        values, found = score_with_faults(batch, plan)
        parts.append(values)
        faults += found
        if len(faults) > _KEPT_FAULTS:
            faults = merged_again(faults)
    table = _finished(pa.Table.from_batches(parts), plan) if parts else _empty(plan)
    counted = pc.value_counts(table["status"])
    counts = {str(item["values"]): item["counts"].as_py() for item in counted}
    found = [*merged(faults, plan.stage), *_no_overlap(table, plan.stage)]
    doubles = (fault.count for fault in found if fault.kind == "duplicate_retrieved")
    counts["duplicates"] = sum(doubles)
    return Scored(plan, table, found, counts)


def _finished(table: pa.Table, plan: Plan) -> pa.Table:
    """The table with the values of metrics that compare queries with each other."""
    for metric in plan.columns:
        finish = metric.definition.finish
        if finish is not None:
            name = str(metric)
            computed = table[name].fill_null(float("nan")).to_numpy()
            unanswerable = pc.equal(table["status"], "unanswerable").to_numpy()
            column = pa.array(finish(computed, unanswerable), from_pandas=True)
            table = table.set_column(table.schema.get_field_index(name), name, column)
    return table


def _no_overlap(table: pa.Table, stage: str) -> Iterator[Fault]:
    tried = table.filter(pc.and_(pc.equal(table["status"], "ok"), pc.greater(table["results"], 0)))
    if tried.num_rows and not pc.sum(tried["judged"]).as_py():
        text = f"{stage}: no gold id occurs in any ranking: do both name the same chunks?"
        yield Fault("no_overlap", text, count=tried.num_rows)


def merged_again(faults: list[Fault]) -> list[Fault]:
    """Fewer faults with the same counts: what no message would name is folded into the last."""
    kept: dict[str, list[Fault]] = {}
    for fault in faults:
        group = kept.setdefault(fault.kind, [])
        if len(group) < _KEPT_FAULTS // 10:
            group.append(fault)
        else:
            last = group[-1]
            group[-1] = Fault(last.kind, last.message, last.ids, count=last.count + fault.count)
    return [fault for group in kept.values() for fault in group]


def _empty(plan: Plan) -> pa.Table:
    texts = [(name, pa.string()) for name in ("record_id", "query_id", "status")]
    counts = [("judged", pa.int32()), ("results", pa.int32()), ("top_k", pa.float64())]
    values = [
        (str(m), pa.list_(pa.float64()) if m == plan.curve else pa.float64()) for m in plan.columns
    ]
    return pa.schema([*texts, *counts, *values]).empty_table()
