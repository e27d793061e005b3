"""``ragnostic compare`` as a process: a planted change is found, and the gate decides."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

MADE = runpy.run_path(str(Path(__file__).parents[1] / "unit" / "offline" / "compared_run.py"))
WORSE = range(7, 1000, 20)
RULE = "RR@10 >= -0.02"
EVALUATION = """\
[dataset]
path = "eval.jsonl"
corpus = "corpus.jsonl"
[retrieve]
use = "bm25"
top_k = {top_k}
[rerank]
use = "none"
[score]
metrics = ["RR@5", "R@5"]
[report]
language = "en"
"""


def ragnostic(*arguments, folder, code=0):
    """The finished process; its exit code is checked, and that there is no traceback."""
    done = subprocess.run(
        [sys.executable, "-m", "ragnostic", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=os.environ | {"PYTHONUTF8": "1"},
    )
    assert done.returncode == code, done.stderr + done.stdout
    assert "Traceback" not in done.stderr
    return done


def as_files(folder: Path, count: int, worse) -> list[str]:
    """Base, candidate and qrels as TREC files: the arguments that name them."""
    (good, gold), (bad, _) = MADE["planted"](count), MADE["planted"](count, worse)
    for name, rankings in (("base.txt", good), ("candidate.txt", bad)):
        lines = [
            f"{query} Q0 {chunk} {rank} {100 - rank} t"
            for query, chunks in rankings.items()
            for rank, chunk in enumerate(chunks, 1)
        ]
        (folder / name).write_text("\n".join(lines) + "\n")
    judged = [f"{query} 0 {chunk} 1" for query, chunks in gold.items() for chunk in chunks]
    (folder / "qrels.txt").write_text("\n".join(judged) + "\n")
    return ["base.txt", "candidate.txt", "--qrels", "qrels.txt"]


def as_folders(folder: Path, count: int, worse) -> list[str]:
    """The same as run folders."""
    for name, moved in (("base", ()), ("candidate", worse)):
        rankings, gold = MADE["planted"](count, moved)
        MADE["saved"](MADE["compared_run"](name, rankings, gold), folder / "runs")
    return ["base", "candidate"]


@pytest.mark.parametrize("written", [as_files, as_folders])
def test_a_planted_regression_fails_the_gate_and_shows_exactly_those_queries(tmp_path, written):
    """Gold moved from rank 1 to 6 on 5 % of a thousand queries; the other way round it passes."""
    sides = written(tmp_path, 1000, WORSE)
    judged = [*sides, "--metrics", "RR@10", "--gate", RULE, "--json"]
    found = json.loads(ragnostic("compare", *judged, folder=tmp_path, code=1).stdout)
    assert found["verdict"] == "FAIL"
    assert found["metrics"]["RR@10"]["finding"] == "worse"
    assert [change["query_id"] for change in found["changed"]] == [f"q{n:04d}" for n in WORSE]
    assert {change["after"] for change in found["changed"]} == {1 / 6}
    turned = [sides[1], sides[0], *judged[2:]]
    found = json.loads(ragnostic("compare", *turned, folder=tmp_path).stdout)
    assert found["verdict"] == "PASS"
    assert found["metrics"]["RR@10"]["finding"] == "better"


@pytest.mark.parametrize("written", [as_files, as_folders])
def test_too_few_queries_are_inconclusive(tmp_path, written):
    """One of twenty: exit 0, and 5 where that is asked for."""
    sides = written(tmp_path, 20, [7])
    judged = [*sides, "--metrics", "RR@10", "--gate", RULE]
    assert "gate: INCONCLUSIVE" in ragnostic("compare", *judged, folder=tmp_path).stdout
    ragnostic("compare", *judged, "--strict", folder=tmp_path, code=5)


def test_two_evaluations_are_compared_from_their_folders(tmp_path):
    """Written by eval, found by the beginning of their names; pages and values are written."""
    texts = {"leave": "annual leave days", "travel": "travel costs paid", "vpn": "vpn password"}
    rows = [{"_id": name, "text": text} for name, text in texts.items()]
    rows += [{"_id": f"other{n}", "text": f"annual travel password {n}"} for n in range(5)]
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)))
    gold = [{"query_id": k, "query": text, "gold": [k]} for k, text in texts.items()]
    (tmp_path / "eval.jsonl").write_text("\n".join(map(json.dumps, gold)))
    folders = []
    for top_k in (5, 8):
        (tmp_path / "eval.toml").write_text(EVALUATION.format(top_k=top_k))
        done = ragnostic("eval", "eval.toml", "--json", folder=tmp_path)
        folders.append(json.loads(done.stdout)["run"])
    written = ["--html", "c.html", "--markdown", "c.md", "--per-query", "v.parquet"]
    done = ragnostic("compare", *folders, *written, folder=tmp_path)
    assert "no difference on 2 of 2 metrics" in done.stdout
    assert "top_k differs: retrieve.top_k: 5 → 8" in done.stdout
    assert "<html" in (tmp_path / "c.html").read_text(encoding="utf-8")
    assert "## Retrieval comparison" in (tmp_path / "c.md").read_text(encoding="utf-8")
    assert (tmp_path / "v.parquet").is_file()
    changed = (tmp_path / "eval.jsonl").read_text().replace('["vpn"]', '["leave"]')
    (tmp_path / "eval.jsonl").write_text(changed)
    other = json.loads(ragnostic("eval", "eval.toml", "--json", folder=tmp_path).stdout)["run"]
    refused = ragnostic("compare", folders[0], other, folder=tmp_path, code=2)
    assert "1 shared query has another gold: vpn" in refused.stderr


def test_json_is_all_there_is_on_stdout_and_the_same_twice(tmp_path):
    """For any hash seed."""
    sides = as_files(tmp_path, 30, [3, 4])
    first, second = (
        ragnostic("compare", *sides, "--json", folder=tmp_path).stdout for _ in range(2)
    )
    assert first == second
    json.loads(first, parse_constant=pytest.fail)
