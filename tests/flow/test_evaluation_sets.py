"""A frozen and a fresh evaluation set in one run, from the command line to the gate."""

from __future__ import annotations

import json
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

from ragnostic.offline.run_folder import list_runs

CONFIG = """
[dataset]
corpus = "corpus.jsonl"
[[dataset.set]]
name = "frozen"
path = "frozen.jsonl"
[[dataset.set]]
name = "fresh"
path = "fresh.jsonl"
[retrieve]
use = "bm25"
top_k = 5
[rerank]
use = "none"
[score]
metrics = ["RR@5", "R@5"]
[report]
language = "en"
"""


def _lines(path, rows):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


@pytest.fixture
def place(tmp_path):
    """Sixty documents; each frozen query finds its own, a fresh one only where it names it."""
    (tmp_path / "eval.toml").write_text(CONFIG, encoding="utf-8")
    _lines(
        tmp_path / "corpus.jsonl",
        [{"_id": f"doc-{at}", "text": f"rule number{at} of the house"} for at in range(60)],
    )
    frozen = [
        {"query_id": f"old-{at}", "query": f"number{at}", "gold": [f"doc-{at}"]} for at in range(30)
    ]
    fresh = [
        {
            "query_id": f"new-{at}",
            "query": f"number{at}" if at % 3 else "something else",
            "gold": [f"doc-{at}"],
            "category": "new",
        }
        for at in range(30, 60)
    ]
    _lines(tmp_path / "frozen.jsonl", frozen)
    _lines(tmp_path / "fresh.jsonl", fresh)
    return tmp_path


def _run(place, *arguments):
    command = [sys.executable, "-m", "ragnostic", *arguments]
    return subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)


def test_the_sets_stand_side_by_side_in_table_folder_and_report(place):
    """With the gap between them, which ten queries of thirty make a sign of overfitting."""
    done = _run(place, "eval", "eval.toml")
    assert done.returncode == 0, done.stderr
    assert "gap to fresh" in done.stdout
    assert "frozen fares better than fresh: MRR@5 +0.3333, R@5 +0.3333." in done.stdout
    (folder,) = list_runs(place / "runs")
    meta = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    fresh = meta["sets"]["fresh"]
    assert (fresh["queries"], fresh["answerable"]) == (30, 30)
    assert fresh["stages"]["retrieve"]["R@5"]["mean"] == pytest.approx(2 / 3)
    gap = next(one for one in meta["set_gaps"] if one["metric"] == "R@5")
    assert gap["difference"] == pytest.approx(1 / 3)
    assert 0 < gap["low"] < gap["difference"] < gap["high"]
    assert meta["data"]["evaluation_set"]["queries"] == 60
    assert meta["data"]["evaluation_set"]["path"] == "frozen + fresh"
    records = pq.read_table(folder / "records.parquet").to_pylist()
    assert [row["set"] for row in records] == ["frozen"] * 30 + ["fresh"] * 30
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert 'id="sets"' in page
    assert "a sign of overfitting to frozen" in page


@pytest.mark.parametrize(
    ("frozen", "fresh", "code", "verdict"),
    [(0.8, 0.4, 0, "PASS"), (0.8, 0.9, 1, "FAIL"), (0.8, 0.65, 0, "INCONCLUSIVE")],
)
def test_a_version_passes_only_where_both_sets_are_in_range(place, frozen, fresh, code, verdict):
    """Each set has its own bound; the worse of the two verdicts is that of the version."""
    rules = [f"abs:R@5{{set=frozen}} >= {frozen}", f"abs:R@5{{set=fresh}} >= {fresh}"]
    with (place / "eval.toml").open("a", encoding="utf-8") as file:
        file.write(f"[gate]\nrules = {json.dumps(rules)}\n")
    done = _run(place, "eval", "eval.toml", "--json")
    assert done.returncode == code, done.stderr
    found = json.loads(done.stdout)
    assert found["gate"]["verdict"] == verdict
    assert found["sets"]["frozen"]["stages"]["retrieve"]["R@5"]["mean"] == 1.0
    assert {gap["against"] for gap in found["set_gaps"]} == {"fresh"}


def test_a_query_in_both_sets_is_refused(place):
    """Exit 3, both sets named, nothing written."""
    with (place / "fresh.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({"query_id": "old-3", "query": "again", "gold": ["doc-3"]}) + "\n")
    done = _run(place, "eval", "eval.toml")
    assert done.returncode == 3
    assert "query id 'old-3' is in set frozen and in set fresh" in done.stderr
    assert not (place / "runs").exists()
