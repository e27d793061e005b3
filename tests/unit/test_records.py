"""The record and its schema."""

from __future__ import annotations

import pyarrow as pa
import pytest

from ragnostic.errors import DataError
from ragnostic.records import (
    BASE_FIELDS,
    Chunk,
    Hits,
    chunk_id,
    hits_row,
    record_schema,
    stages_of,
)


def test_a_chunk_id_depends_on_document_text_and_occurrence_only():
    """Pinned, since gold names it; parts cannot run into each other."""
    assert chunk_id("a.md", "hello") == "4428967df32fc922"
    ids = {chunk_id("a", "bc"), chunk_id("ab", "c"), chunk_id("a", "bc", 1), chunk_id("", "abc")}
    assert len(ids) == 4


def test_a_chunk_is_searched_with_its_context_in_front():
    """Which is not part of its text."""
    assert Chunk("i", "d", 0, 1, 1, "text").searchable == "text"
    assert Chunk("i", "d", 0, 1, 1, "text", "Title").searchable == "Title text"


def test_the_schema_keeps_the_order_of_stages():
    """In its metadata; extra columns are kept."""
    schema = record_schema(["rerank", "retrieve"], [pa.field("mine", pa.int8())])
    assert stages_of(schema) == ["rerank", "retrieve"]
    assert schema.names[-1] == "mine"


@pytest.mark.parametrize("name", sorted(BASE_FIELDS))
def test_a_fixed_column_is_no_name_for_a_stage(name):
    """Refused with a hint."""
    with pytest.raises(DataError, match="fixed column"):
        record_schema([name])


def test_without_metadata_every_struct_with_ids_is_a_stage():
    """But not ``judged``."""
    stage = pa.struct([("ids", pa.list_(pa.string()))])
    other = pa.struct([("x", pa.int8())])
    schema = pa.schema(
        [("judged", stage), ("b", stage), ("a", stage), ("c", other), ("d", pa.int8())]
    )
    assert stages_of(schema) == ["b", "a"]


def test_a_stage_whose_column_is_gone_is_none():
    """A table of some columns of a record."""
    whole = record_schema(["retrieve", "rerank"])
    part = pa.schema([whole.field("rerank")], metadata=whole.metadata)
    assert stages_of(part) == ["rerank"]


def test_hits_become_a_row_of_their_stage():
    """And survive Arrow."""
    hits = Hits(
        ids=("a", None), scores=(2.0, 1.0), doc_ids=("d", None), top_k=5, truncated=(True, False)
    )
    table = pa.Table.from_pylist(
        [{"query_id": "q", "retrieve": hits_row(hits)}, {"retrieve": hits_row(Hits())}],
        record_schema(["retrieve"]),
    )
    first, second = table["retrieve"].to_pylist()
    assert first["ids"] == ["a", None]
    assert first["truncated"] == [True, False]
    assert second["ids"] == []
    assert second["scores"] is second["doc_ids"] is second["truncated"] is None
