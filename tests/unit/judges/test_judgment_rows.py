"""Judgments as rows of one table."""

from __future__ import annotations

import pyarrow as pa

from ragnostic.judges.judgment_rows import Judgment, Judgments
from ragnostic.records import JUDGMENT_SCHEMA

IDS = pa.array(["a", "b", "c"])


def test_rows_are_written_in_the_order_of_the_records():
    """A judgment may stand for several records, and each row keeps its own lists."""
    rows = Judgments(IDS, 0.3)
    rows.add([Judgment("refused"), Judgment.of([(2, 0, "exact")], [0], "entity", "chunk")])
    records = pa.chunked_array([["r1", "r2"], ["r3"]])
    table = rows.table(pa.array([1, 0, 1]), records, "answer_span", "1", "snap")
    assert table.schema == JUDGMENT_SCHEMA
    first, second, third = table.to_pylist()
    assert first | {"record_id": "r3"} == third
    assert (second["status"], second["ids"], second["record_id"]) == ("refused", [], "r2")
    assert first["ids"] == ["c", "a"]
    assert first["grades"] == [1.0, 0.0]
    assert [round(weight, 6) for weight in first["weights"]] == [1.0, 0.3]
    assert first["items"] == [0, 1]
    assert first["evidence"] == ["exact", "entity"]
    assert (first["judge"], first["version"], first["snapshot"]) == ("answer_span", "1", "snap")


def test_no_rows_make_an_empty_table():
    """Without records the columns are there all the same."""
    table = Judgments(IDS, 0.3).table(
        pa.array([], pa.int64()), pa.array([], pa.string()), "", "", ""
    )
    assert table.schema == JUDGMENT_SCHEMA
    assert table.num_rows == 0


def test_by_span_a_chunk_comes_once_for_each_span_that_it_holds():
    """Equal items are one span; spans that no chunk holds are not there."""
    held = [(0, 0, "exact"), (1, 0, "exact"), (1, 2, "fact"), (1, 2, "again")]
    judgment = Judgment.of(held, [1, 2], "entity", "span")
    assert judgment.chunks == (0, 1, 1, 2)
    assert judgment.items == (0, 0, 1, 2)
    assert judgment.evidence == ("exact", "exact", "fact", "entity")
    assert judgment.hard == 3
