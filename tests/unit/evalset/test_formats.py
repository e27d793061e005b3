"""Telling formats apart; columns of ids and of numbers."""

from __future__ import annotations

import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragnostic.errors import DataError
from ragnostic.evalset.formats import (
    as_numbers,
    as_text,
    is_json_table,
    is_parquet,
    open_parquet,
    ranking_columns,
    read_json_table,
)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.json", "anything", True),
        ("a.json.gz", "anything", True),
        ("a.jsonl", "{", False),
        ("a.ndjson", "{", False),
        ("a.txt", '{\n"q": []}', True),
        ("a.txt", '{"query_id": "q"}', False),
        ("a.txt", "q1 0 d 1", False),
    ],
)
def test_one_object_is_not_one_a_line(tmp_path, name, text, expected):
    """By suffix, else by a first line that only opens it."""
    (tmp_path / name).write_text(text)
    assert is_json_table(tmp_path / name) is expected


def test_parquet_is_told_by_its_first_bytes(tmp_path):
    """A folder and a missing file are none; the reader says why."""
    pq.write_table(pa.table({"a": [1]}), tmp_path / "x.bin")
    assert is_parquet(tmp_path / "x.bin")
    assert not is_parquet(tmp_path)
    assert not is_parquet(tmp_path / "none")


def test_parquet_cut_short_is_refused(tmp_path):
    """With its name."""
    (tmp_path / "x.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(DataError, match=r"x\.parquet: not a readable Parquet file"):
        open_parquet(tmp_path / "x.parquet")


@pytest.mark.parametrize("text", ['{"q": 1}', '{"q": []', '{"q": [], "q": []}', "[]"])
def test_a_json_table_is_an_object_of_lists_or_objects(tmp_path, text):
    """A key given twice is refused as well."""
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(DataError, match=r"a\.json"):
        read_json_table(tmp_path / "a.json", [])


def test_a_json_table_may_be_packed(tmp_path):
    """gzip, by its first bytes."""
    (tmp_path / "a.json").write_bytes(gzip.compress(b'{"q": ["a"]}'))
    assert read_json_table(tmp_path / "a.json", []) == {"q": ["a"]}


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["7", None]),
        pa.array(["7", None], pa.large_string()),
        pa.array(["7", None], pa.string_view()),
        pa.array(["7", None]).dictionary_encode(),
        pa.array(["7", None], pa.large_string()).dictionary_encode(),
        pa.array([7, None]),
        pa.array([7, None], pa.uint8()),
    ],
)
def test_every_column_of_ids_becomes_text(column):
    """Whole numbers are their decimal text."""
    found = as_text(column, "f", "doc_id")
    assert found.type == pa.string()
    assert found.to_pylist() == ["7", None]


def test_a_column_of_nulls_holds_no_ids():
    """But is read."""
    assert as_text(pa.nulls(2), "f", "doc_id").to_pylist() == [None, None]


@pytest.mark.parametrize("column", [pa.array([7.0]), pa.array([b"7"]), pa.array([["7"]])])
def test_a_column_of_anything_else_is_refused(column):
    """7.0 would match nothing."""
    with pytest.raises(DataError, match="f: column doc_id holds"):
        as_text(column, "f", "doc_id")


def test_numbers_are_floats_with_nan_for_null():
    """Also as text; anything else is refused by the column's name."""
    assert str(as_numbers(pa.array([1, None]), "f", "s").tolist()) == "[1.0, nan]"
    assert as_numbers(pa.array(["1.5"]), "f", "s").tolist() == [1.5]
    for column in (pa.array(["x"]), pa.array([[1]]), pa.array([{"a": 1}])):
        with pytest.raises(DataError, match="f: column s holds"):
            as_numbers(column, "f", "s")


STAGE = pa.array([{"ids": ["a"]}])


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"retrieve": STAGE}, "no column query_id"),
        ({"query_id": ["q"], "retrieve": ["a"]}, "is no stage"),
        ({"query_id": ["q"], "retrieve": [{"x": 1}]}, "is no stage"),
        ({"query_id": [""], "retrieve": STAGE}, "null or empty"),
        ({"query_id": pa.nulls(1), "retrieve": STAGE}, "null or empty"),
    ],
)
def test_a_row_a_query_needs_a_query_and_a_stage(columns, said):
    """Anything else is refused."""
    with pytest.raises(DataError, match=said):
        ranking_columns(pa.RecordBatch.from_pydict(columns), "retrieve", "f")
