"""Qrels of every format."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragnostic.errors import DataError
from ragnostic.evalset.qrels import load_qrels

GOLD = {"q1": {"d1": 2.0, "007": 1.0}, "q2": {"文档": 0.0}}
ROWS = [(q, c, g) for q, judged in GOLD.items() for c, g in judged.items()]


def gold(qrels):
    """Qrels as a dict of dicts."""
    return {
        row["query_id"]: dict(zip(row["judged"]["ids"], row["judged"]["grades"], strict=True))
        for row in qrels.table.to_pylist()
    }


def _trec(path):
    path.write_text("".join(f"{q} 0 {c} {g:g}\n" for q, c, g in ROWS))


def _tsv(path):
    rows = [("query-id", "corpus-id", "score"), *((q, c, f"{g:g}") for q, c, g in ROWS)]
    path.write_text("".join("\t".join(row) + "\n" for row in rows))


def _table(path):
    rows = [("query_id", "chunk_id", "relevance"), *((q, c, f"{g}") for q, c, g in ROWS)]
    path.write_text("".join(",".join(row) + "\n" for row in rows))


def _jsonl(path):
    path.write_text(
        "".join(json.dumps({"qid": q, "docid": c, "grade": g}) + "\n" for q, c, g in ROWS)
    )


def _one_json(path):
    path.write_text(json.dumps(GOLD))


def columns(kind=None):
    """Arrow columns of the rows."""
    texts = (pa.array([r[i] for r in ROWS], kind or pa.string()) for i in range(2))
    return dict(
        zip(("query_id", "doc_id", "grade"), (*texts, pa.array([r[2] for r in ROWS])), strict=True)
    )


def _parquet(path):
    pq.write_table(pa.table(columns()), path)


def _parquet_dictionary(path):
    pq.write_table(pa.table(columns(pa.dictionary(pa.int32(), pa.string()))), path)


def _parquet_large(path):
    pq.write_table(pa.table(columns(pa.large_string())), path)


@pytest.mark.parametrize(
    "write", [_trec, _tsv, _table, _jsonl, _one_json, _parquet, _parquet_dictionary, _parquet_large]
)
def test_every_format_gives_the_same_judgments(tmp_path, write):
    """Order, ids as text, grades."""
    path = tmp_path / ("q.json" if write is _one_json else "q.data")
    write(path)
    found = load_qrels(str(path))
    assert gold(found) == GOLD
    assert list(gold(found)) == list(GOLD)
    assert (found.rows, found.bad, found.faults) == (3, 0, ())


def test_a_bad_grade_is_set_aside_with_its_line(tmp_path):
    """Text: by line. Parquet: by row, from 1."""
    (tmp_path / "q.txt").write_text("q1 0 a x\nq1 0 b 1\nq1 0 c 0.5\nq1 0 d nan\n")
    found = load_qrels(tmp_path / "q.txt")
    assert gold(found) == {"q1": {"b": 1}}
    assert [f.where for f in found.faults] == ["q.txt:1", "q.txt:3", "q.txt:4"]
    assert found.bad == 3
    rows = pa.table(
        {
            "query_id": ["q1", "q1", "q1", "q1", None, "", "q1"],
            "doc_id": list("abcdefg"),
            "grade": [1, 0.5, None, float("inf"), 1, 1, 1e35],
        }
    )
    pq.write_table(rows, tmp_path / "q.parquet")
    found = load_qrels(tmp_path / "q.parquet")
    assert gold(found) == {"q1": {"a": 1}}
    assert [f.where for f in found.faults] == [f"q.parquet:{n}" for n in (2, 3, 4, 5, 6, 7)]


def test_fractions_are_read_where_they_are_allowed(tmp_path):
    """grades=real."""
    (tmp_path / "q.txt").write_text("q1 0 a 0.5\n")
    assert gold(load_qrels(tmp_path / "q.txt", grades="real")) == {"q1": {"a": 0.5}}
    pq.write_table(
        pa.table({"query_id": ["q"], "doc_id": ["a"], "grade": [0.5]}), tmp_path / "q.parquet"
    )
    assert gold(load_qrels(tmp_path / "q.parquet", grades="real")) == {"q": {"a": 0.5}}


def test_grades_above_three_are_remarked_on(tmp_path):
    """And kept."""
    (tmp_path / "q.txt").write_text("q1 0 a 5\nq1 0 b 3\n")
    found = load_qrels(tmp_path / "q.txt")
    assert gold(found) == {"q1": {"a": 5, "b": 3}}
    assert [(f.kind, f.count) for f in found.faults] == [("large_grade", 1)]


def test_null_ids_are_no_judgments_but_their_query_is_judged(tmp_path):
    """Nothing relevant exists for it then."""
    (tmp_path / "q.jsonl").write_text('{"query_id": "q", "doc_id": null, "grade": 1}\n')
    found = load_qrels(tmp_path / "q.jsonl")
    assert gold(found) == {"q": {}}
    assert [f.kind for f in found.faults] == ["null_gold_id"]


def test_a_json_object_of_lists_is_grade_one(tmp_path):
    """And a bad grade in an object of numbers is set aside."""
    (tmp_path / "q.json").write_text('{"q1": ["a", "b"], "q2": {"c": "x", "d": 2}}')
    found = load_qrels(tmp_path / "q.json")
    assert gold(found) == {"q1": {"a": 1, "b": 1}, "q2": {"d": 2}}
    assert found.bad == 1


@pytest.mark.parametrize("text", ['{"q": [1]}', '{"q": [["a"]]}', '{"": ["a"]}'])
def test_json_ids_that_are_no_text_are_refused(tmp_path, text):
    """007 would be lost in a number."""
    (tmp_path / "q.json").write_text(text)
    with pytest.raises(DataError, match="ids must be text"):
        load_qrels(tmp_path / "q.json")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("q.txt", b"q1 a 1\n", "no usable judgment; the first fault: q.txt:1: 3 columns"),
        ("q.txt", b"\n\n", "no usable judgment"),
        ("q.txt", b"", "is empty"),
        ("q.txt", b"\0\0", "q.txt"),
        ("q.json", b"{}", "no usable judgment"),
    ],
)
def test_a_file_with_nothing_usable_is_refused(tmp_path, name, content, said):
    """With the first reason."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError) as caught:
        load_qrels(tmp_path / name)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("columns_", "said"),
    [
        ({"query_id": ["q"], "doc_id": ["a"], "grade": ["x"]}, "column grade holds string"),
        ({"query_id": [1.5], "doc_id": ["a"], "grade": [1]}, "column query_id holds double"),
        ({"query_id": ["q"], "grade": [1]}, "no column chunk_id"),
    ],
)
def test_a_parquet_file_of_other_columns_is_refused(tmp_path, columns_, said):
    """By name and type."""
    pq.write_table(pa.table(columns_), tmp_path / "q.parquet")
    with pytest.raises(DataError, match=said):
        load_qrels(tmp_path / "q.parquet")
