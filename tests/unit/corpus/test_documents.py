"""Documents from folders, JSONL and Parquet."""

from __future__ import annotations

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragnostic.corpus.documents import load_documents
from ragnostic.errors import DataError


def kinds(faults):
    """Kind and place of each fault."""
    return [(fault.kind, fault.where) for fault in faults]


def test_a_folder_gives_its_text_files_under_their_paths(tmp_path):
    """Sorted POSIX paths are ids; hidden and other files are no documents, the latter named."""
    (tmp_path / "b").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x.md").write_text("no")
    (tmp_path / ".draft.md").write_text("no")
    (tmp_path / "b" / "年假.md").write_bytes("\ufeff# 年假\r\n五天".encode())
    (tmp_path / "b" / "a.txt").write_bytes("五天".encode("gbk"))
    (tmp_path / "a.md.gz").write_bytes(gzip.compress(b"plain"))
    (tmp_path / "empty.md").write_bytes(b"")
    (tmp_path / "blank.txt").write_text(" \n")
    (tmp_path / "binary.txt").write_bytes(b"\0\1")
    (tmp_path / "scan.pdf").write_bytes(b"%PDF")
    (tmp_path / "rows.jsonl").write_text('{"_id": "x", "text": "y"}')
    faults = []
    documents = load_documents(tmp_path, faults=faults)
    assert [(found.doc_id, found.title, found.text) for found in documents] == [
        ("a.md.gz", "", "plain"),
        ("b/a.txt", "", "五天"),
        ("b/年假.md", "年假", "# 年假\r\n五天"),
    ]
    assert sorted(kinds(faults)) == sorted(
        [
            ("encoding", "b/a.txt"),
            ("quarantined", "binary.txt:1"),
            ("empty_document", "blank.txt"),
            ("empty_document", "empty.md"),
            ("skipped_files", tmp_path.name),
        ]
    )
    assert faults[-1].count == 2
    assert "scan.pdf" in faults[-1].message
    assert not any(fault.where and fault.where in fault.message for fault in faults)


def test_jsonl_rows_are_documents_and_bad_ones_are_named(tmp_path):
    """Ids stay text; whole numbers become text, announced once."""
    rows = [
        '{"_id": "007", "title": "T", "text": "a"}',
        '{"id": 7, "title": null, "text": "b"}',
        "",
        '{"_id": "007", "text": "again"}',
        '{"text": "no id"}',
        '{"_id": "x"}',
        '{"_id": "x", "text": null}',
        '{"_id": "x", "title": 5, "text": "c"}',
        '{"_id": "x", "text": ""}',
    ]
    path = tmp_path / "c.jsonl.gz"
    path.write_bytes(gzip.compress("\r\n".join(rows).encode()))
    faults = []
    documents = load_documents(path, faults=faults)
    assert [(found.doc_id, found.title, found.text) for found in documents] == [
        ("007", "T", "a"),
        ("7", "", "b"),
        ("x", "", ""),
    ]
    bad = [("quarantined", f"c.jsonl.gz:{line}") for line in (4, 5, 6, 7, 8)]
    assert kinds(faults) == [*bad, ("number_ids", "c.jsonl.gz")]


def test_parquet_rows_are_documents(tmp_path):
    """Columns _id or id, title, text; nulls are quarantined by row."""
    path = tmp_path / "c.parquet"
    pq.write_table(pa.table({"id": [1, 2, 3], "text": ["a", None, "c"], "more": [0, 0, 0]}), path)
    faults = []
    documents = load_documents(path, faults=faults)
    assert [found.doc_id for found in documents] == ["1", "3"]
    assert kinds(faults) == [("quarantined", "c.parquet:2"), ("number_ids", "c.parquet")]


def test_a_folder_of_row_files_is_read_where_there_is_no_text(tmp_path):
    """Shards of a corpus."""
    for name in ("1", "2"):
        table = pa.table({"_id": [name], "text": ["t"]})
        pq.write_table(table, tmp_path / f"part-{name}.parquet")
    assert [found.doc_id for found in load_documents(tmp_path, faults=[])] == ["1", "2"]


def test_a_beir_folder_gives_its_corpus_only(tmp_path):
    """queries.jsonl is no corpus."""
    (tmp_path / "corpus.jsonl").write_text(json.dumps({"_id": "d", "text": "t"}))
    (tmp_path / "queries.jsonl").write_text(json.dumps({"_id": "q", "text": "t"}))
    assert [found.doc_id for found in load_documents(tmp_path, faults=[])] == ["d"]


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("c.parquet", b"PAR1 not really", "cannot be read as Parquet"),
        ("c.jsonl", b"[1]\n", "holds no document"),
        ("c.jsonl", b"", "is empty"),
        ("c.txt", b" ", "holds no document"),
        ("missing/c.md", None, "no such file"),
    ],
)
def test_a_corpus_without_documents_is_refused(tmp_path, name, data, words):
    """With words that say what is wrong."""
    path = tmp_path / name
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(DataError, match=words):
        load_documents(path, faults=[])


def test_parquet_without_the_columns_is_refused(tmp_path):
    """The columns that are there are named."""
    path = tmp_path / "c.parquet"
    pq.write_table(pa.table({"key": ["a"], "text": ["b"]}), path)
    with pytest.raises(DataError, match="has the columns key, text"):
        load_documents(path, faults=[])


def test_a_file_name_that_no_id_may_hold_is_quarantined(tmp_path):
    """A line break in a name would break every list of ids."""
    (tmp_path / "a\nb.txt").write_text("x")
    (tmp_path / "ok.txt").write_text("y")
    faults = []
    assert [found.doc_id for found in load_documents(tmp_path, faults=faults)] == ["ok.txt"]
    assert [fault.kind for fault in faults] == ["quarantined"]
