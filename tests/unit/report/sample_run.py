"""A run as the pipeline would write it: 60 bilingual queries, two stages, made without models."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from ragnostic.metrics import Metric
from ragnostic.offline.summary import score_run
from ragnostic.records import CHUNK_SCHEMA, chunk_id, record_schema
from ragnostic.report.model import RunData

METRICS = ("Success@1", "Success@5", "RR@5", "nDCG@5", "R@20")
STAGES = ("retrieve", "rerank")
TOP_K = 20

TOPICS = json.loads((Path(__file__).parent / "topics.json").read_text("utf-8"))
PLACES = ("总部", "苏州工厂", "华南分公司", "研发中心", "海外办事处")
SITES = ("Head office", "Leeds plant", "Austin lab", "Remote team", "Field crew")


def sample_run(*, seed: int = 7, queries: int = 60) -> RunData:
    """The whole run; the same arguments give equal tables."""
    chance = random.Random(seed)
    corpus = _corpus()
    rows = [_record(number, corpus, chance) for number in range(queries)]
    schema = record_schema(STAGES, [pa.field("expected_answer", pa.string())])
    records = pa.Table.from_pylist([{**dict.fromkeys(schema.names), **row} for row in rows], schema)
    chunks = pa.Table.from_pylist([chunk for topic in corpus for chunk in topic], CHUNK_SCHEMA)
    scores = [score for row in rows for score in _scores(row)]
    table = pa.Table.from_pylist(scores, SCORE_SCHEMA)
    meta = _meta(rows, scores, chunks.num_rows)
    return RunData(_with_checks(meta, records), records, chunks, table)


def _with_checks(meta: dict[str, Any], records: pa.Table) -> dict[str, Any]:
    """The meta with what the pipeline finds out about wordings, refusals and stages."""
    found = score_run(records, [Metric.parse(name) for name in METRICS])
    checks = ("paraphrase", "length", "unanswerable")
    stages = {
        stage: own | {name: found.stages[stage][name] for name in checks}
        for stage, own in meta["stages"].items()
    }
    return meta | {"stages": stages, "account": found.account}


SCORE_SCHEMA = pa.schema(
    [
        ("record_id", pa.string()),
        ("query_id", pa.string()),
        ("stage", pa.string()),
        ("metric", pa.string()),
        ("value", pa.float64()),
        ("status", pa.string()),
    ]
)


def _corpus() -> list[list[dict[str, Any]]]:
    corpus = []
    for topic in TOPICS:
        language, passage = topic["language"], topic["passage"]
        chunks = []
        for at, place in enumerate(PLACES if language == "zh" else SITES):
            text = f"{place}：{passage}" if language == "zh" else f"{place}. {passage}"
            text = (text + "\n") * (1 + 3 * (at == 4))
            folder, name = topic["document"].split("/")
            doc_id = f"{language}/{folder}/{at + 1}-{name}"
            chunks.append(
                {
                    "id": chunk_id(doc_id, text),
                    "doc_id": doc_id,
                    "start": 0,
                    "end": len(text),
                    "tokens": len(text) // 2,
                    "text": text,
                }
            )
        corpus.append(chunks)
    return corpus


def _record(number: int, corpus: Sequence[Any], chance: random.Random) -> dict[str, Any]:
    topic = number % len(TOPICS)
    about = TOPICS[topic]
    language = about["language"]
    site = number // len(TOPICS)
    site_name = (PLACES if language == "zh" else SITES)[site % 5]
    query = (
        f"{site_name}：{about['question']}"
        if language == "zh"
        else f"{site_name} – {about['question']}"
    )
    row: dict[str, Any] = {
        "record_id": f"r{number:03}",
        "query_id": f"q{number:03}",
        "query": query,
        "expected_answer": about["answer"],
        "category": about["category"],
        "language": language,
        "group": f"need{number // 3}",
        "answerable": number % 19 != 18,
        "judge": "gold",
    }
    gold = [corpus[topic][site % 5], corpus[topic][(site + 1) % 5]]
    ids = [gold[0]["id"], gold[1]["id"], corpus[topic][(site + 2) % 5]["id"]]
    grades = [3.0, 1.0, 0.0]
    items: list[int] = [0, 1, 2]
    if number % 11 == 5:
        ids, grades, items = [*ids, None], [*grades, 2.0], [0, 1, 2, 3]
    if not row["answerable"] or number == 40:
        ids, grades, items = [], [], []
    row["judged"] = {
        "ids": ids,
        "grades": grades,
        "weights": [1.0] * len(ids),
        "items": items,
        "facets": None,
    }
    flat = [chunk for group in corpus for chunk in group]
    row |= _stages(number, gold, flat, chance)
    return row


def _stages(
    number: int, gold: Sequence[Any], flat: Sequence[Any], chance: random.Random
) -> dict[str, Any]:
    noise = chance.sample([chunk for chunk in flat if chunk not in gold], TOP_K)
    start = list(noise)
    lost = number % 9 == 4
    if not lost:
        start.insert(min(int(chance.expovariate(0.32)), 17), gold[0])
    if chance.random() < 0.6:
        start.insert(min(int(chance.expovariate(0.15)), 18), gold[1])
    start = start[:TOP_K]
    hurt = number % 13 == 7
    keys = [
        at * chance.uniform(0.3, 1.3) - (0 if hurt else 3) * (chunk in gold) + 9 * hurt * (at == 0)
        for at, chunk in enumerate(start)
    ]
    end = [start[at] for at in sorted(range(len(start)), key=keys.__getitem__)]
    failed = number == 33
    return {
        "retrieve": _stage(start, 24.0, 0.93, chance.uniform(4, 30)),
        "rerank": _stage([] if failed else end, 0.93, 0.995, chance.uniform(90, 420))
        | ({"status": "failed", "error": "HTTP 503 from the reranker"} if failed else {}),
    }


def _stage(chunks: Sequence[Any], best: float, decay: float, took: float) -> dict[str, Any]:
    return {
        "ids": [chunk["id"] for chunk in chunks],
        "scores": [best * decay**at for at in range(len(chunks))],
        "doc_ids": [chunk["doc_id"] for chunk in chunks],
        "top_k": TOP_K,
        "top_n": 5,
        "took_ms": took,
        "status": "ok",
    }


def _scores(row: dict[str, Any]) -> list[dict[str, Any]]:
    judged = row["judged"]
    grades = dict(zip(judged["ids"], judged["grades"], strict=True))
    found = []
    for stage in STAGES:
        status = "ok"
        if not row["answerable"]:
            status = "unanswerable"
        elif row[stage]["status"] == "failed":
            status = "failed"
        elif not any(grades.values()):
            status = "unscored"
        for metric in METRICS:
            value = _value(metric, row[stage]["ids"], judged["grades"], grades)
            found.append(
                {
                    "record_id": row["record_id"],
                    "query_id": row["query_id"],
                    "stage": stage,
                    "metric": metric,
                    "value": value if status == "ok" else None,
                    "status": status,
                }
            )
    return found


def _value(metric: str, ids: Sequence[str], judged: Sequence[float], known: Any) -> float:
    family, cutoff = metric.split("@")
    gains = [known.get(chunk, 0.0) for chunk in ids[: int(cutoff)]]
    relevant = [at for at, gain in enumerate(gains, 1) if gain >= 1]
    if family == "Success":
        return float(bool(relevant))
    if family == "RR":
        return 1 / relevant[0] if relevant else 0.0
    if family == "R":
        return len(relevant) / max(sum(grade >= 1 for grade in judged), 1)
    ideal = sorted(judged, reverse=True)[: int(cutoff)]
    dcg, best = (
        sum(gain / math.log2(at + 1) for at, gain in enumerate(column, 1))
        for column in (gains, ideal)
    )
    return dcg / best if best else 0.0


def _summary(scores: Sequence[Any], stage: str, metric: str) -> dict[str, Any]:
    rows = [row for row in scores if row["stage"] == stage and row["metric"] == metric]
    values = [row["value"] for row in rows if row["value"] is not None]
    count = {name: sum(row["status"] == name for row in rows) for name in ("unscored", "failed")}
    base = {"n": len(values), "missing": 0, **count}
    if not values:
        return {"mean": None, "low": None, "high": None, "reason": "no query", **base}
    mean = sum(values) / len(values)
    spread = math.sqrt(sum((value - mean) ** 2 for value in values) / max(len(values) - 1, 1))
    half = 2 * spread / math.sqrt(len(values))
    return {"mean": mean, "low": max(mean - half, 0.0), "high": min(mean + half, 1.0), **base}


def _curve(rows: Sequence[Any], stage: str) -> dict[str, Any]:
    recalls = []
    for depth in range(1, TOP_K + 1):
        values = [
            _value(
                f"R@{depth}",
                row[stage]["ids"],
                row["judged"]["grades"],
                dict(zip(row["judged"]["ids"], row["judged"]["grades"], strict=True)),
            )
            for row in rows
            if row["judged"]["ids"] and row[stage]["ids"]
        ]
        recalls.append(sum(values) / len(values) if values else 0.0)
    reach = [
        next(at for at, value in enumerate(recalls, 1) if value >= share * recalls[-1] - 1e-9)
        for share in (0.5, 0.9, 0.95)
    ]
    return {
        "depth": list(range(1, TOP_K + 1)),
        "recall": recalls,
        "half_life": reach[0],
        "plateau": reach[2] - reach[1],
        "carried_share": 0.0,
    }


def _meta(rows: Sequence[Any], scores: Sequence[Any], chunks: int) -> dict[str, Any]:
    stages = {
        stage: {
            "metrics": {metric: _summary(scores, stage, metric) for metric in METRICS},
            "Judged@10": 0.2137,
            "ties": 3 if stage == "retrieve" else 0,
            "duplicates": 0,
            "unjudged_queries": 0,
            "warnings": [],
            "curve": _curve(rows, stage),
            "latency_ms": {"p50": took, "p95": took * 1.9, "p99": took * 2.4},
        }
        for stage, took in (("retrieve", 14.2), ("rerank", 233.0))
    }
    return {
        "schema": 1,
        "run": "20261130-185300-1a2b3c4-9f8e7d6c",
        "created": "2026-11-30T18:53:00Z",
        "name": None,
        "settings": {
            "dataset": {"path": "eval.jsonl", "corpus": "docs/", "split": "test"},
            "chunk": {"by": "markdown", "max_tokens": 400, "overlap": 40},
            "embed": {"use": "e5-small", "query_prefix": "query: "},
            "retrieve": {"use": "bm25", "top_k": TOP_K, "bm25": {"k1": 1.2, "b": 0.75}},
            "rerank": {
                "use": "embedding",
                "top_n": 5,
                "max_tokens": 512,
                "long": "max_over_segments",
            },
            "score": {"metrics": list(METRICS)},
            "report": {"language": "zh", "worst": 20},
        },
        "versions": {
            "ragnostic": "0.1.0",
            "python": "3.11.7",
            "numpy": "2.3.1",
            "pyarrow": "21.0.0",
        },
        "git": {"commit": "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d", "dirty": False},
        "data": {
            "evaluation_set": {"path": "eval.jsonl", "sha256": "ab" * 32, "queries": len(rows)},
            "corpus": {"path": "docs/", "sha256": "cd" * 32, "documents": chunks, "chunks": chunks},
        },
        "judge": {"name": "gold", "parameters": {"overlap": 0.5}},
        "durations": {"load": 0.21, "embed": 18.4, "retrieve": 1.3, "rerank": 12.9, "score": 0.04},
        "stages": stages,
        "rerank": {"truncated_share": 0.0312, "top_n": 5},
        "warnings": [
            {
                "kind": "dangling_gold",
                "message": "q005: gold item 4 has no chunk in the corpus",
                "ids": ["q005"],
                "where": "eval.jsonl:6",
                "count": 5,
            },
            {
                "kind": "encoding",
                "message": "read as GB18030",
                "ids": [],
                "where": "hr/年假.md",
                "count": 1,
            },
        ],
    }
