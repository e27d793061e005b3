"""``ragnostic runs`` where something is missing, damaged or hostile."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ragnostic import cli

past_run = runpy.run_path(str(Path(__file__).parents[1] / "offline" / "past_runs.py"))["past_run"]


def _run(out, *arguments):
    done = CliRunner().invoke(cli.app, ["runs", *arguments, "--out", str(out)])
    assert done.exit_code == 0, done.output
    return done


@pytest.fixture
def out(tmp_path):
    """A good run, one of another judge, one that is damaged, one that does not say what it asked,
    a newer one that lacks a metric.
    """
    past_run(tmp_path, 1, [1, 2, None], name="set\u202e1")
    past_run(tmp_path, 2, [1, 1, 1], overlap=0.9)
    (past_run(tmp_path, 3, [1]) / "run.json").write_text("{")
    (past_run(tmp_path, 4, [1]) / "run.json").write_text('{"schema": 1}')
    past_run(tmp_path, 5, [1, 2, None], metrics=("Success@1", "R@9"))
    return tmp_path


def test_a_damaged_run_is_listed_with_its_reason(out):
    """The others stand beside it; JSON says the same."""
    lines = _run(out, "list").stdout.splitlines()
    assert len(lines) == 6
    assert "not valid JSON" in lines[3]
    assert "set⟨U+202E⟩1" in lines[1]
    found = json.loads(_run(out, "list", "--json").stdout)["runs"]
    assert "not valid JSON" in found[2]["error"]
    assert found[0]["evaluation_set"]["queries"] == 3


def test_an_empty_folder_says_so(tmp_path):
    """On stderr, exit 0; best, trend and easy have nothing to say: exit 2."""
    assert "holds no runs" in _run(tmp_path, "list").stderr
    assert json.loads(_run(tmp_path, "list", "--json").stdout) == {"runs": []}
    for command in (["best", "RR@5"], ["trend"], ["easy"]):
        done = CliRunner().invoke(cli.app, ["runs", *command, "--out", str(tmp_path)])
        assert done.exit_code == 2
        assert "holds no runs of an evaluation set" in done.stderr


def test_what_does_not_take_part_is_named(out):
    """Each with its reason, on stderr."""
    text = _run(out, "trend").stderr
    assert "20260303-090000-nogit-00000003 cannot be read" in text
    assert "1 run left out that do not say what was asked: 20260304" in text
    assert "left out, measured otherwise than the newest (judge, overlap, missing): 202603" in text


def test_a_trend_shows_a_dash_where_a_run_has_no_value(out):
    """And of a metric that no run has nothing is made up."""
    table = _run(out, "trend", "--metrics", "mrr@5,top1").stdout
    rows = [line for line in table.splitlines() if line.startswith("20260305")]
    assert rows[0].split()[5:7] == ["–", "–"]
    assert "no turn: no change that chance does not explain" in table
    assert "1 query with a relevant first result in the last 2 runs" in table


def test_a_single_query_has_a_mean_and_no_interval(tmp_path):
    """Best of one run: no second, nothing compared; nothing is easy."""
    past_run(tmp_path, 1, [2])
    assert "difference" not in _run(tmp_path, "best", "RR@5").stdout
    text = _run(tmp_path, "trend").stdout
    assert "0.5000" in text
    assert "turn" not in text
    assert "relevant first result" not in text
    easy = _run(tmp_path, "easy").stdout
    assert easy.endswith("0 of 1 queries have a relevant first result in the last 1 run\n")


def test_a_lead_that_the_queries_do_not_bear_out_is_said(tmp_path):
    """Two runs that chance tells apart: no claim is made."""
    past_run(tmp_path, 1, [1, 2, 3])
    past_run(tmp_path, 2, [1, 1, 3])
    text = _run(tmp_path, "best", "RR@5").stdout
    assert "cannot tell the two apart" in text
