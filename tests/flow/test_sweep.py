"""``ragnostic sweep`` as real processes: killed, interrupted, gone on with, read again."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ragnostic import cli, config, plugins
from ragnostic.metrics import Metric
from ragnostic.offline.run_folder import list_runs, read_meta, read_run

_TOPICS = ("leave", "vpn", "salary", "travel", "badge", "lunch", "training", "visitors")
_CONFIG = """
[dataset]
path = "eval.jsonl"
corpus = "corpus.jsonl"
[chunk]
by = "fixed"
max_tokens = 16
overlap = 0
[retrieve]
top_k = 8
[rerank]
use = "none"
top_n = 3
[rerank.python]
target = "stages:reverse"
[score]
metrics = ["RR@5", "nDCG@5"]
[report]
language = "en"
worst = 1
"""
_STAGES = """
import os, pathlib, signal

here = pathlib.Path(__file__).parent

def reverse(query, candidates, top_n):
    with (here / "calls").open("a") as file:
        file.write(query + "\\n")
    calls = len((here / "calls").read_text().splitlines())
    bomb = here / "bomb"
    if bomb.exists() and calls == int(bomb.read_text()):
        bomb.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    trap = here / "trap"
    if trap.exists() and calls == int(trap.read_text()):
        trap.unlink()
        os.kill(os.getpid(), signal.SIGINT)
    return list(range(len(candidates)))[::-1]

def refuse(query, candidates, top_n):
    raise ValueError("no model")
"""
_GRID = ("--grid", "retrieve.bm25.k1=0.4,1.2", "--grid", "rerank.top_n=2,3")


@pytest.fixture
def folder(tmp_path) -> Path:
    """Eight documents of two sentences each, sixteen queries, a configuration with BM25."""
    documents, queries = [], []
    for number, topic in enumerate(_TOPICS):
        other = _TOPICS[number - 1]
        text = f"All about {topic} and nothing else. The {topic} rules came after {other} {other}."
        documents.append({"_id": topic, "text": text})
        gold = [{"doc_id": topic, "quote": f"All about {topic}"}]
        for wording in (topic, f"{topic} rules about"):
            queries.append({"query_id": f"q{len(queries)}", "query": wording, "gold": gold})
    _write_lines(tmp_path / "corpus.jsonl", documents)
    _write_lines(tmp_path / "eval.jsonl", queries)
    (tmp_path / "eval.toml").write_text(_CONFIG, encoding="utf-8")
    (tmp_path / "stages.py").write_text(_STAGES, encoding="utf-8")
    return tmp_path


def _write_lines(file: Path, rows: list[dict]) -> None:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _sweep(folder: Path, *arguments: str, out: str = "runs") -> Result:
    command = ["sweep", str(folder / "eval.toml"), "--out", str(folder / out), *arguments]
    return CliRunner().invoke(cli.app, command)


def _process(folder: Path, *arguments: str, out: str = "runs") -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "ragnostic", "sweep", "eval.toml", "--out", out, *arguments]
    environment = {**os.environ, "PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def _timeless(printed: str) -> dict:
    """The JSON of a sweep without latencies, places, names of run folders and the Pareto front."""
    found = json.loads(printed)
    for row in found["combinations"]:
        for name in ("run", "latency_ms", "pareto"):
            del row[name]
    return {key: found[key] for key in found if key not in {"folder", "page", "winner"}}


def test_every_combination_is_a_run_and_the_table_compares_them(folder):
    """Named by what was varied; the configuration as written is the baseline."""
    done = _sweep(folder, "--grid", "retrieve.bm25.k1=0.4,1.2", "--grid", "retrieve.top_k=6,8")
    assert done.exit_code == 0, done.output
    assert {read_meta(run)["name"] for run in list_runs(folder / "runs")} == {
        f"retrieve.bm25.k1={k1}, retrieve.top_k={top_k}" for k1 in (0.4, 1.2) for top_k in (6, 8)
    }
    head, *rows = done.stdout.splitlines()[:5]
    assert head.split()[:2] == ["combination", "MRR@5"]
    (base,) = (row for row in rows if "baseline" in row)
    assert base.startswith("retrieve.bm25.k1=1.2, retrieve.top_k=8 ")
    assert "best by MRR@5: " in done.stdout
    page = next((folder / "runs").glob("sweep-*/sweep.html")).read_text(encoding="utf-8")
    assert 'class="chart"' in page


def test_settings_that_come_to_the_same_are_run_once(folder):
    """Without a reranker top_n changes nothing: said, and not run twice."""
    done = _sweep(folder, *_GRID, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert [row["name"] for row in found["combinations"]] == [
        "retrieve.bm25.k1=0.4, rerank.top_n=2",
        "retrieve.bm25.k1=1.2, rerank.top_n=2",
    ]
    assert "rerank.top_n=3 has the settings of retrieve.bm25.k1=0.4, rerank.top_n=2" in done.stderr
    assert found["baseline"] == "retrieve.bm25.k1=1.2, rerank.top_n=2"
    assert len(list_runs(folder / "runs")) == 2


@pytest.mark.parametrize("calls", [3, 21])
def test_a_killed_sweep_goes_on_and_ends_as_if_nothing_had_happened(folder, calls):
    """SIGKILL in the first and in the second combination; what was finished is not run again."""
    grid = ("--grid", "retrieve.bm25.k1=0.4,1.2", "--set", "rerank.use=python", "--json")
    whole = _process(folder, *grid, out="whole")
    assert whole.returncode == 0, whole.stderr
    (folder / "calls").unlink()
    (folder / "bomb").write_text(str(calls))
    killed = _process(folder, *grid)
    assert killed.returncode == -signal.SIGKILL
    finished = list_runs(folder / "runs")
    assert len(finished) == calls // 16
    again = _process(folder, *grid)
    assert again.returncode == 0, again.stderr
    assert _timeless(again.stdout) == _timeless(whole.stdout)
    assert len(list_runs(folder / "runs")) == 2
    assert set(finished) <= set(list_runs(folder / "runs"))
    assert len((folder / "calls").read_text().splitlines()) == 32 + calls % 16
    for kept, same in zip(*(sorted(_runs(folder / out)) for out in ("runs", "whole")), strict=True):
        assert kept == same


def _runs(out: Path) -> list[tuple]:
    runs = [read_run(path) for path in list_runs(out)]
    return [(run.meta["name"], run.scores.to_pydict()["value"]) for run in runs]


def test_a_run_written_just_before_a_kill_is_found_again(folder):
    """Its run.json says where it belongs, though sweep.json does not know it."""
    grid = ("--grid", "retrieve.bm25.k1=0.4,1.2", "--json")
    first = _sweep(folder, *grid)
    state = next((folder / "runs").glob("sweep-*/sweep.json"))
    written = json.loads(state.read_text())
    state.write_text(json.dumps({**written, "runs": {}}))
    again = _sweep(folder, *grid)
    assert _timeless(again.stdout) == _timeless(first.stdout)
    assert len(list_runs(folder / "runs")) == 2


def test_a_deleted_run_is_measured_again(folder):
    """The state alone proves nothing."""
    grid = ("--grid", "retrieve.bm25.k1=0.4,1.2")
    _sweep(folder, *grid)
    gone = list_runs(folder / "runs")[0]
    for file in gone.iterdir():
        file.unlink()
    gone.rmdir()
    assert _sweep(folder, *grid).exit_code == 0
    assert len(list_runs(folder / "runs")) == 2


@pytest.mark.parametrize("call", ["20", "32"])
def test_ctrl_c_says_what_is_kept(folder, call):
    """Exit 130; whatever it interrupts, what is said to be finished is there, whole, and nothing
    else is. At call 32 the second combination is about to be written.
    """
    (folder / "trap").write_text(call)
    grid = ("--grid", "retrieve.bm25.k1=0.4,1.2,2.0")
    done = _process(folder, *grid, "--set", "rerank.use=python")
    assert done.returncode == 130, done.stderr
    said = re.search(
        r"interrupted; (\d) combinations? (?:is|are) finished and kept in runs", done.stderr
    )
    assert said, done.stderr
    assert 1 <= int(said[1]) <= 2
    assert len(list_runs(folder / "runs")) == int(said[1])
    assert not list((folder / "runs").glob(".partial-*"))
    (state,) = (folder / "runs").glob("sweep-*/sweep.json")
    assert len(json.loads(state.read_text(encoding="utf-8"))["runs"]) == int(said[1])


def test_what_a_killed_sweep_left_half_written_is_removed(folder):
    """By the next sweep there, once its writer is gone."""
    code = "import pathlib; from ragnostic.offline.partial_folders import make_partial;"
    code += " make_partial(pathlib.Path('runs'))"
    (folder / "runs").mkdir()
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True)
    assert list((folder / "runs").glob(".partial-*"))
    assert _sweep(folder, "--grid", "retrieve.bm25.k1=0.4,1.2").exit_code == 0
    assert not list((folder / "runs").glob(".partial-*"))


@pytest.mark.parametrize("file", ["eval.jsonl", "corpus.jsonl"])
def test_changed_data_starts_anew(folder, file):
    """Another fingerprint, another folder, all combinations again."""
    grid = ("--grid", "retrieve.bm25.k1=0.4,1.2")
    _sweep(folder, *grid)
    rows = [json.loads(line) for line in (folder / file).read_text().splitlines()]
    extra = {"query_id": "new", "query": "lunch", "gold": ["lunch"]}
    rows += [extra if file == "eval.jsonl" else {"_id": "new", "text": "Something new."}]
    _write_lines(folder / file, rows)
    assert _sweep(folder, *grid).exit_code == 0
    assert len(list((folder / "runs").glob("sweep-*"))) == 2
    assert len(list_runs(folder / "runs")) == 4


def test_shared_work_is_done_once_and_its_time_is_that_of_the_one_time(folder):
    """Two rerankings of one retrieval have the same rankings and latencies to the microsecond."""
    done = _sweep(folder, "--set", "rerank.use=python", "--grid", "rerank.top_n=1,2,3")
    assert done.exit_code == 0, done.output
    runs = [read_run(path) for path in list_runs(folder / "runs")]
    assert len({str(run.records["retrieve"].to_pylist()) for run in runs}) == 1
    assert len({run.meta["durations"]["retrieve"] for run in runs}) == 1


def test_where_chunkers_differ_the_budget_decides(folder):
    """R(budget=2000) ranks, TokenPrecision stands beside, a cut list is told."""
    done = _sweep(folder, "--grid", "chunk.max_tokens=8,16", "--metric", "RR@5")
    assert done.exit_code == 0, done.output
    head = done.stdout.splitlines()[0]
    assert head.index("R(budget=2000)") < head.index("TokenPrecision") < head.index("MRR@5")
    assert "at equal k bigger chunks always win" in done.stdout
    assert "top_k ends before the budget is spent in 2 combinations" in done.stdout
    for run in list_runs(folder / "runs"):
        assert {"R(budget=2000)", "TokenPrecision", "RR@5"} <= set(
            read_meta(run)["settings"]["score"]["metrics"]
        )


def test_the_winner_is_a_configuration_that_gives_the_same_settings(folder):
    """Paths are right from where it stands; only name and added metrics are not in it."""
    done = _sweep(
        folder,
        "--grid",
        "retrieve.bm25.k1=0.4,1.2",
        "--set",
        'dataset.name="a \\"set\\""',
        "--json",
    )
    found = json.loads(done.stdout)
    winner = Path(found["winner"])
    assert winner.name == "winner.toml"
    assert winner.read_text().startswith(f"# The best of {found['sweep']} over eval.toml: retrieve")
    loaded = config.load(winner, find_plugin=plugins.load, check_metric=Metric.parse)
    assert loaded.path(loaded.settings.dataset.path[0]).resolve() == folder / "eval.jsonl"
    best = next(row for row in found["combinations"] if row["best"])
    settings = read_meta(folder / "runs" / best["run"])["settings"]
    ours = loaded.as_json()
    for table in ("chunk", "embed", "retrieve", "rerank", "score"):
        assert ours[table] == settings[table]
    assert ours["dataset"]["name"] == 'a "set"'
    evaluated = CliRunner().invoke(cli.app, ["eval", str(winner), "--out", str(folder / "again")])
    assert evaluated.exit_code == 0, evaluated.output


def test_the_winner_with_a_function_of_the_user_stands_beside_the_configuration(folder):
    """There its module is found."""
    grid = ("--grid", "retrieve.bm25.k1=0.4,1.2", "--set", "rerank.use=python", "--json")
    winner = Path(json.loads(_sweep(folder, *grid).stdout)["winner"])
    assert winner.parent == folder
    evaluated = CliRunner().invoke(cli.app, ["eval", str(winner), "--out", str(folder / "again")])
    assert evaluated.exit_code == 0, evaluated.output


def test_a_run_can_be_the_baseline(folder):
    """It is shown, and every combination is compared with it."""
    made = CliRunner().invoke(
        cli.app, ["eval", str(folder / "eval.toml"), "--out", str(folder / "runs"), "--json"]
    )
    base = Path(json.loads(made.stdout)["run"]).name
    done = _sweep(folder, "--grid", "retrieve.top_k=5,6", "--baseline", base, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["baseline"] == base
    assert found["baseline_run"]["run"] == base
    assert all(row["difference"] is not None for row in found["combinations"])


def test_a_baseline_that_cannot_be_compared_is_refused_early(folder):
    """Another gold: after one combination, not after all."""
    made = CliRunner().invoke(
        cli.app, ["eval", str(folder / "eval.toml"), "--out", str(folder / "other"), "--json"]
    )
    rows = [json.loads(line) for line in (folder / "eval.jsonl").read_text().splitlines()]
    _write_lines(folder / "eval.jsonl", [{**row, "gold": ["lunch"]} for row in rows])
    base = json.loads(made.stdout)["run"]
    done = _sweep(folder, "--grid", "retrieve.top_k=5,6", "--baseline", base)
    assert done.exit_code == 2
    assert "16 shared queries have another gold" in done.stderr
    assert len(list_runs(folder / "runs")) == 1
    done = _sweep(folder, "--grid", "retrieve.top_k=5,6", "--baseline", base, "--metric", "AP@5")
    assert done.exit_code == 2
    assert "has no AP@5; it has RR@5, nDCG@5 at stage retrieve" in done.stderr


def test_faults_of_all_combinations_are_told_before_anything_runs(folder):
    """Each once, with the combination that has it."""
    done = _sweep(folder, "--grid", "chunk.overlap=0,20", "--grid", "chunk.max_tokens=8,16,32")
    assert done.exit_code == 2
    assert (
        "chunk.overlap (20) is not smaller than chunk.max_tokens (8)"
        " (with chunk.overlap=20, chunk.max_tokens=8)"
    ) in done.stderr
    assert "2 faults; nothing was run." in done.stderr
    assert not (folder / "runs").exists()


def test_a_combination_that_fails_is_named_and_the_finished_ones_stay(folder):
    """Exit 4; the message says how to go on."""
    done = _sweep(
        folder,
        *("--set", "rerank.use=python", "--set", "run.max_failed=0"),
        *("--grid", "rerank.python.target=stages:reverse,stages:refuse"),
    )
    assert done.exit_code == 4
    assert 'with rerank.python.target="stages:refuse": rerank: the first of 16' in done.stderr
    assert "the same command goes on there" in done.stderr
    assert len(list_runs(folder / "runs")) == 1


def test_a_random_search_draws_distinct_combinations_with_the_written_one(folder):
    """As many as the budget, the same for one seed."""
    grid = ("--grid", "retrieve.bm25.k1=0.1,0.5,1.2,2", "--grid", "retrieve.top_k=5,6,8")
    search = ("--search", "random", "--budget", "4", "--seed", "7", "--json")
    found = json.loads(_sweep(folder, *grid, *search).stdout)
    names = {row["name"] for row in found["combinations"]}
    assert len(names) == 4
    assert found["baseline"] == "retrieve.bm25.k1=1.2, retrieve.top_k=8"
    assert found["baseline"] in names
    again = json.loads(_sweep(folder, *grid, *search, out="again").stdout)
    assert {row["name"] for row in again["combinations"]} == names
    assert found["total"] == 12
    text = _sweep(folder, *grid, *search[:-1]).stdout
    assert "8 combinations were not tried" in text
    assert len(list_runs(folder / "runs")) == 4


def test_a_huge_grid_is_drawn_from_and_never_listed(folder):
    """Two million combinations, three of them run, the written one first."""
    ks = ",".join(str(number / 1000) for number in range(200, 2202))
    tops = ",".join(str(number) for number in range(5, 1005))
    grid = ("--grid", f"retrieve.bm25.k1={ks}", "--grid", f"retrieve.top_k={tops}")
    refused = _sweep(folder, *grid)
    assert refused.exit_code == 2
    assert "2002000 combinations; at most 5000" in refused.stderr
    done = _sweep(folder, *grid, "--search", "random", "--budget", "3", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert (len(found["combinations"]), found["total"]) == (3, 2_002_000)
    assert found["baseline"] == "retrieve.bm25.k1=1.2, retrieve.top_k=8"


def test_halving_measures_the_promising_ones_on_all_queries(folder):
    """The others are listed with the queries and the mean at which they were left."""
    grid = (
        "--grid",
        "retrieve.bm25.k1=0.1,1.2",
        "--grid",
        "retrieve.top_k=1,2,4,8",
        "--metric",
        "AP",
    )
    search = ("--search", "halving", "--budget", "8", "--seed", "1")
    done = _sweep(folder, *grid, *search, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert len(found["combinations"]) + len(found["pruned"]) == 8
    assert found["pruned"]
    assert {row["queries"] for row in found["pruned"]} <= {4, 8}
    assert found["baseline"] == "retrieve.bm25.k1=1.2, retrieve.top_k=8"
    assert len(list_runs(folder / "runs")) == len(found["combinations"])
    assert all(row["metrics"]["AP"]["n"] == 16 for row in found["combinations"])
    again = _sweep(folder, *grid, *search)
    assert "left after " in again.stdout
    assert len(list_runs(folder / "runs")) == len(found["combinations"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "no --grid is given"),
        (("--grid", "retrieve.top_k=2", "--budget", "3"), "--budget goes with --search random"),
        (("--grid", "retrieve.top_k=2", "--search", "random"), "--budget goes with"),
        (("--grid", "retrieve.top_k=2", "--metric", "nDGC@5"), "unknown metric"),
        (("--grid", "score.overlap=0.2,0.5"), "score.overlap cannot be varied: another overlap"),
        (("--grid", "score.metrics=RR@5,AP"), "score.metrics cannot be varied: it only adds"),
        (("--grid", "retrieve.top_k=4,8"), "RR@5 looks at 5 results, but retrieve.top_k=4"),
        (("--grid", "retrieve.top_k=8,9", "--metric", "RR@99"), "raise retrieve.top_k to 99"),
        (("--grid", "retrieve.top_k=8,9", "--html", "-"), "--html - names no file"),
        (("--grid", "report.worst=1,2"), "report.worst cannot be varied: it changes no number"),
        (("--grid", "retrieve.topk=1,2"), "unknown key retrieve.topk"),
    ],
)
def test_what_makes_no_sense_is_refused(folder, arguments, message):
    """Exit 2, nothing run."""
    done = _sweep(folder, *arguments)
    assert done.exit_code == 2
    assert message in done.stderr
    assert not (folder / "runs").exists()


def test_a_damaged_state_is_named(folder):
    """Exit 3 with the file and what to do."""
    grid = ("--grid", "retrieve.top_k=6,8")
    _sweep(folder, *grid)
    state = next((folder / "runs").glob("sweep-*/sweep.json"))
    for text in ("{", '{"schema": 99}'):
        state.write_text(text)
        done = _sweep(folder, *grid)
        assert done.exit_code == 3
        assert "delete it to begin anew" in done.stderr
