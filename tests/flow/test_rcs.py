"""``ragnostic rcs`` as a real process: probe a reranker, keep the pairs, see them in a window."""

from __future__ import annotations

import json
import subprocess
import sys

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
max_failed = 0.5
"""
CODE = """
def rerank(query, candidates, top_n):
    print("a function that prints")
    if "fail" in query:
        raise RuntimeError("service is down")
    order = [c["id"] for c in candidates]
    return order[::-1] if query.endswith("?") else order
"""
QUERIES = ["annual leave", "SALARY of march", "fail leave", "zzz", "sick leave", "travel leave"]


@pytest.fixture
def folder(tmp_path):
    """A configuration, a reranker that minds question marks, queries without gold, a store."""
    texts = [f"annual leave, sick leave, salary and travel, part {i}" for i in range(14)]
    files = {
        "corpus.jsonl": [{"_id": f"c{i}", "text": text} for i, text in enumerate(texts)],
        "eval.jsonl": [{"query_id": "e", "query": "leave", "gold": ["c1"]}],
        "queries.jsonl": [{"query_id": f"q{i}", "query": q} for i, q in enumerate(QUERIES)],
    }
    for name, rows in files.items():
        text = "\n".join(json.dumps(row) for row in rows)
        (tmp_path / name).write_text(text + "\n", encoding="utf-8")
    (tmp_path / "eval.toml").write_text(CONFIG, encoding="utf-8")
    (tmp_path / "touchy.py").write_text(CODE, encoding="utf-8")
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "store.toml").write_text('[judge]\nuse = "none"\n', encoding="utf-8")
    return tmp_path


def run(folder, *arguments, code=0):
    """The program's stdout and stderr."""
    command = [sys.executable, "-m", "ragnostic", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done


def test_pairs_are_compared_and_kept(folder):
    """Stable under all but punctuation; what failed or did not change is counted; kept once."""
    asked = ("rcs", "queries.jsonl", "--config", "eval.toml", "--store", "store")
    done = run(folder, *asked, "--json")
    found = json.loads(done.stdout)
    assert (found["queries"], found["without_candidates"]) == (6, 1)
    kinds = found["perturbations"]
    assert list(kinds) == ["seed", "punctuation", "mask", "case"]
    assert kinds["seed"]["RCS@10"]["mean"] == 1.0
    assert kinds["seed"]["RCS@10"]["failed"] == 1
    assert kinds["punctuation"]["RCS@10"]["mean"] == pytest.approx(8 / 12)
    assert kinds["punctuation"]["RBO(p=0.9)@10"]["mean"] < 0.5
    assert found["unchanged"] == {"seed": 0, "punctuation": 0, "mask": 0, "case": 4}
    assert "service is down" in done.stderr
    assert "a function that prints" in done.stderr
    window = ("--from", "now-1h", "--to", "now", "--json")
    kept = json.loads(run(folder, "aggregate", "--store", "store", *window).stdout)
    assert kept["records"] == 0
    assert kept["probes"]["pairs"] == found["pairs"]
    assert kept["probes"]["metrics"] == found["metrics"]


def test_the_table_is_a_row_a_perturbation(folder):
    """Chosen ones only, the first queries only; one that changes nothing says so."""
    (folder / "low.jsonl").write_text('{"query_id": "a", "query": "leave"}\n', encoding="utf-8")
    asked = ("rcs", "low.jsonl", "--config", "eval.toml", "--perturb", "case,seed")
    lines = run(folder, *asked, "--limit", "1").stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["perturbation", "all", "case", "seed"]
    assert "it changes no query" in lines[2]
    assert lines[3].split()[1] == "1.0000"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--set", "rerank.use=none"), 2, "there is no reranker"),
        (("--perturb", "noise"), 2, "is no perturbation"),
        (("--store", "nowhere"), 2, "is no store folder"),
        (("--set", "run.max_failed=0"), 4, "service is down"),
    ],
)
def test_what_cannot_be_probed_is_said(folder, arguments, code, message):
    """By exit code and in words."""
    done = run(folder, "rcs", "queries.jsonl", "--config", "eval.toml", *arguments, code=code)
    assert message in done.stderr
