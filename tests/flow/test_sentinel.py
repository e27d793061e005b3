"""``ragnostic sentinel`` as real processes: run after run, a kill, a change of the index."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

CONFIG = """
[dataset]
path = "eval.jsonl"
corpus = "corpus.jsonl"
[retrieve]
top_k = 12
[rerank]
use = "python"
[rerank.python]
target = "touchy:rerank"
[run]
retries = 0
max_failed = 0.0
"""
CODE = """
import os, signal, threading
from pathlib import Path

def rerank(query, candidates, top_n):
    print("a function that prints")
    with open("calls.txt", "a", encoding="utf-8") as file:
        file.write(query + "\\n")
    if Path("die").exists() and "30" in query:
        Path("die").unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    if Path("stop").exists() and "30" in query:
        Path("stop").unlink()
        os.kill(os.getpid(), signal.SIGTERM)
        threading.Event().wait()
    if "fail" in query:
        raise RuntimeError("service is down")
    order = [c["id"] for c in candidates]
    return order[::-1] if query.endswith("?") else order
"""


def run(folder, *arguments, code=0):
    """The program's stdout and stderr."""
    command = [sys.executable, "-m", "ragnostic", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done


def sentinel(folder, *arguments, code=0):
    """A run, and what it says as JSON."""
    asked = ("sentinel", "--store", "store", "--config", "eval.toml", *arguments, "--json")
    done = run(folder, *asked, code=code)
    return json.loads(done.stdout) if done.stdout else {}, done.stderr


def write(path: Path, rows):
    """JSON Lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def folder(tmp_path):
    """A configuration, a reranker that minds question marks, a corpus, and a store of traffic."""
    texts = [f"annual leave, sick leave, salary and travel, part {i}" for i in range(14)]
    write(tmp_path / "corpus.jsonl", [{"_id": f"c{i}", "text": t} for i, t in enumerate(texts)])
    write(tmp_path / "eval.jsonl", [{"query_id": "e", "query": "leave", "gold": ["c1"]}])
    (tmp_path / "eval.toml").write_text(CONFIG, encoding="utf-8")
    (tmp_path / "touchy.py").write_text(CODE, encoding="utf-8")
    (tmp_path / "store").mkdir()
    settings = '[store]\nzone = "UTC"\n[judge]\nuse = "none"\n'
    (tmp_path / "store/store.toml").write_text(settings, encoding="utf-8")
    now = datetime.now(UTC).isoformat()
    asked = ["annual leave", "ANNUAL  leave", "sick leave", "sick leave", "travel", "sick leave"]
    rows = [
        {
            "trace_id": f"t{n}",
            "span_id": "s",
            "ts": now,
            "query": query,
            "answer": "yes",
            "retrieve": {"ids": ["c1"], "top_k": 12},
        }
        for n, query in enumerate(asked)
    ]
    write(tmp_path / "log.jsonl", rows)
    run(tmp_path, "ingest", "log.jsonl", "--store", "store")
    run(tmp_path, "work", "--store", "store", "--once")
    return tmp_path


def test_the_frequent_queries_of_the_store_are_watched(folder):
    """RCS of the reranker, and apart from it the overlap of retrieval with an earlier run."""
    found, said = sentinel(folder, "--queries", "2", "--retrieval")
    assert (found["queries"], found["resumed"], found["pairs"]) == (2, 0, 7)
    assert found["perturbations"]["seed"]["RCS@10"]["mean"] == 1.0
    assert found["perturbations"]["punctuation"]["RCS@10"]["mean"] == pytest.approx(8 / 12)
    assert found["retrieval"]["new"] == 2
    assert "a function that prints" in said
    corpus = folder / "corpus.jsonl"
    corpus.write_text(corpus.read_text(encoding="utf-8").replace('"c', '"d'), encoding="utf-8")
    write(folder / "eval.jsonl", [{"query_id": "e", "query": "leave", "gold": ["d1"]}])
    again, _ = sentinel(folder, "--queries", "2", "--retrieval")
    assert again["retrieval"]["metrics"]["RetrievalOverlap@10"]["mean"] == 0.0
    assert again["metrics"] == found["metrics"]
    window = ("--from", "now-1h", "--to", "now", "--json")
    kept = json.loads(run(folder, "aggregate", "--store", "store", *window).stdout)["probes"]
    assert kept["pairs"] == 14
    assert kept["metrics"]["RCS@10"]["mean"] == found["metrics"]["RCS@10"]["mean"]
    assert kept["retrieval"]["metrics"]["RetrievalOverlap@10"]["n"] == 2
    table = run(folder, "aggregate", "--store", "store", "--from", "now-1h", "--to", "now").stdout
    assert "RetrievalOverlap@10" in table
    run(folder, "rollup", "--store", "store")


def test_a_run_that_was_killed_goes_on(folder):
    """What was done is kept and not asked again; the pairs are those of a run without a kill."""
    queries = [{"query_id": f"q{n}", "query": f"annual leave {n}"} for n in range(45)]
    write(folder / "queries.jsonl", queries)
    (folder / "die").touch()
    asked = ("--list", "queries.jsonl", "--perturb", "seed", "--retrieval")
    sentinel(folder, *asked, code=-signal.SIGKILL)
    assert not (folder / "die").exists()
    (folder / "calls.txt").rename(folder / "first.txt")
    found, said = sentinel(folder, *asked)
    assert (found["queries"], found["resumed"], found["pairs"]) == (45, 20, 45)
    assert "went on with run" in said
    assert found["retrieval"]["new"] == 45
    calls = (folder / "calls.txt").read_text(encoding="utf-8").splitlines()
    assert len(calls) == 2 * 25
    window = ("--from", "now-1h", "--to", "now", "--json")
    kept = json.loads(run(folder, "aggregate", "--store", "store", *window).stdout)["probes"]
    assert kept["pairs"] == 45
    again, _ = sentinel(folder, *asked)
    assert (again["run"] != found["run"], again["resumed"]) == (True, 0)
    assert again["retrieval"]["compared"] == 45


def test_a_run_that_was_stopped_says_that_its_work_is_kept(folder):
    """And goes on as after a kill."""
    queries = [{"query_id": f"q{n}", "query": f"annual leave {n}"} for n in range(45)]
    write(folder / "queries.jsonl", queries)
    (folder / "stop").touch()
    asked = ("--list", "queries.jsonl", "--perturb", "seed")
    _, said = sentinel(folder, *asked, code=130)
    assert "what was done is kept" in said
    found, _ = sentinel(folder, *asked)
    assert (found["resumed"], found["pairs"]) == (20, 45)


def test_the_tables_and_what_fails(folder):
    """A row a perturbation, a row for retrieval; failures are counted and do not end it."""
    rows = [{"query_id": "a", "query": "fail leave"}, {"query_id": "b", "query": "sick leave"}]
    write(folder / "queries.jsonl", rows)
    asked = ("sentinel", "--store", "store", "--config", "eval.toml", "--list", "queries.jsonl")
    done = run(folder, *asked, "--perturb", "case,seed", "--retrieval", "--rate", "1000")
    names = [line.split()[0] for line in done.stdout.splitlines() if line.strip()]
    assert names == ["perturbation", "all", "case", "seed", "against", "retrieval"]
    assert "service is down" in done.stderr
    assert "2 queries not asked before" in done.stdout
    write(folder / "queries.jsonl", rows[:1])
    done = run(folder, *asked, "--perturb", "seed", code=4)
    assert "every call failed" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--set", "rerank.use=none"), 2, "there is no reranker"),
        (("--perturb", "noise"), 2, "is no perturbation"),
        (("--perturb", "none"), 2, "nothing to do"),
        (("--rate", "0"), 2, "no number of calls"),
        (("--store", "nowhere"), 2, "is no store folder"),
    ],
)
def test_what_cannot_be_watched_is_said(folder, arguments, code, message):
    """By exit code and in words."""
    _, said = sentinel(folder, *arguments, code=code)
    assert message in said


def test_retrieval_alone_needs_no_reranker(folder):
    """With its own figures only."""
    asked = ("--set", "rerank.use=none", "--perturb", "none", "--retrieval")
    found, _ = sentinel(folder, *asked)
    assert (found["pairs"], found["retrieval"]["new"]) == (0, 3)
