"""The compare command, inside the process."""

from __future__ import annotations

import csv
import json
import runpy
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ragnostic import cli

MADE = runpy.run_path(str(Path(__file__).parents[1] / "offline" / "compared_run.py"))
QRELS = "q1 0 a 1\nq2 0 b 1\nq3 0 c 1\n"
ONE = "q1 Q0 a 1 2 t\nq2 Q0 x 1 2 t\nq2 Q0 b 2 1 t\nq3 Q0 c 1 1 t\n"
TWO = "q1 Q0 x 1 2 t\nq1 Q0 a 2 1 t\nq2 Q0 b 1 1 t\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Two run files and their qrels, in the current folder."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("qrels.txt", QRELS), ("one.txt", ONE), ("two.txt", TWO)):
        (tmp_path / name).write_text(text)
    return ["one.txt", "two.txt", "--qrels", "qrels.txt", "--metrics", "RR@5"]


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Three run folders of forty queries: one, two (worse on eight), three (better on none)."""
    monkeypatch.chdir(tmp_path)
    columns = {"category": {f"q{n:04d}": ("hr", "it")[n % 2] for n in range(40)}}
    for name, worse, settings in (
        ("one", (), {"report": {"language": "en"}}),
        ("two", range(0, 40, 5), {"report": {"language": "en"}, "retrieve": {"use": "dense"}}),
        ("three", (), {f"part{n}": {"x": n} for n in range(40)}),
    ):
        rankings, gold = MADE["planted"](40, worse)
        run = MADE["compared_run"](name, rankings, gold, columns=columns, settings=settings)
        MADE["saved"](run, tmp_path / "runs")
    return tmp_path


def compare(*arguments, code=0):
    """The command's result; its exit code is checked."""
    result = CliRunner().invoke(cli.app, ["compare", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result


def test_run_files_are_compared_with_their_qrels(files):
    """Warnings on stderr, the rest in order; JSON is the same as the Python result's."""
    result = compare(*files)
    lines = result.stdout.splitlines()
    assert lines[:3] == [
        "base: one.txt",
        "candidate: two.txt",
        "cannot tell on 1 of 1 metric (3 shared queries, retrieve)",
    ]
    assert lines[-1] == "1 query without results in the candidate: q3"
    assert "two.txt: 1 judged query is missing from the run: q3" in result.stderr
    found = json.loads(compare(*files, "--json").stdout)
    assert found["queries"]["missing"]["candidate"] == ["q3"]
    assert found["metrics"]["RR@5"]["n"] == 3


def test_missing_and_score_order_are_handed_on(files):
    """As score has them."""
    found = json.loads(compare(*files, "--missing", "skip", "--json").stdout)
    assert found["metrics"]["RR@5"]["n"] == 2
    turned = json.loads(compare(*files, "--score-order", "distance", "--json").stdout)
    assert turned["metrics"]["RR@5"]["candidate"] == pytest.approx(2 / 3)


def test_several_files_of_a_side_are_repeats(files):
    """Separated by commas; a file whose name holds one is itself."""
    found = json.loads(compare("one.txt, two.txt", *files[1:], "--json").stdout)
    assert found["base"]["name"] == "one.txt + two.txt"
    Path("a,b.txt").write_text(ONE)
    assert json.loads(compare("a,b.txt", *files[1:], "--json").stdout)["base"]["name"] == "a,b.txt"


def test_too_many_bad_rows_are_refused(files):
    """Of any of the files; the share may be raised."""
    Path("two.txt").write_text(f"{TWO}broken\n")
    assert "1 of 4 rows cannot be used" in compare(*files, code=3).stderr
    compare(*files, "--bad-rows", "0.5")


@pytest.mark.parametrize("name", ["one", "runs/one", "on"])
def test_a_run_is_found_by_folder_id_or_beginning(runs, name):
    """Below --runs."""
    assert compare(name, "two").stdout.startswith("base: one\n")
    assert compare("one", "two", "--runs", runs / "runs").stdout.startswith("base: one\n")


def test_the_gate_decides_the_exit_code(runs):
    """FAIL is 1; undecided is 5 with --strict; what is written is written in any case."""
    result = compare("one", "two", "--gate", "RR@10 >= -0.02", "--markdown", "s.md", code=1)
    assert "gate: FAIL" in result.stdout
    assert "written: s.md" in result.stdout
    assert "### Gate: FAIL" in Path("s.md").read_text(encoding="utf-8")
    compare("two", "one", "--gate", "RR@10 >= -0.02", "--strict")
    compare("one", "two", "--gate", "RR@10 >= -0.2")
    compare("one", "two", "--gate", "RR@10 >= -0.2", "--strict", code=5)
    assert "needs a rule" in compare("one", "two", "--strict", code=2).stderr


def test_everything_that_is_known_is_shown(runs):
    """Metrics, gate, announcements, settings, slices, losses with ranks."""
    lines = compare("one", "two").stdout.splitlines()
    assert "  the retriever differs: retrieve.bm25.k1: 1.2 → –; retrieve.top_k" not in lines
    assert any("top_k differs: retrieve.top_k: 10 → –" in line for line in lines)
    assert any(line.startswith("retrieve.use") and line.endswith("dense") for line in lines)
    assert any(line.startswith("category=hr") for line in lines)
    assert any(line.startswith("q0005") and "rank 1 → 6" in line for line in lines)
    assert "biggest losses by MRR@10: 5 of 8" in lines
    assert "biggest gains by MRR@10: 5 of 8" in compare("two", "one").stdout.splitlines()


def test_long_lists_are_cut_and_counted(runs):
    """Settings, for example."""
    assert "… and 11 more" in compare("one", "three").stdout


def test_pages_speak_the_language_of_the_candidate(runs):
    """Unless another is asked for."""
    for options, said in (((), "comparison"), (("--lang", "zh"), "检索对比")):
        compare("one", "two", "--html", "out/c.html", "--markdown", "s.md", *options)
        assert said in Path("out/c.html").read_text(encoding="utf-8")
        assert said in Path("s.md").read_text(encoding="utf-8")
    compare("one", "three", "--markdown", "s.md")
    assert "检索对比" in Path("s.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("option", ["--markdown", "--html", "--per-query"])
def test_stdout_is_no_file(runs, option):
    """The table is printed there."""
    assert f"{option} - names no file" in compare("one", "two", option, "-", code=2).stderr
    assert not Path("-").exists()


def test_values_of_every_query_go_to_a_file(runs):
    """Both sides and their difference; a formula stays text."""
    compare("one", "two", "--per-query", "v.csv", "--metrics", "RR@10")
    with Path("v.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 40
    assert rows[5]["query_id"] == "q0005"
    assert float(rows[5]["difference RR@10"]) == pytest.approx(-5 / 6)
    Path("q.txt").write_text("=1+1 0 a 1\n")
    Path("r.txt").write_text("=1+1 Q0 a 1 1 t\n")
    compare("r.txt", "r.txt", "--qrels", "q.txt", "--metrics", "RR@5", "--per-query", "v.csv")
    assert "\n'=1+1," in Path("v.csv").read_text(encoding="utf-8-sig").replace("\r", "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("one", "four"), "no run 'four' in runs"),
        (("one,", "two"), "names an empty run"),
        (("one", "two", "--metrics", "AP"), "there is no AP to compare: one has RR@10, R@10"),
        (("one", "two", "--stage", "rerank"), "one has no stage 'rerank'"),
        (("one", "two", "--gate", "AP"), "has no bound"),
        (("one", "two", "--per-query", "v.txt"), "unknown suffix"),
        (("one", "two", "--markdown", "runs"), "cannot write runs"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(runs, arguments, said):
    """With a message, exit code 2."""
    assert said in compare(*arguments, code=2).stderr


def test_another_gold_is_refused(runs):
    """Both runs and the ids are named."""
    rankings, gold = MADE["planted"](40)
    other = MADE["compared_run"]("other", rankings, gold | {"q0007": ["z"]})
    MADE["saved"](other, runs / "runs")
    said = compare("one", "other", code=2).stderr
    assert said.startswith("one and other cannot be compared:\n    1 shared query has another gold")
    assert "q0007" in said
