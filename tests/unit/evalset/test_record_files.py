"""Records from Parquet and JSON Lines."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragnostic.errors import DataError
from ragnostic.evalset.record_files import read_records, record_stages
from ragnostic.records import record_schema

ROW = {
    "record_id": "r1", "query_id": "q1", "query": "?", "ts": "2026-01-01T00:00:00Z",
    "labels": {"a": "x", "b": 1, "c": None}, "judged": {"ids": ["a"], "grades": [1]},
    "retrieve": {"ids": ["b", "a"], "top_k": 5}, "rerank": {"ids": ["a", "b"]},
}  # fmt: skip


@pytest.fixture
def lines(tmp_path):
    """A JSON Lines file of rows, which may be text."""

    def write(*rows):
        path = tmp_path / "r.jsonl"
        path.write_text("\n".join(r if isinstance(r, str) else json.dumps(r) for r in rows))
        return path

    return write


def read(path, stages=("retrieve",), **options):
    """All rows, and the places of faults."""
    faults = []
    rows = [row for b in read_records(path, stages, faults, **options) for row in b.to_pylist()]
    return rows, [f.where for f in faults]


def test_stages_are_found_in_the_order_of_their_first_row(lines):
    """``judged`` is none, an object without ids neither."""
    path = lines({"query_id": "q", "retrieve": {"ids": []}, "x": {"y": 1}}, "", ROW)
    assert record_stages(path) == ["retrieve", "rerank"]


def test_a_json_record_becomes_a_row(lines):
    """Times, labels and stages in their types; unknown members are null."""
    (row,), faults = read(lines(ROW), ["retrieve", "rerank"])
    assert faults == []
    assert row["ts"].isoformat() == "2026-01-01T00:00:00+00:00"
    assert row["labels"] == [("a", "x"), ("b", "1"), ("c", "null")]
    assert row["retrieve"]["top_k"] == 5
    assert row["rerank"]["ids"] == ["a", "b"]
    assert row["answer"] is None


@pytest.mark.parametrize(
    "bad",
    [
        "junk", "[]", '{"query": "no id"}', '{"query_id": 7}', '{"query_id": "q", "ts": "noon"}',
        '{"query_id": "q", "retrieve": {"ids": [1]}}', '{"query_id": "q", "retrieve": "a"}',
        '{"query_id": "q", "answerable": "yes"}', '{"query_id": "q", "fanout": 99999999999}',
        '{"query_id": "q", "labels": 5}', '{"query_id": "q", "retrieve": {"ids": "abc"}}',
        '{"query_id": "q", "judged": {"ids": {"a": 1}}}', '{"query_id": "q", "searched": "abc"}',
        '{"query_id": "q", "query_id": "r"}', '{"query_id": "q", "latency_ms": NaN}',
    ],
)  # fmt: skip
def test_a_broken_record_is_set_aside_by_its_line(lines, bad):
    """The others are read."""
    rows, faults = read(lines(ROW, "", bad, ROW))
    assert [row["query_id"] for row in rows] == ["q1", "q1"]
    assert faults == ["r.jsonl:3"]


def test_parquet_is_read_with_the_columns_that_are_asked_for(tmp_path):
    """Those that are there."""
    table = pa.Table.from_pylist([{**ROW, "ts": None, "labels": None}],
                                 record_schema(["retrieve", "rerank"]))  # fmt: skip
    pq.write_table(table, tmp_path / "r.parquet")
    assert record_stages(tmp_path / "r.parquet") == ["retrieve", "rerank"]
    (row,), _ = read(tmp_path / "r.parquet", columns=["query_id", "judged", "none"])
    assert list(row) == ["query_id", "judged"]
    (row,), _ = read(tmp_path / "r.parquet")
    assert row["query"] == "?"


def test_records_without_a_stage_or_a_query_are_refused(tmp_path, lines):
    """With an example of one."""
    with pytest.raises(DataError, match="have no stage"):
        record_stages(lines({"query_id": "q"}))
    pq.write_table(pa.table({"retrieve": [{"ids": ["a"]}]}), tmp_path / "r.parquet")
    with pytest.raises(DataError, match="no column query_id"):
        read(tmp_path / "r.parquet")
