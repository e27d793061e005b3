"""The pytest plugin, in sessions of its own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONFIG = """
[dataset]
path = "eval.jsonl"
corpus = "corpus.jsonl"
[rerank]
use = "none"
[score]
metrics = ["RR@5", "Success@1"]
"""
STAGES = """
def planted(query, k):
    number = int(query.split()[1])
    others = [f"d{other}" for other in range(8) if other != number]
    place = 5 if number % 4 == 0 else 0
    return [*others[:place], f"d{number}", *others[place:]]
"""
TESTS = """
import sys
import pytest
from ragnostic.pytest_plugin import InconclusiveGateWarning, UnpairedQueriesWarning
from ragnostic.pytest_plugin import assert_gate, assert_no_regression

WORSE = ["retrieve.use=python", "retrieve.python.target=stages:planted"]

@pytest.fixture
def worse(ragnostic_eval):
    return ragnostic_eval("eval.toml", sets=WORSE, out="runs")

def test_the_same_arguments_run_once(ragnostic_eval):
    run = ragnostic_eval("eval.toml")
    assert ragnostic_eval("eval.toml") == run
    assert "runs" not in run.parts  # a temporary folder
    assert_no_regression(run, "baseline", gates=["RR@5 >= 0", "lost <= 0.2"])

def test_rules_that_fail(worse):
    assert_no_regression(worse, "baseline", gates=["RR@5 >= -0.02", "lost <= 0.9"])

def test_the_rule_of_its_own(worse):
    assert_no_regression(worse, "baseline")

def test_values(worse):
    assert_gate(worse, ["abs:RR@5{category=人事} >= 0.99"])

def test_a_baseline_is_found_beside_the_run(worse):
    assert_no_regression(worse, worse.name, gates=["RR@5 >= 0"])

def test_inconclusive(worse):
    with pytest.warns(InconclusiveGateWarning, match="more queries would tell"):
        assert_gate(worse, ["abs:RR@5 >= 0.75"])

def test_strict(worse):
    assert_gate(worse, ["abs:RR@5 >= 0.75"], strict=True)

def test_a_pass_names_what_it_leaves_out(ragnostic_eval):
    run = ragnostic_eval("eval.toml", sets="dataset.path=fewer.jsonl")
    with pytest.warns(UnpairedQueriesWarning, match="2 queries only in the base.*: q0, q1\\n"):
        assert_no_regression(run, "baseline", gates="RR@5 >= 0")

def test_a_failure_names_what_it_leaves_out(ragnostic_eval):
    run = ragnostic_eval("eval.toml", sets=[*WORSE, "dataset.path=fewer.jsonl"])
    with pytest.raises(AssertionError, match="2 queries only in the base, not compared: q0, q1"):
        assert_no_regression(run, "baseline", gates="RR@5 >= 0")

def test_one_rule_without_a_list(worse):
    assert_gate(worse, "abs:RR@5 >= 0.1")

def test_a_run_in_the_configured_folder(ragnostic_eval):
    assert ragnostic_eval("eval.toml", sets=["run.out=kept"]).parent.name == "kept"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A project with a baseline; every fourth query loses its gold from rank 1 to 6."""
    folder = tmp_path_factory.mktemp("project")
    numbers = range(40)
    categories = ("人事", "it")
    documents = [{"_id": f"d{n}", "text": f"topic {n} 年假"} for n in numbers]
    queries = [
        {
            "query_id": f"q{n}",
            "query": f"topic {n}",
            "gold": [f"d{n}"],
            "category": categories[n % 2],
        }
        for n in numbers
    ]
    for name, rows in (("corpus.jsonl", documents), ("eval.jsonl", queries)):
        lines = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
        (folder / name).write_text(lines, encoding="utf-8")
    fewer = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in queries[2:])
    (folder / "fewer.jsonl").write_text(fewer, encoding="utf-8")
    (folder / "eval.toml").write_text(CONFIG, encoding="utf-8")
    (folder / "stages.py").write_text(STAGES, encoding="utf-8")
    command = [sys.executable, "-m", "ragnostic", "eval", "eval.toml", "--out", "first"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    next((folder / "first").iterdir()).rename(folder / "baseline")
    return folder


def run_pytest(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A session in a process of its own, without our own settings."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-rfE",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:randomly",
    ]
    return subprocess.run(
        [*command, "--rootdir", str(folder), *arguments],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_gates_pass_fail_and_warn_as_tests(folder):
    """A failure shows the table and the lost queries with their texts, and no traceback of ours."""
    (folder / "test_gates.py").write_text(TESTS, encoding="utf-8")
    done = run_pytest(folder, "test_gates.py")
    said = done.stdout
    assert done.returncode == 1, said + done.stderr
    assert re.search(r"\n=+ 4 failed, 7 passed in ", said), said
    failed = set(re.findall(r"^FAILED test_gates.py::(\w+)", said, re.MULTILINE))
    own_rule = "test_the_rule_of_its_own"
    assert failed == {"test_rules_that_fail", own_rule, "test_values", "test_strict"}, said
    assert re.search(
        r"^E +RR@5 >= -0.02 +FAIL +−0.2500 +\[−0.\d+, −0.\d+\] +40$", said, re.MULTILINE
    )
    assert re.search(r"^E +q16 +1.0000 → 0.0000 +topic 16$", said, re.MULTILINE)
    assert re.search(r"^E +report: .*/report.html$", said, re.MULTILINE)
    assert "pytest_plugin.py" not in said
    values = said.partition("_ test_values _")[2].partition("_ test_strict _")[0]
    assert "worst queries of abs:RR@5{category=人事} >= 0.99 (RR@5):" in values
    assert re.search(r"^E +q8 +0.0000 +topic 8$", values, re.MULTILINE)
    assert "topic 15" not in values


def test_the_recipe_of_the_page_about_ci_works(folder):
    """The file as it stands there."""
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    recipe = page.partition('```python title="test_retrieval.py"\n')[2].partition("\n```")[0]
    (folder / "test_retrieval.py").write_text(recipe, encoding="utf-8")
    done = run_pytest(folder, "test_retrieval.py")
    assert done.returncode == 0, done.stdout
    assert re.search(r"\n=+ 2 passed", done.stdout)


def test_the_plugin_costs_a_session_nothing_until_it_is_used(folder):
    """Every project of the environment loads it: of us only the package and the plugin itself."""
    text = """
import sys
def test_modules():
    loaded = {name for name in sys.modules if name.partition(".")[0] == "ragnostic"}
    assert loaded == {"ragnostic", "ragnostic.pytest_plugin"}
    assert "pyarrow" not in sys.modules
"""
    (folder / "test_light.py").write_text(text, encoding="utf-8")
    done = run_pytest(folder, "test_light.py")
    assert done.returncode == 0, done.stdout
