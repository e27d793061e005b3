"""Runs to be compared: rankings and gold in, a scored run out, in memory or as a folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from ragnostic.metrics import Metric
from ragnostic.offline.records_table import asked_sha256
from ragnostic.offline.run_folder import write_run
from ragnostic.offline.run_schema import ASKED, RUN_SCHEMA
from ragnostic.offline.summary import score_run
from ragnostic.records import CHUNK_SCHEMA, EvalQuery, GoldSpan, record_schema
from ragnostic.report.run import RunData

SETTINGS: dict[str, Any] = {
    "chunk": {"by": "none"},
    "retrieve": {"use": "bm25", "top_k": 10, "bm25": {"k1": 1.2}},
    "rerank": {"use": "none"},
    "run": {"name": None, "retries": 2},
}


def compared_run(
    name: str,
    rankings: Mapping[str, Sequence[str] | None],
    gold: Mapping[str, Sequence[str]],
    *,
    stages: Sequence[str] = ("retrieve",),
    metrics: Sequence[str] = ("RR@10", "R@10"),
    queries: Mapping[str, str] | None = None,
    columns: Mapping[str, Mapping[str, Any]] | None = None,
    corpus: str = "c0ffee00c0ffee00",
    settings: Mapping[str, Any] | None = None,
    meta: Mapping[str, Any] | None = None,
    asked: bool = True,
) -> RunData:
    """A run whose stages all have ``rankings`` (None: nothing was returned).

    ``queries``: id → text (default: the id and a question mark); ``columns``: column → id →
    value; ``settings`` replace whole tables of :data:`SETTINGS`; without ``asked`` the run is as
    old as schema 1.
    """
    texts = {id_: f"{id_}?" for id_ in gold} | dict(queries or {})
    rows = [
        {
            "record_id": id_,
            "query_id": id_,
            "query": texts[id_],
            "answerable": True,
            "judged": {"ids": list(relevant), "grades": [1.0] * len(relevant)},
            ASKED.name: _asked(id_, texts[id_], relevant) if asked else None,
            **{column: values.get(id_) for column, values in (columns or {}).items()},
            **{stage: _stage(rankings.get(id_)) for stage in stages},
        }
        for id_, relevant in gold.items()
    ]
    schema = record_schema(stages, [ASKED])
    full = [dict.fromkeys(schema.names) | row for row in rows]
    records = pa.Table.from_pylist(full, schema)
    scores = score_run(records, [Metric.parse(metric) for metric in metrics])
    chunks = sorted({chunk for ids in rankings.values() for chunk in ids or ()})
    passages = [
        dict.fromkeys(CHUNK_SCHEMA.names) | {"id": chunk, "doc_id": chunk, "text": f"text {chunk}"}
        for chunk in chunks
    ]
    described = {
        "schema": RUN_SCHEMA,
        "run": name,
        "created": "2026-05-04T03:02:01+00:00",
        "settings": {**SETTINGS, "score": {"metrics": list(metrics)}, **(settings or {})},
        "versions": {"python": "3.11", "ragnostic": "1.0"},
        "data": {
            "evaluation_set": {"path": "eval.jsonl", "sha256": "e1", "queries": len(gold)},
            "corpus": {"path": "docs", "sha256": corpus, "documents": 3, "chunks": 9},
        },
        "judge": {"name": "gold", "parameters": {"overlap": 0.5}},
        "stages": scores.stages,
        "warnings": [],
    }
    return RunData(
        described | dict(meta or {}),
        records,
        pa.Table.from_pylist(passages, CHUNK_SCHEMA),
        scores.table,
    )


def saved(run: RunData, out: Path) -> Path:
    """The run as a folder below ``out``, under its own name."""
    return write_run(out, str(run.meta["run"]), run, lambda _: "<p>report</p>")


def planted(count: int, worse: Sequence[int] = ()) -> tuple[dict[str, list[str]], dict[str, list]]:
    """Rankings of ``count`` queries with the gold in front, at rank 6 for the ``worse`` ones;
    and the gold.
    """
    rankings: dict[str, list[str]] = {}
    for number in range(count):
        others = [f"x{number}-{place}" for place in range(9)]
        others.insert(5 if number in set(worse) else 0, f"g{number}")
        rankings[f"q{number:04d}"] = others
    return rankings, {f"q{number:04d}": [f"g{number}"] for number in range(count)}


def _stage(ids: Sequence[str] | None) -> dict[str, Any] | None:
    return None if ids is None else {"ids": list(ids), "top_k": 10, "status": "ok"}


def _asked(id_: str, text: str, relevant: Sequence[str]) -> str:
    gold = tuple((GoldSpan(id=chunk),) for chunk in relevant)
    return asked_sha256(EvalQuery(id_, text, gold))
