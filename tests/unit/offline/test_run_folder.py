"""Run folders are complete or not there."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from ragnostic.errors import DataError, UsageError
from ragnostic.offline import run_folder
from ragnostic.offline.run_folder import (
    check_out,
    find_run,
    last_stage,
    list_runs,
    read_meta,
    read_run,
    run_name,
    write_run,
)
from ragnostic.offline.run_schema import RUN_SCHEMA
from ragnostic.offline.summary import SCORES_SCHEMA
from ragnostic.records import CHUNK_SCHEMA, record_schema
from ragnostic.report.run import RunData

_RECORDS = pa.Table.from_pylist(
    [{"query_id": "查询", "query": "?"}], schema=record_schema(["recall", "rank"])
)
_RUN = RunData(
    {"schema": RUN_SCHEMA, "run": "", "名": "值"},
    _RECORDS,
    CHUNK_SCHEMA.empty_table(),
    SCORES_SCHEMA.empty_table(),
)


def _page(run: RunData) -> str:
    return f"<p>{run.meta['run']}</p>"


def test_a_run_is_read_as_it_was_written(tmp_path):
    """Tables, schema metadata and meta; the page knows the folder's name."""
    folder = write_run(tmp_path / "a" / "runs", "r1", _RUN, _page)
    found = read_run(folder)
    assert found.records.equals(_RECORDS)
    assert found.stages == ("recall", "rank")
    assert found.meta == {**_RUN.meta, "run": "r1"}
    assert (folder / "report.html").read_text() == "<p>r1</p>"
    assert last_stage(folder) == "rank"
    assert "值" in (folder / "run.json").read_text(encoding="utf-8")


def test_a_taken_name_gets_a_number(tmp_path):
    """Also in run.json and in the page."""
    folders = [write_run(tmp_path, "r", _RUN, _page) for _ in range(3)]
    assert [folder.name for folder in folders] == ["r", "r-2", "r-3"]
    assert read_meta(folders[2])["run"] == "r-3"
    assert (folders[2] / "report.html").read_text() == "<p>r-3</p>"


def test_a_name_taken_while_writing_gets_a_number_too(tmp_path):
    """Two runs of one second on one machine both survive."""

    def page(run: RunData) -> str:
        if run.meta["run"] == "r":
            write_run(tmp_path, "r", _RUN, _page)
        return _page(run)

    assert write_run(tmp_path, "r", _RUN, page).name == "r-2"
    assert [folder.name for folder in list_runs(tmp_path)] == ["r", "r-2"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, SystemExit])
def test_an_interrupted_write_leaves_nothing(tmp_path, error):
    """Neither the folder nor the one aside."""

    def page(run: RunData) -> str:
        raise error

    with pytest.raises(error):
        write_run(tmp_path, "r", _RUN, page)
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    """Before anything is written."""
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot write run folders to"):
        write_run(tmp_path / "file", "r", _RUN, _page)


def test_numbers_that_json_does_not_know_are_refused():
    """run.json is strict: a NaN is our fault and must show."""
    with pytest.raises(ValueError, match="not JSON compliant"):
        run_folder.to_json({"mean": float("nan")})


def test_the_name_holds_time_commit_and_settings():
    """The same settings have the same last part, in any order of keys."""
    created = datetime(2025, 3, 1, 9, 5, 7, tzinfo=UTC)
    name = run_name(created, "0123456789abcdef", {"a": 1, "b": "值"})
    assert name.startswith("20250301-090507-0123456-")
    assert name == run_name(created, "0123456789abcdef", {"b": "值", "a": 1})
    assert name != run_name(created, "0123456789abcdef", {"a": 2, "b": "值"})


def test_runs_are_found_by_path_id_and_beginning(tmp_path):
    """Hidden and foreign folders are no runs."""
    first, second = (write_run(tmp_path, name, _RUN, _page) for name in ("2025-a", "2025-b"))
    (tmp_path / ".partial-x").mkdir()
    (tmp_path / "notes").mkdir()
    assert list_runs(tmp_path) == [first, second]
    assert list_runs(tmp_path / "nowhere") == []
    assert find_run(Path("elsewhere"), str(first)) == first
    assert find_run(tmp_path, "2025-b") == second
    assert find_run(tmp_path, "2025-a") == first
    assert find_run(tmp_path, "latest") == second
    with pytest.raises(UsageError, match="fits 2 runs: 2025-a, 2025-b"):
        find_run(tmp_path, "2025")
    with pytest.raises(UsageError, match=r"no run 'x'(.|\n)*the newest is 2025-b"):
        find_run(tmp_path, "x")
    with pytest.raises(UsageError, match="holds no runs"):
        find_run(tmp_path / "nowhere", "x")
    with pytest.raises(UsageError, match="is no run folder"):
        find_run(tmp_path, str(tmp_path / "notes"))


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("run.json", None, "is no run folder"),
        ("run.json", b"{", "not valid JSON"),
        ("run.json", b"\xff", "not valid JSON"),
        ("run.json", b"[]", "no schema version"),
        ("run.json", json.dumps({"schema": 99}).encode(), "newer than this ragnostic knows"),
        ("records.parquet", None, "records.parquet is missing"),
        ("scores.parquet", b"PAR1", "scores.parquet: not a readable Parquet file"),
    ],
)
def test_a_damaged_run_names_the_file(tmp_path, file, content, message):
    """Exit 3 and the file, not a traceback."""
    folder = write_run(tmp_path, "r", _RUN, _page)
    (folder / file).unlink()
    if content is not None:
        (folder / file).write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_run(folder)


def test_the_last_stage_of_a_run_without_records_is_an_error(tmp_path):
    """And of records without stages it is nothing."""
    folder = write_run(
        tmp_path,
        "r",
        RunData(_RUN.meta, pa.table({"query_id": ["q"]}), _RUN.chunks, _RUN.scores),
        _page,
    )
    assert last_stage(folder) == ""
    (folder / "records.parquet").write_bytes(b"")
    with pytest.raises(DataError, match="not a readable Parquet file"):
        last_stage(folder)


def test_a_place_that_cannot_be_written_to_is_told_before_the_work(tmp_path):
    """And one that can be is left as it was."""
    check_out(tmp_path / "new" / "runs")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("x")
    for out in (tmp_path / "file", tmp_path / "file" / "runs"):
        with pytest.raises(UsageError, match="cannot write run folders"):
            check_out(out)
