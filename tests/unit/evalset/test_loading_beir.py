"""Evaluation sets as BEIR folders."""

from __future__ import annotations

import gzip
import json

import pytest

from ragnostic.errors import DataError
from ragnostic.evalset.loading import beir_corpus_path, load_evaluation_set

HEADER = "query-id\tcorpus-id\tscore\n"


@pytest.fixture
def folder(tmp_path):
    """A BEIR folder with two splits."""
    queries = [{"_id": "q1", "text": "A?"}, {"_id": "q2", "text": "B?"}, {"_id": "q3", "text": "C"}]
    (tmp_path / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text(HEADER + "q2\td1\t2\nq1\td1\t0\nq2\td2\t1\n")
    (tmp_path / "qrels" / "dev.tsv.gz").write_bytes(gzip.compress(b"q3\td9\t1\r\n"))
    return tmp_path


def test_only_the_queries_of_the_split_are_loaded(folder):
    """In the order of its qrels; grade 0 stays judged; no other split is merged in."""
    faults = []
    queries = load_evaluation_set(folder, faults=faults)
    found = {
        query.query_id: [(item[0].id, item[0].grade) for item in query.gold] for query in queries
    }
    assert found == {"q2": [("d1", 2), ("d2", 1)], "q1": [("d1", 0)]}
    assert list(found) == ["q2", "q1"]
    assert faults == []


def test_a_split_may_be_packed_and_without_a_header(folder):
    """A first line whose grade is a number is a row."""
    (query,) = load_evaluation_set(folder, split="dev", faults=[])
    assert (query.query_id, query.gold[0][0].id) == ("q3", "d9")


def test_bad_rows_are_quarantined_by_line(folder):
    """In both files, with the good rows loaded."""
    with (folder / "queries.jsonl").open("a") as file:
        file.write('\n\n{"_id": "q1", "text": "again"}\n{"_id": "q5"}\n{"_id": 6, "text": "F"}\n')
    rows = [
        "q1\td1\t1",
        "q1\td2\t0.5",
        "q1\td3\tx",
        "q1\td4",
        "\td5\t1",
        "q1\t\t1",
        "",
        "unknown\td6\t1",
        "q1\td7\t-1",
        "q1\td8\tinf",
        "6\td8\t1",
    ]
    (folder / "qrels" / "test.tsv").write_text(HEADER + "\n".join(rows))
    faults = []
    queries = load_evaluation_set(folder, faults=faults)
    assert [[(item[0].id, item[0].grade) for item in query.gold] for query in queries] == [
        [("d1", 1), ("d7", 0)],
        [("d8", 1)],
    ]
    assert sorted(fault.where for fault in faults if fault.kind == "quarantined") == sorted(
        ["queries.jsonl:5", "queries.jsonl:6"]
        + [f"test.tsv:{line}" for line in (3, 4, 5, 6, 9, 11)]
    )
    others = [(fault.kind, fault.where) for fault in faults if fault.kind != "quarantined"]
    assert others == [
        ("number_ids", "queries.jsonl"),
        ("null_gold_id", "test.tsv:7"),
        ("negative_grade", "test.tsv"),
    ]


def test_a_missing_split_names_those_that_exist(folder):
    """In the hint."""
    with pytest.raises(DataError, match=r"no qrels/train\.tsv") as caught:
        load_evaluation_set(folder, split="train", faults=[])
    assert caught.value.hint == "splits that exist: dev, test"


def test_judgments_of_unknown_queries_alone_are_refused(folder):
    """Nothing usable is left."""
    (folder / "qrels" / "test.tsv").write_text(HEADER + "x\td\t1\n")
    with pytest.raises(DataError, match="no query"):
        load_evaluation_set(folder, faults=[])


def test_the_corpus_file_is_found(folder):
    """Plain or packed."""
    assert beir_corpus_path(folder) is None
    (folder / "corpus.jsonl").write_text("")
    assert beir_corpus_path(folder) == folder / "corpus.jsonl"
