"""Label-free against gold: python benchmarks/dragonball.py FOLDER (of dragonball-finance-log).

The 350 logged responses go into a store by the commands that a user runs (snapshot, ingest with a
map, work), judged by answer_span with unit="chunk" and unit="span". Gold are the sentences that
the data set names for each query: each is an item, found by any chunk that holds it. Both are
scored by the same code. Prints Markdown for RESULTS.md: means, bias before and after correction
from a labelled sample, agreement on retrieved chunks, coverage.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ragnostic.metrics import Metric
from ragnostic.monitor.signals import SignalScorer
from ragnostic.records import JUDGMENT_SCHEMA
from ragnostic.stats.agreement import judge_agreement
from ragnostic.stats.prediction_powered import corrected_mean
from ragnostic.store.lake import ParquetLake

METRICS = ("RR@5", "R@5", "AP@5", "nDCG@5")
LABELLED = 60
DRAWS = 500
MAP = """\
trace_id = "trace_id"
record_id = "trace_id"
query_id = "trace_id"
ts = "ts"
query = "request.query"
answer = "response.answer"
[retrieve]
ids = "response.retrieval.hits[].id"
top_k = "request.top_k"
took_ms = "response.retrieval.took_ms"
"""
SETTINGS = """\
[store]
zone = "UTC"
[judge.answer_span]
unit = "{unit}"
[score]
metrics = {metrics}
"""


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a JSON Lines file."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def logged_chunks(log: Path) -> dict[str, str]:
    """Chunk id → text, of every chunk that was ever retrieved: the corpus as the log shows it."""
    hits = (hit for row in lines(log) for hit in row["response"]["retrieval"]["hits"])
    return {hit["id"]: hit["text"] for hit in hits}


def worked_store(folder: Path, unit: str, root: Path) -> ParquetLake:
    """The lake of a store with the log in it, judged by ``unit``."""
    root.mkdir()
    (root / "store.toml").write_text(
        SETTINGS.format(unit=unit, metrics=json.dumps(METRICS)), encoding="utf-8"
    )
    (root / "map.toml").write_text(MAP, encoding="utf-8")
    log = folder / "log.jsonl.gz"
    rows = ({"chunk_id": key, "text": text} for key, text in logged_chunks(log).items())
    text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    (root / "chunks.jsonl").write_text(text, encoding="utf-8")
    for command in (
        ["snapshot", str(root / "chunks.jsonl")],
        ["ingest", str(log), "--map", str(root / "map.toml")],
        ["work", "--once"],
    ):
        whole = [sys.executable, "-m", "ragnostic", *command, "--store", str(root)]
        subprocess.run(whole, check=True, stdout=subprocess.DEVNULL)
    return ParquetLake(root, "UTC")


def gold_judgments(folder: Path, records: pa.Table) -> pa.Table:
    """Every gold sentence as an item; one that no chunk holds has a null id, and stays in R."""
    texts = logged_chunks(folder / "log.jsonl.gz")
    gold = {row["trace_id"]: row for row in lines(folder / "gold.jsonl")}
    rows = []
    for name in records["record_id"].to_pylist():
        ids: list[str | None] = []
        items: list[int] = []
        for item, sentence in enumerate(gold[name]["sentences"]):
            holders: list[str | None] = [key for key, text in texts.items() if sentence in text]
            ids += holders or [None]
            items += [item] * max(len(holders), 1)
        judged = not gold[name]["unanswerable"]
        row = {"record_id": name, "judge": "gold", "status": "judged" if judged else "abstained"}
        rows.append({**row, "ids": ids, "items": items, "grades": [1.0] * len(ids)})
    return pa.Table.from_pylist(rows, JUDGMENT_SCHEMA)


def values(scores: pa.Table, metric: str) -> dict[str, float | None]:
    """Record id → value."""
    return dict(zip(scores["record_id"].to_pylist(), scores[metric].to_pylist(), strict=True))


def means_table(unit: str, gold: pa.Table, found: pa.Table) -> None:
    """A row a metric: over all queries with gold; no relevant chunk found counts as 0."""
    for metric in METRICS:
        truth = {name: value for name, value in values(gold, metric).items() if value is not None}
        said = values(found, metric)
        both = [name for name in truth if said[name] is not None]
        only = np.array([said[name] for name in both]), np.array([truth[name] for name in both])
        judge = np.array([said[name] or 0.0 for name in truth])
        real = np.array(list(truth.values()))
        errors, held, widths, alone = [], [], [], []
        for seed in range(DRAWS):
            chosen = np.zeros(len(real), dtype=bool)
            chosen[np.random.default_rng(seed).permutation(len(real))[:LABELLED]] = True
            mended = corrected_mean(real[chosen], judge[chosen], judge[~chosen], bounds=(0.0, 1.0))
            low, high = mended.interval
            errors.append(mended.mean - real.mean())
            held.append(low <= real.mean() <= high)
            widths.append(high - low)
            alone.append(mended.gold_interval[1] - mended.gold_interval[0])
        print(
            f"| {unit} | {metric} | {len(both)} | {only[0].mean():.3f} | {only[1].mean():.3f} | "
            f"{np.corrcoef(*only)[0, 1]:.2f} | {len(real)} | {judge.mean():.3f} | "
            f"{real.mean():.3f} | {judge.mean() - real.mean():+.3f} | {np.mean(errors):+.3f} | "
            f"{np.std(errors):.3f} | {np.mean(widths):.3f} | {np.mean(alone):.3f} | "
            f"{np.mean(held):.0%} |"
        )


def agreement_line(unit: str, records: pa.Table, gold: pa.Table, judged: pa.Table) -> None:
    """Precision, recall and kappa over the retrieved chunks of queries that have gold."""
    truth, said = ({row["record_id"]: row for row in t.to_pylist()} for t in (gold, judged))
    labels, grades = [], []
    for name, stage in zip(
        records["record_id"].to_pylist(), records["retrieve"].to_pylist(), strict=True
    ):
        if truth[name]["status"] != "judged":
            continue
        relevant = {id_ for id_ in truth[name]["ids"] if id_}
        pairs = zip(said[name]["ids"] or [], said[name]["grades"] or [], strict=True)
        hard = {id_ for id_, grade in pairs if grade >= 1}
        labels += [float(id_ in relevant) for id_ in dict.fromkeys(stage["ids"])]
        grades += [float(id_ in hard) for id_ in dict.fromkeys(stage["ids"])]
    found = judge_agreement(labels, grades)
    answerable = [name for name, row in truth.items() if row["status"] == "judged"]
    covered = sum(any(g >= 1 for g in said[name]["grades"] or []) for name in answerable)
    refused = sum(row["status"] == "refused" for row in said.values())
    print(
        f"| {unit} | {found.relevant.n} | {found.precision.share:.3f} | {found.recall.share:.3f} | "
        f"{found.relevant.kappa:.3f} | {covered / len(answerable):.1%} of {len(answerable)} | "
        f"{refused} |"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    scorer = SignalScorer([Metric.parse(name) for name in METRICS], None, "UTC")
    with tempfile.TemporaryDirectory() as scratch:
        lakes = {
            unit: worked_store(folder, unit, Path(scratch) / unit) for unit in ("chunk", "span")
        }
        records = lakes["chunk"].read("records")
        gold = gold_judgments(folder, records)
        truth = scorer.score(records, gold)
        print(
            f"Corrected from {LABELLED} labelled queries, {DRAWS} draws of them: mean error, its "
            "spread, mean width of the 95 % interval, that of the labels alone, and how often it "
            "holds the gold mean.\n"
        )
        print(
            "| unit | metric | both have a value | label-free | gold | r | all with gold | "
            "label-free, none = 0 | gold | bias | after | ± | width | labels alone | held |"
        )
        print(f"|{'---|' * 15}")
        for unit, lake in lakes.items():
            means_table(unit, truth, lake.read("scores"))
        print("\n| unit | retrieved chunks | precision | recall | kappa | coverage | refused |")
        print(f"|{'---|' * 7}")
        for unit, lake in lakes.items():
            agreement_line(unit, records, gold, lake.read("judgments"))


if __name__ == "__main__":
    main()
