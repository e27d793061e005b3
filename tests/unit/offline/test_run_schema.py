"""Run folders of older versions take part in everything."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from ragnostic import cli
from ragnostic.offline.run_folder import list_runs, read_meta, read_run
from ragnostic.offline.run_schema import RUN_SCHEMA, upgraded_meta

OLD = Path(__file__).resolve().parents[2] / "data" / "run-schema-1"
"""Written by the first version: three queries, two stages."""


def test_an_old_folder_is_read_in_the_present_shape():
    """What the old version did not know is null; the rest is untouched, and so is the disk."""
    (folder,) = list_runs(OLD)
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    run = read_run(folder)
    assert run.meta["schema"] == read_meta(folder)["schema"] == RUN_SCHEMA
    assert (run.meta["sets"], run.meta["set_gaps"]) == (None, None)
    assert run.records["asked_sha256"].to_pylist() == [None] * 3
    assert run.stages == ("retrieve", "rerank")
    assert run.records["query_id"].to_pylist() == ["leave", "hotel", "parking"]
    assert run.stage_meta("rerank")["metrics"]["RR@4"]["mean"] == 1.0
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before


def test_a_present_run_json_is_left_as_it_is():
    """And the input is never changed."""
    meta = {"schema": RUN_SCHEMA, "sets": {"a": {}}}
    assert upgraded_meta(meta) == meta
    old = {"schema": 1}
    upgraded_meta(old)
    assert old == {"schema": 1}


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (["runs", "list", "--out", str(OLD)], "MRR@4=1.0000"),
        (["runs", "show", "2026", "--out", str(OLD)], "3 queries: 1 unanswerable"),
    ],
)
def test_commands_read_an_old_folder(command, shown):
    """Listed and shown as any other."""
    done = CliRunner().invoke(cli.app, command)
    assert (done.exit_code, done.stderr) == (0, "")
    assert shown in done.stdout


def test_the_report_of_an_old_folder_is_made_anew(tmp_path):
    """Under its own name."""
    page = tmp_path / "page.html"
    done = CliRunner().invoke(
        cli.app, ["report", "2026", "--runs", str(OLD), "--out", str(page), "--lang", "en"]
    )
    assert (done.exit_code, done.stderr) == (0, "")
    assert "20261130-215203-nogit-d81820f8" in page.read_text(encoding="utf-8")
