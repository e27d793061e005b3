"""Queries, rankings and judgments as the Arrow table of records."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pyarrow as pa

from ragnostic.offline.run_schema import ASKED
from ragnostic.offline.stages import Stages
from ragnostic.records import EvalQuery, Hits, hits_row, record_schema
from ragnostic.text import language

EXPECTED_ANSWER = pa.field("expected_answer", pa.string())
"""The evaluation set's answer; a record's own ``answer`` is what a generator gave."""

SET = pa.field("set", pa.string())
"""The evaluation set that asked, where a run has several."""

Judgments = Sequence[Mapping[str, list[Any]] | None]


def records_table(
    queries: Sequence[EvalQuery],
    stages: Stages,
    judgments: Judgments,
    judge: str,
    sets: Mapping[str, str] | None = None,
) -> pa.Table:
    """One row a query, in the order of the evaluation set. The record id is the query id: a run
    asks each query once, and the same input gives the same bytes.

    ``sets``: query id → evaluation set, where there are several; then there is a column ``set``.
    """
    rows = [
        _row(query, {name: rankings[index] for name, rankings in stages.items()}, judged, judge)
        for index, (query, judged) in enumerate(zip(queries, judgments, strict=True))
    ]
    extra = [EXPECTED_ANSWER, ASKED]
    if sets:
        extra.append(SET)
        rows = [{**row, SET.name: sets[row["query_id"]]} for row in rows]
    ranks = [name for name, hits in stages.items() if any(h and h.scores_are_ranks for h in hits)]
    return pa.Table.from_pylist(rows, schema=record_schema(list(stages), extra, ranks))


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
        "labels": list(query.labels.items()) or None,
        EXPECTED_ANSWER.name: query.answer,
        ASKED.name: asked_sha256(query),
        "outcome": "failed" if failed else "ok",
        "latency_ms": sum(times) if times else None,
        "judged": judged,
        "judge": None if judged is None else judge,
        **{name: None if hits is None else hits_row(hits) for name, hits in stages.items()},
    }


def asked_sha256(query: EvalQuery) -> str:
    """What is asked and what counts as an answer, as 16 hex digits (SHA-256) over the text,
    whether it is answerable, and its gold as given: the same for any corpus and chunking.

    Two runs measure the same query only where this is equal (METRICS 11). The order of items,
    and of the alternatives of one, is no part of it.

    >>> one, two = EvalQuery("a", "x"), EvalQuery("b", "x")
    >>> asked_sha256(one) == asked_sha256(two), len(asked_sha256(one))
    (True, 16)
    """
    gold = sorted(sorted(_canonical(asdict(span)) for span in item) for item in query.gold)
    asked = _canonical([query.query, query.answerable, gold])
    return hashlib.sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=dict)
