"""What decisions claim and no other test holds."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ragnostic import cli
from ragnostic.offline.run_folder import RECORDS, SCORES, list_runs

ROOT = Path(__file__).resolve().parents[3]
CONFIG = """
[dataset]
path = "eval.jsonl"
corpus = "corpus.jsonl"
[rerank]
use = "none"
[score]
metrics = ["nDCG@5", "RR@5", "R@5"]
"""
TEXTS = {"leave": "annual leave is twenty days", "pay": "paid within a month", "sick": "sick leave"}


def test_every_dependency_has_its_reason():
    """Decision 010 has a row for each runtime package and each extra, and no other."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    needed = [*project["dependencies"], *(line for extra in extras for line in extra)]
    names = {re.split(r"[>=<\[ ]", line)[0] for line in needed}
    text = (ROOT / "docs/decisions/010-dependencies.md").read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| ([\w.-]+)(?: \(extra `\w+`\))? \| (?!why|---)", text, re.MULTILINE))
    assert rows == names


def test_records_of_a_run_score_as_the_run_did(tmp_path):
    """Decision 005: the same rows, whether just made or read from a file."""
    rows = [{"_id": name, "text": text} for name, text in TEXTS.items()]
    asked = [
        {"query_id": "q1", "query": "annual leave", "gold": [{"id": "sick"}, {"id": "leave"}]},
        {"query_id": "q2", "query": "month", "gold": ["pay", "gone"]},
        {"query_id": "q3", "query": "leave", "answerable": False},
    ]
    for name, lines in (("corpus.jsonl", rows), ("eval.jsonl", asked)):
        (tmp_path / name).write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    (tmp_path / "eval.toml").write_text(CONFIG, encoding="utf-8")
    command = ["eval", str(tmp_path / "eval.toml"), "--out", str(tmp_path / "runs"), "--json"]
    made = json.loads(CliRunner().invoke(cli.app, command).stdout)["stages"]["retrieve"]
    (folder,) = list_runs(tmp_path / "runs")
    assert (folder / SCORES).is_file()
    command = ["score", "--records", str(folder / RECORDS), "--metrics", "nDCG@5,RR@5,R@5"]
    read = json.loads(CliRunner().invoke(cli.app, [*command, "--json"]).stdout)
    assert read["metrics"] == made["metrics"]
    assert read["Judged@5"] == pytest.approx(made["Judged@5"])
