"""Values a query as a file."""

from __future__ import annotations

import csv
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragnostic.errors import UsageError
from ragnostic.offline.per_query import safe_cell, write_per_query

TABLE = pa.table({"query_id": ["问题", "=1+1", "-q"], "RR@5": pa.array([0.5, None, -0.25])})


def test_csv_is_for_spreadsheets(tmp_path):
    """With a mark for the encoding, null as an empty cell, formulas made harmless."""
    write_per_query(TABLE, tmp_path / "p.csv")
    data = (tmp_path / "p.csv").read_bytes()
    assert data.startswith(b"\xef\xbb\xbf")
    rows = list(csv.reader(data.decode("utf-8-sig").splitlines()))
    assert rows == [["query_id", "RR@5"], ["问题", "0.5"], ["'=1+1", ""], ["'-q", "-0.25"]]


def test_json_lines_and_parquet_keep_the_values(tmp_path):
    """Chinese as it is, null as null."""
    write_per_query(TABLE, tmp_path / "p.jsonl")
    text = (tmp_path / "p.jsonl").read_text(encoding="utf-8")
    assert [json.loads(line) for line in text.splitlines()] == TABLE.to_pylist()
    assert "问题" in text
    write_per_query(TABLE, tmp_path / "p.parquet")
    assert pq.read_table(tmp_path / "p.parquet").equals(TABLE)


@pytest.mark.parametrize("mark", ["=", "+", "-", "@", "\t", "\r"])
def test_what_a_spreadsheet_would_execute_is_text(mark):
    """Numbers stay numbers."""
    assert safe_cell(f"{mark}cmd") == f"'{mark}cmd"
    assert safe_cell(-1.5) == -1.5
    assert safe_cell(None) is None


def test_another_suffix_is_refused(tmp_path):
    """With those that are known."""
    with pytest.raises(UsageError, match=r"\.csv, \.jsonl, \.parquet"):
        write_per_query(TABLE, tmp_path / "p.xlsx")


@pytest.mark.parametrize("name", ["p.csv", "p.jsonl", "p.parquet"])
def test_a_place_that_cannot_be_written_is_named(tmp_path, name):
    """No traceback."""
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UsageError, match="cannot write"):
        write_per_query(TABLE, tmp_path / "file" / name)


def test_the_folder_is_made(tmp_path):
    """As the report's is."""
    write_per_query(pa.table({"query_id": ["q"]}), tmp_path / "new" / "values.csv")
    assert (tmp_path / "new" / "values.csv").is_file()
