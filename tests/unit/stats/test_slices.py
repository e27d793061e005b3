"""By what queries can be sliced."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest

from ragnostic.records import record_schema
from ragnostic.stats.slices import bucket, query_lengths, slice_columns, traffic


def columns(rows, extra=()):
    """Slice columns of records as plain lists."""
    table = pa.Table.from_pylist(rows, record_schema(["retrieve"], extra))
    return {name: column.to_pylist() for name, column in slice_columns(table).items()}


def test_columns_that_say_nothing_are_left_out():
    """Null everywhere is not a slice; one value is."""
    rows = [{"query_id": "a", "category": "hr"}, {"query_id": "b"}]
    assert columns(rows) == {"category": ["hr", None]}


def test_every_kind_of_column_is_found():
    """Set as an extra column, length by words, traffic by frequency, labels by key."""
    rows = [
        {"query": "重置密码", "source": "log", "language": "zh", "frequency": 80, "set": "frozen"},
        {"query": "how do I reset my password", "frequency": 20, "set": "fresh"},
    ]
    rows[0]["labels"] = [("team", "hr"), ("tier", "1")]
    found = columns(rows, [pa.field("set", pa.string())])
    assert found == {
        "language": ["zh", None],
        "source": ["log", None],
        "set": ["frozen", "fresh"],
        "length": ["≤3", "4–11"],
        "traffic": ["head", "tail"],
        "labels.team": ["hr", None],
        "labels.tier": ["1", None],
    }


def test_other_string_types_are_cast():
    """A dictionary column, and tables without the fixed columns."""
    table = pa.table({"category": pa.array(["a", "b"]).dictionary_encode(), "labels": [None, None]})
    found = slice_columns(table)
    assert list(found) == ["category"]
    assert found["category"].type == pa.string()


@pytest.mark.parametrize(
    ("tokens", "name"), [(0, "≤3"), (3, "≤3"), (4, "4–11"), (11, "4–11"), (12, "≥12")]
)
def test_the_borders_of_the_buckets(tokens, name):
    """METRICS 10."""
    assert bucket(tokens) == name


def test_a_query_without_text_has_no_length():
    """An empty one has length 0."""
    found = query_lengths(pa.chunked_array([["a b", "", None]])).tolist()
    assert found[:2] == [2, 0]
    assert math.isnan(found[2])


def test_traffic_follows_metrics_3():
    """Queries of one frequency fall on one side; without any traffic there is none."""
    assert traffic(pa.chunked_array([[50, 30, 10, 10]])).to_pylist() == [
        *("head", "head", "tail", "tail")
    ]
    assert traffic(pa.chunked_array([[0, 0]])).to_pylist() == [None, None]
