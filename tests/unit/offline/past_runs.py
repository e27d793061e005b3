"""Run folders of rankings that a test writes down, scored and written as real ones are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragnostic.metrics import Metric
from ragnostic.offline.asked_queries import fingerprint_queries
from ragnostic.offline.records_table import records_table
from ragnostic.offline.run_folder import write_run
from ragnostic.offline.run_schema import RUN_SCHEMA
from ragnostic.offline.summary import score_run
from ragnostic.records import CHUNK_SCHEMA, EvalQuery, GoldSpan, Hits
from ragnostic.report.run import RunData

METRICS = ("RR@5", "Success@1")


def asked(count: int) -> list[EvalQuery]:
    """Queries q0, q1, …; the gold of each is the chunk of its number."""
    return [
        EvalQuery(f"q{at}", f"question {at}", ((GoldSpan(id=f"c{at}"),),)) for at in range(count)
    ]


def past_run(
    out: Path,
    day: int,
    ranks: Sequence[int | None],
    *,
    name: str = "handbook",
    metrics: Sequence[str] = METRICS,
    settings: Mapping[str, Any] | None = None,
    overlap: float = 0.5,
    rerank: Sequence[int | None] | None = None,
) -> Path:
    """A run of the given day in March. ``ranks``: where each query's gold stands, None: nowhere.

    With ``rerank`` the run has a second stage.
    """
    queries = asked(len(ranks))
    stages = {"retrieve": [_hits(at, rank) for at, rank in enumerate(ranks)]}
    if rerank is not None:
        stages["rerank"] = [_hits(at, rank) for at, rank in enumerate(rerank)]
    judged = [
        {"ids": [f"c{at}"], "grades": [1.0], "weights": [1.0], "items": [0], "facets": [None]}
        for at in range(len(ranks))
    ]
    records = records_table(queries, stages, judged, "gold")
    scores = score_run(records, [Metric.parse(metric) for metric in metrics])
    meta = {
        "schema": RUN_SCHEMA,
        "created": f"2026-03-{day:02}T09:00:00+00:00",
        "name": None,
        "settings": {"score": {"metrics": list(metrics)}, **(settings or {})},
        "data": {
            "evaluation_set": {
                "path": name,
                "sha256": fingerprint_queries(queries),
                "queries": len(queries),
                "answerable": len(queries),
            },
            "corpus": None,
        },
        "judge": {"name": "gold", "parameters": {"overlap": overlap}},
        "stages": scores.stages,
        "warnings": [],
    }
    run = RunData(meta, records, CHUNK_SCHEMA.empty_table(), scores.table)
    return write_run(out, f"202603{day:02}-090000-nogit-0000000{day % 10}", run, lambda _: "page")


def _hits(at: int, rank: int | None) -> Hits:
    others = tuple(f"x{place}" for place in range(1, 6))
    if rank is None:
        return Hits(others, top_k=5)
    return Hits((*others[: rank - 1], f"c{at}", *others[rank:]), top_k=5)
