"""``ragnostic eval`` with gate rules: from the configuration to the exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ragnostic import cli
from ragnostic.offline.gate import judge_run
from ragnostic.offline.run_folder import list_runs, read_run

_COUNT = 60
_CONFIG = """
[dataset]
path = "eval.jsonl"
corpus = "corpus.jsonl"
[rerank]
use = "none"
[retrieve.python]
target = "gate_stages:planted"
[score]
metrics = ["RR@10", "Success@1"]
"""
_STAGES = """
def planted(query, k):
    number = int(query.removeprefix("topic"))
    others = [f"d{other}" for other in range(8) if other != number]
    place = 5 if number % 4 == 0 else 0
    return [*others[:place], f"d{number}", *others[place:]]
"""
_WORSE = ("--set", "retrieve.use=python")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Every gold at rank 1 by BM25; by the user's own function a quarter of it at rank 6."""
    folder = tmp_path_factory.mktemp("gate")
    numbers = range(_COUNT)
    documents = [{"_id": f"d{n}", "text": f"topic{n} and its words"} for n in numbers]
    queries = [{"query_id": f"q{n}", "query": f"topic{n}", "gold": [f"d{n}"]} for n in numbers]
    for name, rows in (("corpus.jsonl", documents), ("eval.jsonl", queries)):
        lines = "".join(f"{json.dumps(row)}\n" for row in rows)
        (folder / name).write_text(lines, encoding="utf-8")
    (folder / "eval.toml").write_text(_CONFIG, encoding="utf-8")
    (folder / "gate_stages.py").write_text(_STAGES, encoding="utf-8")
    assert _eval(folder, folder / "first").exit_code == 0
    next((folder / "first").iterdir()).rename(folder / "baseline")
    return folder


def _eval(folder: Path, out: Path, *arguments: str, config: str = "eval.toml") -> Result:
    command = ["eval", str(folder / config), "--out", str(out), *arguments]
    return CliRunner().invoke(cli.app, command)


def _gate(folder: Path, text: str) -> str:
    (folder / "gate.toml").write_text(f"{_CONFIG}[gate]\n{text}", encoding="utf-8")
    return "gate.toml"


def test_without_rules_nothing_is_judged(folder, tmp_path):
    """A baseline alone is no gate, which is said."""
    done = _eval(folder, tmp_path, "--json", "--baseline", "nowhere")
    assert done.exit_code == 0, done.output
    assert "warning: there are no gate rules, so --baseline and --strict judge" in done.stderr
    assert set(json.loads(done.stdout)) == {"run", "stages"}


def test_absolute_rules_of_the_configuration_need_no_baseline(folder, tmp_path):
    """The verdict stands under the table; the report is still the last line."""
    config = _gate(folder, 'rules = ["abs:RR@10 >= 0.9", "abs:Success@1{worst:length} > 0.5"]')
    done = _eval(folder, tmp_path, config=config)
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[-2:] == ["gate: PASS", f"report: {list_runs(tmp_path)[0] / 'report.html'}"]
    assert "abs:Success@1{worst:length} > 0.5: ≤3 decides" in lines


def test_a_planted_regression_fails_after_the_run_is_written(folder, tmp_path):
    """Gold from rank 1 to 6 on a quarter of the queries; the JSON holds every rule."""
    rules = ("--gate", "mrr@10 >= -0.02", "--gate", "lost <= 0.1")
    baseline = ("--baseline", str(folder / "baseline"))
    done = _eval(folder, tmp_path, *_WORSE, *rules, *baseline, "--json")
    assert done.exit_code == 1, done.output
    gate = json.loads(done.stdout)["gate"]
    assert gate["verdict"] == "FAIL"
    assert [rule["rule"] for rule in gate["rules"]] == ["RR@10 >= -0.02", "lost <= 0.1"]
    assert [rule["value"] for rule in gate["rules"]] == pytest.approx([-0.25 * 5 / 6, 0.25])
    (run,) = list_runs(tmp_path)
    assert json.loads(done.stdout)["run"] == str(run)
    assert judge_run(read_run(run), ["lost <= 0.1"], folder / "baseline").gate.verdict == "FAIL"


def test_the_baseline_of_the_configuration_is_relative_to_it(folder, tmp_path):
    """An id below ``--out`` works too, and the option goes before the setting."""
    config = _gate(folder, 'rules = ["RR@10 >= -0.02"]\nbaseline = "baseline"')
    assert _eval(folder, tmp_path, config=config).exit_code == 0
    assert _eval(folder, tmp_path, *_WORSE, config=config).exit_code == 1
    (worse,) = [run for run in list_runs(tmp_path) if run.name.endswith(_hash_of_worse(tmp_path))]
    done = _eval(folder, tmp_path, *_WORSE, "--baseline", worse.name, config=config)
    assert done.exit_code == 0, done.output
    config = _gate(folder, f'rules = ["RR@10 >= -0.02"]\nbaseline = "{worse.name}"')
    assert _eval(folder, tmp_path, *_WORSE, config=config).exit_code == 0


def _hash_of_worse(out: Path) -> str:
    (found,) = [
        run.name.rpartition("-")[2]
        for run in list_runs(out)
        if read_run(run).meta["settings"]["retrieve"]["use"] == "python"
    ]
    return found


def test_queries_that_only_one_run_has_are_listed(folder, tmp_path):
    """Under the gate and in the JSON: an evaluation set that shrank shows."""
    lines = (folder / "eval.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    new = json.dumps({"query_id": "new", "query": "topic1", "gold": ["d1"]})
    (folder / "fewer.jsonl").write_text("".join(lines[4:]) + new, encoding="utf-8")
    fewer = ("--set", "dataset.path=fewer.jsonl", "--gate", "RR@10 >= -0.02")
    baseline = ("--baseline", str(folder / "baseline"))
    done = _eval(folder, tmp_path, *fewer, *baseline)
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[-4:-1] == [
        "gate: PASS",
        "4 queries only in the base, not compared: q0, q1, q2, q3",
        "1 query only in the candidate, not compared: new",
    ]
    done = _eval(folder, tmp_path, *fewer, *baseline, "--json")
    assert json.loads(done.stdout)["queries"] == {
        "shared": 56,
        "unjudged": [],
        "only_base": ["q0", "q1", "q2", "q3"],
        "only_candidate": ["new"],
        "missing": {"base": [], "candidate": []},
    }


def test_an_inconclusive_gate_fails_only_where_it_is_asked_to(folder, tmp_path):
    """By the option or by the setting; 60 queries cannot show a share of 0.98."""
    rule = 'rules = ["abs:Success@1 >= 0.98"]\n'
    assert _eval(folder, tmp_path, config=_gate(folder, rule)).exit_code == 0
    done = _eval(folder, tmp_path, "--strict", config=_gate(folder, rule))
    assert done.exit_code == 5
    assert "gate: INCONCLUSIVE" in done.stdout
    assert _eval(folder, tmp_path, config=_gate(folder, f"{rule}strict = true")).exit_code == 5


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--gate", "RR@10 >= -0.02"), "is about a change, and no baseline is named"),
        (("--gate", "RR@10 >= -0.02", "--baseline", "nowhere"), "no run 'nowhere'"),
        (("--gate", "RR@9 >= -0.02"), "RR@9 is not measured"),
        (("--gate", "abs:RR@10 >= 90 %"), "bounds are no percentages"),
        (("--set", "gate.rules=lost < 0"), "no baseline is named"),
    ],
)
def test_what_cannot_be_judged_is_refused_before_anything_runs(folder, tmp_path, arguments, said):
    """No run folder is written, and nothing was retrieved."""
    done = _eval(folder, tmp_path, *arguments)
    assert done.exit_code == 2
    assert said in done.stderr
    assert "retrieving" not in done.stderr
    assert list_runs(tmp_path) == []


def test_what_shows_only_in_the_run_is_refused_and_the_run_is_kept(folder, tmp_path):
    """A slice that no query is in; a baseline that asked something else."""
    done = _eval(folder, tmp_path, "--gate", "abs:RR@10{length=≥12} >= 0.5")
    assert done.exit_code == 2
    (run,) = list_runs(tmp_path)
    assert "no query has length = ≥12" in done.stderr
    assert f"not judged; the run is in {run}" in done.stderr
    other = {"query_id": "q1", "query": "topic1", "gold": ["d2"]}
    (folder / "other.jsonl").write_text(json.dumps(other), encoding="utf-8")
    moved = ("--set", "dataset.path=other.jsonl", "--gate", "lost <= 0.1")
    done = _eval(folder, tmp_path, *moved, "--baseline", str(folder / "baseline"))
    assert done.exit_code == 2, done.output
    assert "not judged; the run is in" in done.stderr
