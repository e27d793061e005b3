"""``ragnostic eval`` from the command line to the run folder and back."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from ragnostic import cli
from ragnostic.offline.run_folder import list_runs, read_run

_DOCUMENTS = {
    "leave": "Annual leave is twenty days a year.",
    "vpn": "Reset the vpn token in the portal.",
    "pay": "The salary is paid on the last day of the month.",
    "travel": "Travel costs are paid back within a month.",
    "假": "年假每年二十天，需提前申请。",
}
_QUERIES = [
    {"query_id": "q1", "query": "annual leave days", "gold": ["leave"]},
    {"query_id": "q2", "query": "vpn token", "gold": ["vpn"]},
    {
        "query_id": "q3",
        "query": "paid month",
        "gold": [{"id": "travel", "grade": 2}, {"id": "pay"}],
    },
    {"query_id": "q4", "query": "年假几天", "gold": ["假"]},
    {"query_id": "q5", "query": "favourite colour", "answerable": False},
]
_CONFIG = """
[dataset]
path = "eval.jsonl"
corpus = "corpus.jsonl"
[retrieve]
use = "bm25"
top_k = 5
[rerank]
use = "python"
top_n = 2
[rerank.python]
target = "stages:reverse"
[score]
metrics = ["nDCG@5", "mrr@5", "R@50"]
[report]
language = "en"
"""
_STAGES = """
import time

def reverse(query, candidates, top_n):
    return list(range(len(candidates)))[::-1]

def two_stages(query, k):
    hits = [{"id": name, "text": "text of " + name} for name in ("vpn", "leave", "pay")]
    return {"recall": hits, "rank": hits[::-1]}

def bare(query, k):
    return ["leave", "vpn"]

def broken(query, k):
    if "vpn" in query:
        raise ValueError("index is gone")
    return ["leave"]

def slow(query, k):
    time.sleep(0.2)
    return ["leave"]
"""


@pytest.fixture
def folder(tmp_path) -> Path:
    """A small corpus, an evaluation set, a configuration and the user's own functions."""
    rows = [{"_id": name, "text": text} for name, text in _DOCUMENTS.items()]
    _write_lines(tmp_path / "corpus.jsonl", rows)
    _write_lines(tmp_path / "eval.jsonl", _QUERIES)
    (tmp_path / "eval.toml").write_text(_CONFIG, encoding="utf-8")
    (tmp_path / "stages.py").write_text(_STAGES, encoding="utf-8")
    return tmp_path


def _write_lines(file: Path, rows: list[dict]) -> None:
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _eval(folder: Path, *arguments: str) -> Result:
    command = ["eval", str(folder / "eval.toml"), "--out", str(folder / "runs"), *arguments]
    return CliRunner().invoke(cli.app, command)


def _only_run(folder: Path):
    (path,) = list_runs(folder / "runs")
    return read_run(path)


def test_both_stages_are_scored_and_shown_side_by_side(folder):
    """Worked by hand: BM25 has every gold first, the reversed list has it last."""
    done = _eval(folder)
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0].split() == [
        *["metric", "retrieve", "95", "%", "interval"],
        *["rerank", "95", "%", "interval", "gain", "n"],
    ]
    assert [line.split()[0] for line in lines[1:4]] == ["nDCG@5", "MRR@5", "R@50"]
    assert lines[4] == "5 queries: 4 unscored, 1 unanswerable"
    assert "retrieve: no R@50: the stage was asked for top_k 5, which is less than 50" in lines
    assert lines[-1].startswith("report: ")
    run = _only_run(folder)
    before, after = (run.meta["stages"][stage]["metrics"]["RR@5"] for stage in run.stages)
    assert before["mean"] == 1.0
    assert after["mean"] < 1.0
    assert run.meta["stages"]["retrieve"]["metrics"]["R@50"]["mean"] is None


def test_the_rerank_stage_keeps_every_candidate(folder):
    """top_n only marks."""
    _eval(folder)
    for row in _only_run(folder).records.to_pylist():
        assert row["rerank"]["ids"] == row["retrieve"]["ids"][::-1]
        assert row["rerank"]["top_n"] == 2


def test_the_run_folder_explains_itself(folder):
    """Settings as resolved with canonical names, versions, fingerprints, judge, durations."""
    _eval(folder, "--set", "run.name=first", "--set", "run.store_text=false")
    (path,) = list_runs(folder / "runs")
    assert sorted(file.name for file in path.iterdir()) == [
        *["chunks.parquet", "records.parquet", "report.html", "run.json", "scores.parquet"]
    ]
    meta = json.loads((path / "run.json").read_text(encoding="utf-8"))
    assert meta["run"] == path.name
    assert meta["name"] == "first"
    assert meta["settings"]["score"]["metrics"] == ["nDCG@5", "RR@5", "R@50"]
    assert meta["settings"]["retrieve"]["bm25"]["k1"] == 1.2
    assert meta["data"]["evaluation_set"]["answerable"] == 4
    assert meta["data"]["corpus"]["documents"] == len(_DOCUMENTS)
    assert meta["judge"] == {"name": "gold", "parameters": {"overlap": 0.5}}
    assert {"load", "index", "retrieve", "rerank", "score"} <= meta["durations"].keys()
    assert {"ragnostic", "python", "numpy"} <= meta["versions"].keys()
    assert pq.read_table(path / "chunks.parquet")["text"].null_count == len(_DOCUMENTS)
    scores = pq.read_table(path / "scores.parquet")
    assert scores.num_rows == 2 * 5 * 5
    assert set(scores["metric"].to_pylist()) == {"nDCG@5", "RR@5", "R@50", "Judged@5", "Judged@50"}


def test_the_same_configuration_gives_the_same_results(folder):
    """Times aside: the same run.json, scores, chunks; the same settings in the name."""
    for _ in range(2):
        _eval(folder)
    first, second = (read_run(path) for path in list_runs(folder / "runs"))
    assert first.scores.equals(second.scores)
    assert first.chunks.equals(second.chunks)
    assert _timeless(first.meta) == _timeless(second.meta)
    assert len({run.meta["run"].split("-")[3] for run in (first, second)}) == 1


def _timeless(meta) -> dict:
    stages = {
        name: {key: value for key, value in stage.items() if key != "latency_ms"}
        for name, stage in meta["stages"].items()
    }
    kept = {key: value for key, value in meta.items() if key not in {"created", "durations", "run"}}
    return {**kept, "stages": stages}


def test_json_is_all_that_stands_on_stdout(folder):
    """Each stage has the keys of score --json."""
    done = _eval(folder, "--json")
    printed = json.loads(done.stdout)
    assert Path(printed["run"]).is_dir()
    assert list(printed["stages"]) == ["retrieve", "rerank"]
    for stage in printed["stages"].values():
        assert {"metrics", "Judged@5", "ties", "duplicates", "unjudged_queries"} <= stage.keys()
        assert all(isinstance(line, str) for line in stage["warnings"])


def test_a_service_of_two_stages_is_evaluated_as_it_is(folder):
    """Without a word of reranking in the file, nothing is reranked; texts are those it showed."""
    text = _CONFIG[: _CONFIG.index("[rerank]")] + '[report]\nlanguage = "en"\n'
    text = text.replace('corpus = "corpus.jsonl"\n', "")
    (folder / "eval.toml").write_text(text, encoding="utf-8")
    sets = ["retrieve.use=python", "retrieve.python.target=stages:two_stages"]
    done = _eval(folder, *_sets(*sets, "score.metrics=RR@3"))
    assert done.exit_code == 0, done.output
    run = _only_run(folder)
    assert run.stages == ("recall", "rank")
    assert run.meta["data"]["corpus"] is None
    assert run.meta["rerank"] is None
    assert run.chunks["text"].to_pylist() == ["text of leave", "text of pay", "text of vpn"]


def _sets(*assignments: str) -> list[str]:
    return [part for assignment in assignments for part in ("--set", assignment)]


def test_two_stages_and_a_reranker_of_our_own_is_a_third(folder):
    """The reranker named in the file works on the last stage of the answer."""
    sets = ["retrieve.use=python", "retrieve.python.target=stages:two_stages"]
    done = _eval(folder, *_sets(*sets))
    assert done.exit_code == 0, done.output
    run = _only_run(folder)
    assert run.stages == ("recall", "rank", "rerank")
    assert run.row(0)["rerank"]["ids"] == ["vpn", "leave", "pay"]


def test_a_reranker_without_texts_is_refused(folder):
    """Before anything is written."""
    sets = ["retrieve.use=python", "retrieve.python.target=stages:bare"]
    text = _CONFIG.replace('corpus = "corpus.jsonl"\n', "")
    (folder / "eval.toml").write_text(text, encoding="utf-8")
    done = _eval(folder, *_sets(*sets))
    assert done.exit_code == 2
    assert "needs the texts of the candidates" in done.stderr
    assert not (folder / "runs").exists()


def test_few_failures_are_counted_and_many_end_the_run(folder):
    """A failed query is left out of the mean; above the limit nothing is written."""
    sets = ["retrieve.use=python", "retrieve.python.target=stages:broken", "rerank.use=none"]
    done = _eval(folder, *_sets(*sets))
    assert done.exit_code == 4
    assert "1 of the first 2 queries failed (5 in all)" in done.stderr
    assert "index is gone" in done.stderr
    assert not (folder / "runs").exists()
    done = _eval(folder, *_sets(*sets, "run.max_failed=0.2", "score.metrics=RR@5"))
    assert done.exit_code == 0, done.output
    summary = _only_run(folder).meta["stages"]["retrieve"]["metrics"]["RR@5"]
    assert (summary["n"], summary["failed"]) == (3, 1)


def test_gold_outside_the_corpus_is_listed_and_scored_without_beside(folder):
    """R keeps it; the mean without it stands next to it."""
    rows = [*_QUERIES, {"query_id": "q6", "query": "annual leave", "gold": ["leave", "gone"]}]
    _write_lines(folder / "eval.jsonl", rows)
    done = _eval(folder, *_sets("rerank.use=none", "score.metrics=R@5"))
    assert "gone" in done.stderr
    assert "retrieve, without gold that is not in the corpus: R@5 1.0000" in done.stdout
    stage = _only_run(folder).meta["stages"]["retrieve"]
    assert stage["metrics"]["R@5"]["mean"] == pytest.approx(0.9)
    assert stage["without_dangling"]["R@5"] == {"mean": 1.0, "n": 5}


def test_too_many_bad_rows_end_the_run_and_few_are_listed(folder):
    """Exit 3 with file and line; below the limit a warning each."""
    with (folder / "eval.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"query_id": "q6", "query":\n')
    done = _eval(folder)
    assert done.exit_code == 3
    assert "1 of 6 rows cannot be used" in done.stderr
    assert "eval.jsonl:6: " in done.stderr
    assert not (folder / "runs").exists()
    done = _eval(folder, *_sets("run.bad_rows=0.5"))
    assert done.exit_code == 0
    assert "eval.jsonl:6" in done.stderr


def test_a_beir_folder_brings_its_corpus(folder):
    """And only the named split is read."""
    beir = folder / "beir"
    (beir / "qrels").mkdir(parents=True)
    _write_lines(beir / "corpus.jsonl", [{"_id": "d1", "title": "T", "text": "annual leave"}])
    _write_lines(beir / "queries.jsonl", [{"_id": "q1", "text": "leave"}])
    (beir / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    sets = ["rerank.use=none", "score.metrics=RR@5"]
    text = '[dataset]\npath = "beir"\n'
    (folder / "eval.toml").write_text(text, encoding="utf-8")
    assert _eval(folder, *_sets(*sets)).exit_code == 0
    assert _only_run(folder).meta["data"]["corpus"]["path"] == "corpus.jsonl"


def test_a_set_without_gold_is_bad_data(folder):
    """Every mean would be empty."""
    _write_lines(folder / "eval.jsonl", [{"query_id": "q", "query": "x", "answerable": False}])
    done = _eval(folder)
    assert done.exit_code == 3
    assert "nothing can be scored" in done.stderr


def test_what_can_be_known_before_is_told_before_anything_is_retrieved(folder):
    """Gold and the place of the run folder are looked at first."""
    done = _eval(folder, "--out", str(folder / "eval.toml"))
    assert (done.exit_code, "retrieving" in done.stderr) == (2, False)
    _write_lines(folder / "eval.jsonl", [{"query_id": "q", "query": "x", "gold": []}])
    done = _eval(folder)
    assert (done.exit_code, "retrieving" in done.stderr) == (3, False)
    assert "no query of eval.jsonl has relevant gold" in done.stderr


def test_a_reader_that_leaves_does_not_end_the_run(folder):
    """The folder is written, whatever becomes of the table and of the progress."""
    command = [sys.executable, "-m", "ragnostic", "eval", "eval.toml"]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        process.stdout.close()
        assert process.wait() == 0
    assert _only_run(folder).records.num_rows == 5


def test_a_function_that_prints_does_not_spoil_json(folder):
    """What it prints goes to stderr."""
    code = "print('imported')\ndef find(query, k):\n    print('debug')\n    return ['leave']\n"
    (folder / "loud_functions.py").write_text(code, encoding="utf-8")
    done = _eval(
        folder,
        "--json",
        *_sets("retrieve.use=python", "rerank.use=none"),
        *_sets("retrieve.python.target=loud_functions:find"),
    )
    assert json.loads(done.stdout)["stages"]
    assert "imported" in done.stderr
    assert "debug" in done.stderr


def test_a_run_that_found_nothing_says_so_loudly(folder):
    """All zeros may be a wrong index."""
    (folder / "empty_functions.py").write_text("def find(query, k): return []\n")
    done = _eval(
        folder,
        *_sets("retrieve.use=python", "rerank.use=none"),
        *_sets("retrieve.python.target=empty_functions:find"),
    )
    assert done.exit_code == 0
    assert "warning: stage retrieve returned nothing for any of 5 queries" in done.stderr
    kinds = [row["kind"] for row in _only_run(folder).meta["warnings"]]
    assert "no_results" in kinds


def test_several_files_are_one_set(folder):
    """A query id that comes again in a later file is a bad row."""
    _write_lines(folder / "more.jsonl", [{**_QUERIES[0], "query_id": "m1"}, _QUERIES[1]])
    text = _CONFIG.replace('"eval.jsonl"', '["eval.jsonl", "more.jsonl"]')
    (folder / "eval.toml").write_text(text, encoding="utf-8")
    done = _eval(folder, *_sets("run.bad_rows=0.5"))
    assert done.exit_code == 0, done.output
    assert "more.jsonl: query id 'q2' was given before, in eval.jsonl; left out" in done.stderr
    assert _only_run(folder).records.num_rows == 6


def test_five_faults_of_a_configuration_are_told_together(folder):
    """And nothing is run."""
    (folder / "eval.toml").write_text(
        '[dataset]\npath = "evl.jsonl"\n[retrieve]\nuse = "bm"\ntop_k = 0\n'
        '[rerank]\ntopn = 3\n[score]\nmetrics = ["nDGC@10"]\n',
        encoding="utf-8",
    )
    done = _eval(folder)
    assert done.exit_code == 2
    assert [line[:12] for line in done.stderr.splitlines() if line.startswith("eval")] == [
        f"eval.toml:{line}:" for line in (2, 4, 5, 7, 9)
    ]
    assert done.stderr.endswith("5 faults; nothing was run.\n")


def test_runs_are_listed_shown_and_reported_again(folder):
    """By id, by its beginning, in the other language."""
    _eval(folder, *_sets("run.name=first"))
    (path,) = list_runs(folder / "runs")
    (folder / "runs" / "broken").mkdir()
    (folder / "runs" / "broken" / "run.json").write_text("{")
    out = ["--out", str(folder / "runs")]
    listed = CliRunner().invoke(cli.app, ["runs", "list", *out])
    assert path.name in listed.stdout
    assert "first" in listed.stdout
    assert " MRR@5=" in listed.stdout
    assert re.search(r"  \d{4}-\d\d-\d\d \d\d:\d\d UTC  ", listed.stdout)
    assert "not valid JSON" in listed.stdout
    shown = CliRunner().invoke(cli.app, ["runs", "show", path.name[:20], *out])
    assert "retrieve.bm25.k1" in shown.stdout
    assert "MRR@5" in shown.stdout
    assert f"report: {path}" in shown.stdout
    page = folder / "pages" / "zh.html"
    done = CliRunner().invoke(cli.app, ["report", str(path), "--lang", "zh", "--out", str(page)])
    assert done.exit_code == 0, done.output
    assert 'lang="zh' in page.read_text(encoding="utf-8")
    again = CliRunner().invoke(cli.app, ["report", str(path)])
    assert again.stdout == f"report: {path / 'report.html'}\n"
    taken = CliRunner().invoke(cli.app, ["report", str(path), "--out", str(folder)])
    assert (taken.exit_code, "cannot write" in taken.stderr) == (2, True)
    nothing = CliRunner().invoke(cli.app, ["runs", "list", "--out", str(folder / "none")])
    assert (nothing.exit_code, nothing.stdout) == (0, "")


def test_run_out_is_relative_to_the_configuration(folder):
    """``--out`` wins over it."""
    command = ["eval", str(folder / "eval.toml"), "--set", "run.out=kept"]
    assert CliRunner().invoke(cli.app, command).exit_code == 0
    assert len(list_runs(folder / "kept")) == 1
    assert CliRunner().invoke(cli.app, ["report"]).exit_code == 2


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_nothing(folder, stop):
    """Exit 130, at once, without a half-written folder and without a traceback."""
    sets = ["retrieve.use=python", "retrieve.python.target=stages:slow", "rerank.use=none"]
    rows = [{**_QUERIES[0], "query_id": f"q{number}"} for number in range(300)]
    _write_lines(folder / "eval.jsonl", rows)
    program = subprocess.Popen(
        [
            *[sys.executable, "-c", "from ragnostic.cli import main; main()"],
            *["eval", str(folder / "eval.toml"), "--out", str(folder / "runs"), *_sets(*sets)],
        ],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert program.stderr is not None
    assert any("retrieving" in line for line in iter(program.stderr.readline, ""))
    begun = time.monotonic()
    program.send_signal(stop)
    _, said = program.communicate(timeout=20)
    assert time.monotonic() - begun < 10
    assert (program.returncode, said) == (130, "interrupted; nothing was written\n")
    assert not (folder / "runs").exists()
