"""Payloads into records: nothing is lost, what cannot be used is refused alone."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.corpus.strict_json import RowError
from ragnostic.monitor.event_records import event_records
from ragnostic.monitor.event_rows import event_row
from ragnostic.ports import StoredEvent
from ragnostic.records import BASE_FIELDS, STAGE_TYPE, stages_of

GOOD = {
    "record_id": "r1",
    "ts": "2026-03-01T16:00:00+00:00",
    "query": "年假几天",
    "stages": {"retrieve": {"ids": ["a", None], "scores": [0.5, 0.25], "top_k": 2}},
}


def event(offset, row, revision=0):
    """An event with a row, or raw bytes, as its payload."""
    payload = row if isinstance(row, bytes) else json.dumps(row).encode()
    return StoredEvent(offset, f"e{offset}", revision, payload)


def test_a_row_becomes_a_record():
    """Known fields in their columns, the local day, language and query id filled in."""
    found = event_records([event(1, GOOD)], "Asia/Shanghai")
    (row,) = found.table.to_pylist()
    assert row["ts"] == datetime(2026, 3, 1, 16, tzinfo=UTC)
    assert row["day"] == "2026-03-02"
    assert row["language"] == "zh"
    assert row["query_id"] == "r1"
    assert row["retrieve"]["ids"] == ["a", None]
    assert stages_of(found.table.schema) == ["retrieve"]
    assert found.table.schema.field("retrieve").type == STAGE_TYPE


def test_what_has_no_column_becomes_a_label():
    """As JSON where it is no text; labels that were given win."""
    row = {
        **GOOD,
        "shop": 7,
        "tags": ["x"],
        "labels": {"a": "b", "n": 1, "shop": "own", "no": None},
    }
    labels = dict(event_records([event(1, row)], "UTC").table["labels"][0].as_py())
    assert labels == {"a": "b", "n": "1", "shop": "own", "tags": '["x"]'}


def test_texts_of_hits_are_kept_by_chunk_id():
    """A judge without a snapshot may read them; a batch without any has no such column."""
    stage = {"ids": ["a", "b", "c"], "texts": ["A", None, "C"]}
    table = event_records([event(1, {**GOOD, "stages": {"retrieve": stage}})], "UTC").table
    assert dict(table["texts"][0].as_py()) == {"a": "A", "c": "C"}
    assert "texts" not in event_records([event(1, GOOD)], "UTC").table.column_names


def test_the_newest_revision_wins_and_the_others_are_counted():
    """Of equal ones the last."""
    rows = [(1, 0, "one"), (2, 2, "two"), (3, 1, "three"), (4, 2, "four")]
    events = [event(n, {**GOOD, "answer": text}, revision) for n, revision, text in rows]
    found = event_records(events, "UTC")
    assert found.table["answer"].to_pylist() == ["four"]
    assert found.table["revision"].to_pylist() == [2]
    assert found.replaced == 3


def test_stages_of_a_batch_are_in_pipeline_order():
    """A record without a stage has null there."""
    second = {**GOOD, "record_id": "r2", "stages": {"rerank": {"ids": ["b"]}}}
    both = {"retrieve": {"ids": ["a"]}, "rerank": {"ids": ["a"]}}
    third = {**GOOD, "record_id": "r3", "stages": both}
    table = event_records([event(1, second), event(2, third)], "UTC").table
    assert stages_of(table.schema) == ["retrieve", "rerank"]
    assert table["retrieve"].is_null().to_pylist() == [True, False]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (b"{", "not valid JSON"),
        (b'"text"', "a JSON object was expected, not a string"),
        (b'{"latency_ms": NaN}', "NaN is no JSON number"),
        (b"[" * 100_000, "not valid JSON"),
        (b"\xff", "not valid JSON"),
        ({**GOOD, "record_id": None}, "record_id must be a text, not null"),
        ({**GOOD, "query": 3}, "query must be a text, not a number"),
        ({**GOOD, "ts": None}, "has no ts"),
        ({**GOOD, "ts": "noon"}, "is no ISO 8601 time"),
        ({**GOOD, "context_ids": "abc"}, "context_ids must be a list, not a string"),
        ({**GOOD, "labels": [1]}, "labels must be an object"),
        ({**GOOD, "stages": [1]}, "stages must be an object"),
        ({**GOOD, "stages": {"retrieve": ["a"]}}, "stage retrieve must be an object"),
        ({**GOOD, "stages": {"query": {"ids": []}}}, "fixed column name"),
        ({**GOOD, "stages": {"s": {"ids": "ab"}}}, "s.ids must be a list, not a string"),
        ({**GOOD, "stages": {"s": {"ids": ["a"], "scores": []}}}, "s.scores has 0 values for 1"),
        ({**GOOD, "stages": {"s": {"ids": [1]}}}, "does not fit a record"),
        ({**GOOD, "latency_ms": "fast"}, "does not fit a record"),
        ({**GOOD, "fanout": 2**40}, "does not fit a record"),
    ],
)
def test_a_bad_payload_is_refused_alone(row, reason):
    """The good one beside it is kept, whichever comes first."""
    bad, good = event(1, row), event(2, {**GOOD, "record_id": "good"})
    for events in ([bad, good], [good, bad]):
        found = event_records(events, "UTC")
        assert found.table["record_id"].to_pylist() == ["good"]
        assert [one.event.offset for one in found.refused] == [1]
        assert reason in found.refused[0].reason


def test_an_empty_batch_is_an_empty_table():
    """With all columns."""
    table = event_records([], "UTC").table
    assert table.num_rows == 0
    assert {*BASE_FIELDS, "day", "revision"} <= set(table.column_names)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
keys = st.sampled_from([*BASE_FIELDS, "stages", "revision", "texts", "other"])


@given(st.lists(st.dictionaries(keys, json_values, max_size=6), max_size=4))
def test_any_rows_become_records_or_are_refused(rows):
    """Nothing raises, and the numbers add up."""
    events = [event(n, {**GOOD, "record_id": f"r{n}", **row}) for n, row in enumerate(rows, 1)]
    found = event_records(events, "UTC")
    assert found.table.num_rows + len(found.refused) + found.replaced == len(events)
    assert isinstance(found.table, pa.Table)


@given(st.binary(max_size=40))
def test_any_bytes_are_a_row_or_refused(payload):
    """Only RowError comes out."""
    with suppress(RowError):
        assert event_row(payload, 0, "UTC").values["record_id"]
