"""The judge ``gold`` on live records."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from pydantic import ValidationError

from ragnostic.errors import DataError
from ragnostic.judges.gold import GoldJudge
from ragnostic.judges.gold_live import GoldRecordJudge
from ragnostic.ports import Resources
from ragnostic.records import (
    CHUNK_SCHEMA,
    FACETED_JUDGMENT_SCHEMA,
    JUDGMENT_SCHEMA,
    STAGE_TYPE,
    Chunk,
    EvalQuery,
    GoldSpan,
    Hits,
)

TEXT = "aaaaaaaaaabbbbbbbbbbcccc"
CORPUS = [
    Chunk("c1", "D1", 0, 10, 3, TEXT[0:10]),
    Chunk("c2", "D1", 10, 20, 3, TEXT[10:20]),
    Chunk("c3", "D1", 20, 24, 1, TEXT[20:24]),
    Chunk("e1", "D2", 0, 3, 1, "one"),
]
CHUNKS = pa.Table.from_pylist(
    [{name: getattr(chunk, name) for name in CHUNK_SCHEMA.names} for chunk in CORPUS], CHUNK_SCHEMA
)


def query(query_id, text, *gold, **fields):
    """A query with this gold."""
    return EvalQuery(query_id, text, tuple((span,) for span in gold), **fields)


def records(*rows):
    """Records of (query id, query) and perhaps the hits of ``retrieve``."""
    columns = {
        "record_id": pa.array([f"r{n}" for n in range(len(rows))]),
        "query_id": pa.array([row[0] for row in rows], pa.string()),
        "query": pa.array([row[1] for row in rows], pa.string()),
        "retrieve": pa.array([row[2] if len(row) > 2 else None for row in rows], STAGE_TYPE),
    }
    return pa.table(columns)


def test_a_record_meets_its_query_by_id_then_by_text():
    """The id decides where the set has it; else the text, however it is written."""
    judge = GoldRecordJudge(
        [
            query("q1", "Days of leave?", GoldSpan(id="c1", grade=2)),
            query("q2", "Ｐay", GoldSpan(id="e1")),
        ],
        CHUNKS,
        snapshot="s1",
    )
    table = judge.judge_records(
        records(
            ("q1", "Pay"), ("live-7", " pay "), (None, "DAYS of  leave?"), ("x", "?"), ("x", None)
        )
    )
    assert table.schema == JUDGMENT_SCHEMA
    rows = table.to_pylist()
    assert [row["ids"] for row in rows] == [["c1"], ["e1"], ["c1"], [], []]
    assert [row["status"] for row in rows] == ["judged"] * 3 + ["abstained"] * 2
    assert [row["evidence"] for row in rows[:4]] == [
        ["gold: query id"],
        ["gold: query text"],
        ["gold: query text"],
        ["no gold for this query"],
    ]
    assert rows[0]["grades"] == [2.0]
    assert {(row["judge"], row["snapshot"]) for row in rows} == {("gold", "s1")}


def test_a_text_that_several_queries_ask_needs_one_gold():
    """Equal gold is one query; other gold is a guess, and none is made."""
    same = [query(name, "Pay?", GoldSpan(id="e1")) for name in ("a", "b")]
    found = GoldRecordJudge(same, CHUNKS).judge_records(records((None, "pay?"))).to_pylist()[0]
    assert found["ids"] == ["e1"]
    other = [*same, query("c", "PAY?", GoldSpan(id="c1"))]
    found = GoldRecordJudge(other, CHUNKS).judge_records(records((None, "pay?"))).to_pylist()[0]
    assert (found["status"], found["evidence"]) == ("abstained", ["several gold queries: a, c"])


def test_gold_of_any_level_becomes_chunks_as_offline():
    """Document, span, group, facets, an item that no chunk covers: what the offline judge says."""
    asked = EvalQuery(
        "q1",
        "?",
        (
            (GoldSpan(id="D1"),),
            (GoldSpan(doc_id="D1", start=8, end=20),),
            (GoldSpan(id="e1", grade=3, facets={"basis": 2}), GoldSpan(id="c3")),
            (GoldSpan(doc_id="D2", start=50, end=60),),
        ),
    )
    hits = {"ids": ["c2", "z1"], "doc_ids": ["D1", "D2"]}
    table = GoldRecordJudge([asked], CHUNKS).judge_records(records(("q1", "?", hits)))
    row = table.to_pylist()[0]
    shown = Hits(("c2", "z1"), doc_ids=("D1", "D2"))
    offline = GoldJudge.build([asked], CORPUS).judge(asked, {"retrieve": shown})
    assert {name: row[name] for name in offline} == offline
    assert None in row["ids"]
    assert table.schema == FACETED_JUDGMENT_SCHEMA


def test_without_a_corpus_gold_meets_what_the_service_shows():
    """By id, or by the document that the service names."""
    judge = GoldRecordJudge([query("q1", "?", GoldSpan(id="D1"), GoldSpan(id="e1"))], None)
    hits = {"ids": ["h1", "e1"], "doc_ids": ["D1", None]}
    row = judge.judge_records(records(("q1", "?", hits))).to_pylist()[0]
    assert row["ids"] == ["h1", "e1"]
    odd = judge.judge_records(records(("q1", "?", {"ids": ["h1"], "doc_ids": []}))).to_pylist()[0]
    assert odd["ids"] == ["D1", "e1"]


def test_an_unanswerable_query_is_judged_to_have_nothing():
    """It is known, and no chunk answers it."""
    judge = GoldRecordJudge([query("q1", "?", answerable=False)], CHUNKS)
    row = judge.judge_records(records(("q1", "?"))).to_pylist()[0]
    assert (row["status"], row["ids"]) == ("judged", [])


def test_a_corpus_of_bare_texts_will_do():
    """Only ids and texts: each chunk is its own document."""
    bare = pa.table({"id": ["c1", "c2"], "text": ["Five days of leave.", None]})
    judge = GoldRecordJudge([query("q1", "?", GoldSpan(doc_id="c1", quote="days of leave"))], bare)
    assert judge.judge_records(records(("q1", "?"))).to_pylist()[0]["ids"] == ["c1"]


def built(folder: Path, **options):
    """A judge from files in a folder."""
    resources = Resources(base_dir=folder)
    return GoldRecordJudge.build(
        CHUNKS, GoldRecordJudge.Options(**options), "s", resources=resources
    )


def test_it_is_built_from_an_evaluation_set_or_from_qrels(tmp_path):
    """Paths are relative to the settings; what is odd about the files is kept."""
    rows = [
        {"query_id": "q1", "query": "Leave?", "gold": ["c1", "gone"]},
        {"query_id": "q2"},
    ]
    lines = "\n".join(json.dumps(row) for row in rows)
    (tmp_path / "eval.jsonl").write_text(f"{lines}\n")
    judge = built(tmp_path, path="eval.jsonl")
    assert judge.parameters["path"] == "eval.jsonl"
    assert [fault.kind for fault in judge.faults] == ["quarantined", "dangling_gold"]
    found = judge.judge_records(records(("live", "leave?"))).to_pylist()[0]
    assert (found["ids"], found["grades"]) == (["c1", "gone"], [1.0, 1.0])
    (tmp_path / "qrels.txt").write_text("q1 0 c2 3\nq1 0 e1 0\n")
    judge = built(tmp_path, qrels="qrels.txt")
    rows = judge.judge_records(records(("q1", "Leave?"), ("live", ""))).to_pylist()
    assert (rows[0]["ids"], rows[0]["grades"], rows[0]["weights"]) == (
        ["c2", "e1"],
        [3.0, 0.0],
        [1.0, 0.0],
    )
    assert rows[1]["status"] == "abstained"


def test_settings_name_one_file(tmp_path):
    """Neither and both are refused, and so is a file that is not there."""
    for given in ({}, {"path": "a", "qrels": "b"}):
        with pytest.raises(ValidationError, match="needs either path"):
            GoldRecordJudge.Options(**given)
    with pytest.raises(DataError, match=r"no\.jsonl"):
        built(tmp_path, path="no.jsonl")
    (tmp_path / "eval.jsonl").write_text('{"query_id": "q1", "query": "Leave?", "gold": ["c1"]}\n')
    options = GoldRecordJudge.Options(path=str(tmp_path / "eval.jsonl"))
    assert GoldRecordJudge.build(None, options).faults == []
