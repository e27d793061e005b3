"""The GitHub Action and the CI recipes: their steps are really run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = [step for step in ACTION["runs"]["steps"] if "run" in step]
EXPRESSION = re.compile(r"\$\{\{ *(.+?) *\}\}")
CONFIG = """
[dataset]
path = "eval.jsonl"
corpus = "corpus.jsonl"
[rerank]
use = "none"
[score]
metrics = ["RR@5", "Success@1"]
[retrieve.python]
target = "stages:planted"
"""
STAGES = """
def planted(query, k):
    number = int(query.removeprefix("topic"))
    others = [f"d{other}" for other in range(8) if other != number]
    place = 4 if number % 3 == 0 else 0
    return [*others[:place], f"d{number}", *others[place:]]
"""
COUNT = 60


def evaluate(folder: Path, *arguments: str) -> None:
    """``ragnostic eval`` in a process of its own."""
    command = [sys.executable, "-m", "ragnostic", "eval", "eval.toml", *arguments]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory) -> Path:
    """A repository of a user, with a baseline."""
    folder = tmp_path_factory.mktemp("workspace")
    numbers = range(COUNT)
    documents = [{"_id": f"d{n}", "text": f"topic{n} and its words"} for n in numbers]
    queries = [{"query_id": f"q{n}", "query": f"topic{n}", "gold": [f"d{n}"]} for n in numbers]
    for name, rows in (("corpus.jsonl", documents), ("eval.jsonl", queries)):
        lines = "".join(f"{json.dumps(row)}\n" for row in rows)
        (folder / name).write_text(lines, encoding="utf-8")
    (folder / "eval.toml").write_text(CONFIG, encoding="utf-8")
    worse = f'{CONFIG}\n[retrieve]\nuse = "python"\n'
    (folder / "worse eval.toml").write_text(worse, encoding="utf-8")
    (folder / "stages.py").write_text(STAGES, encoding="utf-8")
    evaluate(folder, "--out", "first")
    next((folder / "first").iterdir()).rename(folder / "baseline")
    return folder


@dataclass
class Runner:
    """What GitHub does with the bash steps of a composite action, on one machine."""

    workspace: Path
    temporary: Path
    inputs: dict[str, str]
    outputs: dict[str, str] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """What the steps have written for the page of the job."""
        return (self.temporary / "summary").read_text(encoding="utf-8")

    def run(self) -> int:
        """Run the steps after the installation; the exit code of the first that fails."""
        for step in STEPS[1:]:
            code = self._step(step)
            if code:
                return code
        return 0

    def _step(self, step: dict) -> int:
        files = {name: self.temporary / name.lower() for name in ("OUTPUT", "SUMMARY")}
        values = {name: EXPRESSION.sub(self._value, text) for name, text in step["env"].items()}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.workspace,
            env=environment()
            | values
            | {
                "GITHUB_OUTPUT": str(files["OUTPUT"]),
                "GITHUB_STEP_SUMMARY": str(files["SUMMARY"]),
                "RUNNER_TEMP": str(self.temporary),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        if files["OUTPUT"].exists():
            lines = files["OUTPUT"].read_text(encoding="utf-8").splitlines()
            self.outputs |= dict(line.split("=", 1) for line in lines)
        print(done.stdout)  # noqa: T201 - shown where the test fails
        return done.returncode

    def _value(self, found: re.Match[str]) -> str:
        where, _, name = found[1].rpartition(".")
        known = {"inputs": self.inputs, "steps.evaluate.outputs": self.outputs}
        return known[where][name]


def environment() -> dict[str, str]:
    """Ours, with the program of this interpreter on the path."""
    return os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


@pytest.fixture
def runner(workspace, tmp_path):
    """Makes a runner whose inputs are the defaults and what is given."""
    defaults = {name: of.get("default", "") for name, of in ACTION["inputs"].items()}

    def make(**inputs: str) -> Runner:
        return Runner(workspace, tmp_path, defaults | {"out": str(tmp_path / "runs")} | inputs)

    return make


def test_no_value_of_a_user_is_text_of_a_script():
    """Expressions stand in ``env`` and ``with`` only; every variable of a script is in its env."""
    for step in STEPS:
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"
    texts = [text for step in ACTION["runs"]["steps"] for text in step.get("env", {}).values()]
    texts += [text for step in ACTION["runs"]["steps"] for text in step.get("with", {}).values()]
    used = {found for text in texts for found in re.findall(r"inputs\.([\w-]+)", text)}
    assert used == set(ACTION["inputs"])


def test_a_run_that_keeps_to_all_rules_passes(runner):
    """Exit 0; the summary holds the verdict, the tables and the comparison."""
    action = runner(
        config="eval.toml",
        baseline="baseline",
        gates="\n  RR@5 >= -0.02 \r\nlost <= 0.1\n\nabs:Success@1{worst:length} >= 0.8",
    )
    assert action.run() == 0
    assert action.outputs["verdict"] == "PASS"
    assert (Path(action.outputs["run"]) / "report.html").is_file()
    assert action.summary.startswith("## Retrieval gate: PASS\n")
    assert re.search(r"\nabs:Success@1\{worst:length\} >= 0.8 +PASS ", action.summary)
    assert "## Retrieval comparison" in action.summary


def test_a_planted_regression_fails_and_is_shown(runner):
    """Exit 1 at the end, after the summary; the queries that were lost are in it."""
    gates = "RR@5 >= -0.02\nlost <= 0.1"
    action = runner(config="worse eval.toml", baseline="baseline", gates=gates)
    assert action.run() == 1
    assert action.outputs["verdict"] == "FAIL"
    assert action.summary.startswith("## Retrieval gate: FAIL\n")
    assert re.search(r"\nRR@5 >= -0.02 +FAIL ", action.summary)
    assert "Biggest losses" in action.summary
    assert "topic27" in action.summary


def test_without_a_baseline_only_absolute_rules_are_judged_and_the_others_named(runner):
    """The first run of a project; an inconclusive verdict fails where it is asked to."""
    gates = "lost <= 0.1\nabs:Success@1 >= 0.98"
    action = runner(config="eval.toml", gates=gates, strict="true")
    assert action.run() == 5
    assert action.outputs["verdict"] == "INCONCLUSIVE"
    assert "\nnot judged, there is no baseline: lost <= 0.1\n" in action.summary
    assert "## Retrieval comparison" not in action.summary


def test_a_fault_of_the_configuration_ends_the_first_step(runner):
    """No run, no summary, the program's own exit code; nothing of the input is run by bash."""
    action = runner(config="$(touch hacked).toml", gates="abs:RR@5 >= 0.5 $(touch hacked)")
    assert action.run() == 2
    assert action.outputs == {"run": "", "verdict": "", "code": "2"}
    assert not (action.workspace / "hacked").exists()


def recipe(language: str, title: str) -> str:
    """A file of the page about CI."""
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    return page.partition(f'```{language} title="{title}"\n')[2].partition("\n```")[0]


def test_the_example_workflow_uses_what_the_action_has():
    """Its inputs and outputs, and no expression inside a script."""
    workflow = yaml.safe_load(recipe("yaml", ".github/workflows/retrieval.yml"))
    steps = workflow["jobs"]["gate"]["steps"]
    (used,) = [step for step in steps if "ragnostic" in step.get("uses", "")]
    assert set(used["with"]) <= set(ACTION["inputs"])
    for name in re.findall(r"steps\.gate\.outputs\.(\w+)", json.dumps(steps)):
        assert name in ACTION["outputs"]
    assert all("${{" not in step.get("run", "") for step in steps)


@pytest.mark.parametrize("has_baseline", [False, True])
def test_the_gitlab_recipe_runs(workspace, tmp_path, has_baseline):
    """Its script, from the evaluation on, once without and once with a baseline."""
    for name in ("corpus.jsonl", "eval.jsonl", "stages.py", "eval.toml"):
        (tmp_path / name).write_bytes((workspace / name).read_bytes())
    if has_baseline:
        (tmp_path / "baseline").mkdir()
        for file in (workspace / "baseline").iterdir():
            (tmp_path / "baseline" / file.name).write_bytes(file.read_bytes())
    (install, *script) = yaml.safe_load(recipe("yaml", ".gitlab-ci.yml"))[".retrieval"]["script"]
    assert install.startswith("pip install ")
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", "\n".join(script)],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert ("lost <= 0.05" in done.stdout) == has_baseline
    assert (tmp_path / "baseline" / "run.json").is_file()
