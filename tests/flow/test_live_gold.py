"""One idea, two ways: what an evaluation scores, live traffic scores the same (DESIGN 1)."""

from __future__ import annotations

import json
import runpy
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from ragnostic.store.lake import ParquetLake

CASE = runpy.run_path(str(Path(__file__).parent / "live_case.py"))
run, as_json, write_lines = CASE["run"], CASE["as_json"], CASE["write_lines"]
QUERIES = 60
METRICS = ("RR@5", "AP@10", "nDCG@10", "R@1", "R@5", "R@10", "R@20")
CONFIG = f"""
[dataset]
path = "set"
[retrieve]
use = "bm25"
top_k = 20
[rerank]
use = "none"
[score]
metrics = {json.dumps(METRICS)}
"""
SETTINGS = f"""
[store]
zone = "UTC"
[judge]
use = "gold"
[judge.gold]
path = "../set"
[score]
metrics = {json.dumps(METRICS)}
"""


def first_queries(shared: Path, folder: Path) -> None:
    """The data set with its first queries only."""
    source = shared / "data" / "rgb-zh"
    (folder / "qrels").mkdir(parents=True)
    for path in source.glob("corpus.jsonl*"):
        shutil.copy(path, folder)
    lines = (source / "queries.jsonl").read_text(encoding="utf-8").splitlines()[:QUERIES]
    write_lines(folder / "queries.jsonl", lines)
    asked = {json.loads(line)["_id"] for line in lines}
    head, *rows = (source / "qrels" / "test.tsv").read_text(encoding="utf-8").splitlines()
    kept = [row for row in rows if row.partition("\t")[0] in asked]
    write_lines(folder / "qrels" / "test.tsv", [head, *kept])


def logged(run_folder: Path) -> list[dict]:
    """The run's records as a service would log them: no judgments, other ids for the records."""
    rows = pq.read_table(run_folder / "records.parquet").to_pylist()
    return [
        {
            "trace_id": f"trace-{row['query_id']}",
            "span_id": "1",
            "query_id": row["query_id"],
            "query": row["query"],
            "ts": f"2026-03-0{1 + number % 3}T08:00:00Z",
            "retrieve": {name: row["retrieve"][name] for name in ("ids", "scores", "top_k")},
        }
        for number, row in enumerate(rows)
    ]


@pytest.mark.shared
def test_gold_scores_live_traffic_as_it_scores_a_run(shared, tmp_path):
    """Per query and as means, to 1e-9, on real Chinese data."""
    first_queries(shared, tmp_path / "set")
    (tmp_path / "eval.toml").write_text(CONFIG, encoding="utf-8")
    offline = as_json(tmp_path, "eval", "eval.toml", "--out", "runs")
    folder = Path(tmp_path, offline["run"])
    store = tmp_path / "store"
    store.mkdir()
    (store / "store.toml").write_text(SETTINGS, encoding="utf-8")
    write_lines(tmp_path / "log.jsonl", logged(folder))
    run(tmp_path, "ingest", "log.jsonl", "--store", "store")
    assert as_json(tmp_path, "work", "--store", "store", "--once")["judged"] == {"judged": QUERIES}

    window = ("--from", "2026-03-01", "--to", "2026-03-04")
    (group,) = as_json(tmp_path, "aggregate", "--store", "store", *window)["groups"]
    live = group["stages"]["retrieve"]["metrics"]
    for name in METRICS:
        expected = offline["stages"]["retrieve"]["metrics"][name]
        assert live[name]["n"] == expected["n"] == QUERIES
        for number in ("mean", "low", "high"):
            assert live[name][number] == pytest.approx(expected[number], abs=1e-9), name

    scores = pq.read_table(folder / "scores.parquet").to_pylist()
    wanted = {
        (row["query_id"], row["metric"]): row["value"] for row in scores if row["metric"] in METRICS
    }
    found = {
        (row["query_id"], name): row[name]
        for row in ParquetLake(store, "UTC").read("scores").to_pylist()
        for name in METRICS
    }
    assert found.keys() == wanted.keys()
    for key, value in wanted.items():
        assert found[key] == pytest.approx(value, abs=1e-9), key
