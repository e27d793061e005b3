"""A real service's log (350 responses, English finance) by the commands of the product."""

from __future__ import annotations

import gzip
import json
import runpy
from pathlib import Path

import pytest

CASE = runpy.run_path(str(Path(__file__).parent / "live_case.py"))
run, as_json, write_lines = CASE["run"], CASE["as_json"], CASE["write_lines"]
WINDOW = ("--from", "2024-06-01", "--to", "2024-07-01")
MAP = """
trace_id = "trace_id"
record_id = "trace_id"
query_id = "trace_id"
ts = "ts"
user_id = "user_id"
query = "request.query"
answer = "response.answer"
model_version = "response.model"
[retrieve]
ids = "response.retrieval.hits[].id"
doc_ids = "response.retrieval.hits[].doc_id"
texts = "response.retrieval.hits[].text"
top_k = "request.top_k"
took_ms = "response.retrieval.took_ms"
"""


@pytest.mark.shared
@pytest.mark.parametrize("unit", ["chunk", "span"])
def test_the_real_log_is_taken_in_judged_and_summed_up(shared, tmp_path, unit):
    """Nothing is lost on the way, and every signal that the log allows has a value."""
    log = shared / "data" / "dragonball-finance-log" / "log.jsonl.gz"
    with gzip.open(log, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    hits = {hit["id"]: hit for row in rows for hit in row["response"]["retrieval"]["hits"]}
    chunks = ({"chunk_id": key, "text": hit["text"]} for key, hit in hits.items())
    write_lines(tmp_path / "chunks.jsonl", chunks)
    (tmp_path / "map.toml").write_text(MAP, encoding="utf-8")
    (tmp_path / "store").mkdir()
    settings = f'[judge.answer_span]\nunit = "{unit}"\n'
    (tmp_path / "store" / "store.toml").write_text(settings, encoding="utf-8")
    run(tmp_path, "snapshot", "chunks.jsonl", "--store", "store")
    balance = as_json(tmp_path, "ingest", str(log), "--map", "map.toml", "--store", "store")
    assert (balance["received"], balance["stored"]) == (350, 350)
    done = as_json(tmp_path, "work", "--store", "store", "--once")
    assert (done["events"], done["records"], done["scores"]) == (350, 350, 350)
    assert sum(done["judged"].values()) == 350
    found = as_json(tmp_path, "aggregate", "--store", "store", *WINDOW, "--by", "model_version")
    whole, group = found["groups"]
    assert (whole["by"], group["by"]) == ({}, {"model_version": "gpt-4o"})
    metrics = group["stages"]["retrieve"]["metrics"]
    for name in ("RR(weight=soft)@5", "RR@5", "R@1", "R@3", "R@5"):
        assert metrics[name]["mean"] is not None, name
        assert metrics[name]["n"] > 150
    assert metrics["QER@5"]["value"] > 0
    assert metrics["QER@5"]["latency_ms"]["n"] == metrics["RR@5"]["n"]
    assert 0.4 < metrics["RR@5"]["mean"] < 1
    assert metrics["R@10"]["mean"] is None
    assert "top_k 5" in metrics["R@10"]["reason"]
