"""What ``ragnostic compare`` prints and writes is pinned; ``UPDATE_GOLDEN=1`` writes it anew."""

from __future__ import annotations

import os
import runpy
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ragnostic import cli

HERE = Path(__file__).parent
MADE = runpy.run_path(str(HERE.parent / "unit" / "offline" / "compared_run.py"))
RULES = ["RR@10 >= -0.02", "abs:R@10 >= 0.9", "lost <= 0.5", "RR@10{worst:category} >= -0.05"]


def pin(name: str, text: str) -> None:
    """Compare with the golden file, or write it."""
    path = HERE / name
    if os.environ.get("UPDATE_GOLDEN") == "1":
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8"), f"{name} differs; UPDATE_GOLDEN=1 rewrites it"


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    """Thirty queries: the candidate loses on three, wins on one, lacks one, has one more."""
    out = tmp_path_factory.mktemp("golden")
    good, gold = MADE["planted"](30, [4])
    bad, more = MADE["planted"](31, [10, 15, 20])
    bad["q0007"] = None
    more.pop("q0000")
    texts = {query: f"年假 question {query[-2:]}" for query in more}
    columns = {"category": {f"q{n:04d}": ("hr", "it", "law")[n % 3] for n in range(31)}}
    same = {"columns": columns, "queries": texts}
    one = MADE["compared_run"]("one", good, gold, **same | {"queries": texts | {"q0000": "x"}})
    changed = {"retrieve": {"use": "dense", "top_k": 10}, "chunk": {"by": "markdown"}}
    two = MADE["compared_run"]("two", bad, more, settings=changed, corpus="5e7", **same)
    for run in (one, two):
        MADE["saved"](run, out / "runs")
    return out


def said(runs: Path, *options: str) -> str:
    """What the command prints; a failed gate is what is expected."""
    gates = [word for rule in RULES for word in ("--gate", rule)]
    arguments = ["compare", "one", "two", "--runs", str(runs / "runs"), *gates, *options]
    result = CliRunner().invoke(cli.app, arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_terminal_output_is_as_pinned(runs):
    """Verdict, tables, announcements, losses and gains, queries left aside."""
    pin("compare.txt", said(runs))


def test_the_json_is_as_pinned(runs):
    """Every member and every digit."""
    pin("compare.json", said(runs, "--json"))


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_markdown_is_as_pinned(runs, language):
    """What a CI page shows."""
    target = runs / f"{language}.md"
    said(runs, "--markdown", str(target), "--lang", language)
    pin(f"compare.{language}.md", target.read_text("utf-8"))
