"""The judge ``grader`` on tables of records."""

from __future__ import annotations

import pyarrow as pa
import pytest

from ragnostic.judges.grader import GraderJudge
from ragnostic.judges.grader_reply import Verdict
from ragnostic.records import JUDGMENT_SCHEMA, STAGE_TYPE, stages_of

TEXTS = {f"c{n}": f"text {n}" for n in range(9)}


def records(*rows, stages=("retrieve", "rerank")):
    """Records of (query, ids by stage); a third member is the texts that came with them."""
    columns = {
        "record_id": pa.array([f"r{n}" for n in range(len(rows))]),
        "query": pa.array([row[0] for row in rows], pa.string()),
    }
    for stage in stages:
        hits = [{"ids": row[1][stage]} if stage in row[1] else None for row in rows]
        columns[stage] = pa.array(hits, STAGE_TYPE)
    if any(len(row) > 2 for row in rows):
        texts = [list(row[2].items()) if len(row) > 2 else None for row in rows]
        columns["texts"] = pa.array(texts, pa.map_(pa.string(), pa.string()))
    return pa.table(columns)


class Marks:
    """Grades by text; a text that it does not know fails. ``asked`` holds every pair, in order."""

    def __init__(self, **grades):
        self.grades = {name.replace("_", " "): grade for name, grade in grades.items()}
        self.asked = []

    def __call__(self, pairs):
        """One verdict a pair."""
        self.asked += pairs
        return [
            Verdict(self.grades[pair.text], {"basis": 1}, "m")
            if pair.text in self.grades
            else Verdict(None, failure="no grade in the reply ''")
            for pair in pairs
        ]


def test_the_first_chunks_of_every_stage_are_graded_once():
    """In pipeline order, each pair of query and text asked once in the whole table."""
    marks = Marks(text_1=0, text_2=1, text_3=3)
    judge = GraderJudge(marks, TEXTS, top_k=2, snapshot="s1")
    table = records(
        ("q", {"retrieve": ["c1", "c2", "c4"], "rerank": ["c3", "c1"]}),
        ("q", {"retrieve": ["c2", None, "c2", "c3"]}),
    )
    assert stages_of(table.schema) == ["retrieve", "rerank"]
    judged = judge.judge_records(table)
    assert judged.schema == JUDGMENT_SCHEMA
    first, second = judged.to_pylist()
    assert first["ids"] == ["c1", "c2", "c3"]
    assert first["grades"] == [0.0, 1.0, 3.0]
    assert first["weights"] == [0.0, 1.0, 1.0]
    assert first["items"] == [0, 1, 2]
    assert first["evidence"] == ["m: 0", "m: 1", "m: 3"]
    assert second["ids"] == ["c2", "c3"]
    assert (first["judge"], first["status"], first["snapshot"]) == ("grader", "judged", "s1")
    assert len(marks.asked) == 3


def test_a_failure_fails_the_record_with_its_reason():
    """Never grade 0: the chunk has no grade, and the record is not judged."""
    judge = GraderJudge(Marks(text_1=2), TEXTS)
    row = judge.judge_records(records(("q", {"retrieve": ["c1", "c2"]}))).to_pylist()[0]
    assert row["status"] == "failed"
    assert row["ids"] == ["c1", "c2"]
    assert row["grades"] == [2.0, None]
    assert row["weights"] == [1.0, None]
    assert row["evidence"] == ["m: 2", "failed: no grade in the reply ''"]


@pytest.mark.parametrize(
    ("allowed", "status", "ids"), [(0.5, "judged", ["c1"]), (0.4, "failed", ["c1", "c2"])]
)
def test_failures_may_be_borne(allowed, status, ids):
    """Then a chunk without a grade is unjudged, as if it had not been looked at."""
    judge = GraderJudge(Marks(text_1=2), TEXTS, max_failed=allowed)
    row = judge.judge_records(records(("q", {"retrieve": ["c1", "c2"]}))).to_pylist()[0]
    assert (row["status"], row["ids"]) == (status, ids)


def test_a_record_without_any_grade_is_never_judged():
    """However many failures are allowed."""
    judge = GraderJudge(Marks(), TEXTS, max_failed=1.0)
    row = judge.judge_records(records(("q", {"retrieve": ["c1"]}))).to_pylist()[0]
    assert row["status"] == "failed"


def test_texts_come_from_the_corpus_else_from_the_record():
    """A chunk whose text nobody knows fails, and is not asked about."""
    marks = Marks(text_1=1, shown=2)
    table = records(("q", {"retrieve": ["c1", "x", "y"]}, {"c1": "older", "x": "shown"}), ("q", {}))
    first, second = GraderJudge(marks, TEXTS, max_failed=0.5).judge_records(table).to_pylist()
    assert (first["ids"], first["grades"]) == (["c1", "x"], [1.0, 2.0])
    assert [pair.text for pair in marks.asked] == ["text 1", "shown"]
    assert (second["status"], second["evidence"]) == ("abstained", ["no chunk was retrieved"])
    alone = GraderJudge(marks, {}).judge_records(
        records(("q", {"retrieve": ["c1"]}), (None, {"retrieve": ["c1"]}))
    )
    for row in alone.to_pylist():
        assert row["status"] == "failed"
        assert row["evidence"] == ["failed: the text of the chunk, or of the query, is not known"]


def test_facets_are_entries_of_the_same_item():
    """In a column of their own, which a judge without facets does not have."""
    judge = GraderJudge(Marks(text_1=3), TEXTS, facets=["basis"])
    table = judge.judge_records(records(("q", {"retrieve": ["c1"]})))
    row = table.to_pylist()[0]
    assert row["facets"] == [None, "basis"]
    assert (row["ids"], row["grades"], row["items"]) == (["c1", "c1"], [3.0, 1.0], [0, 0])
    assert row["evidence"][1] == "m: basis 1"


def test_no_records_ask_nothing():
    """The table is empty, its columns are there."""
    marks = Marks()
    table = GraderJudge(marks, TEXTS).judge_records(records())
    assert (table.num_rows, table.schema, marks.asked) == (0, JUDGMENT_SCHEMA, [])


def test_another_way_of_grading_is_another_version():
    """So that no two of them are taken for one judge."""
    versions = {
        GraderJudge(Marks(), {}, parameters=given).version
        for given in (None, {"model": "a"}, {"model": "b"}, {"model": "a"})
    }
    assert len(versions) == 3
