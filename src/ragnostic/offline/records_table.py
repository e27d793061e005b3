"""Queries, rankings and judgments as the Arrow table of records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from ragnostic.offline.stages import Stages
from ragnostic.records import EvalQuery, Hits, hits_row, record_schema
from ragnostic.text import language

EXPECTED_ANSWER = pa.field("expected_answer", pa.string())
"""The evaluation set's answer; a record's own ``answer`` is what a generator gave."""

Judgments = Sequence[Mapping[str, list[Any]] | None]


def records_table(
    queries: Sequence[EvalQuery], stages: Stages, judgments: Judgments, judge: str
) -> pa.Table:
    """One row a query, in the order of the evaluation set. The record id is the query id: a run
    asks each query once, and the same input gives the same bytes.
    """
    rows = [
        _row(query, {name: rankings[index] for name, rankings in stages.items()}, judged, judge)
        for index, (query, judged) in enumerate(zip(queries, judgments, strict=True))
    ]
    return pa.Table.from_pylist(rows, schema=record_schema(list(stages), [EXPECTED_ANSWER]))


def _row(
    query: EvalQuery,
    stages: Mapping[str, Hits | None],
    judged: Mapping[str, list[Any]] | None,
    judge: str,
) -> dict[str, Any]:
    times = [hits.took_ms for hits in stages.values() if hits and hits.took_ms is not None]
    failed = any(hits is not None and hits.status == "failed" for hits in stages.values())
    return {
        "record_id": query.query_id,
        "query_id": query.query_id,
        "query": query.query,
        "category": query.category,
        "language": query.language or language(query.query),
        "source": query.source,
        "group": query.group,
        "answerable": query.answerable,
        "frequency": query.frequency,
        EXPECTED_ANSWER.name: query.answer,
        "outcome": "failed" if failed else "ok",
        "latency_ms": sum(times) if times else None,
        "judged": judged,
        "judge": None if judged is None else judge,
        **{name: None if hits is None else hits_row(hits) for name, hits in stages.items()},
    }
