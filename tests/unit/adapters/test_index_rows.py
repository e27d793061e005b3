"""The file that says what the numbers of an index stand for."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.adapters.index_rows import KeyedVectors, ladder, read_rows
from ragnostic.errors import DataError


def written(folder, *rows):
    """A file of JSON lines."""
    path = folder / "rows.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def test_rows_are_numbered_where_they_name_no_key(tmp_path):
    """And what is not there is not known; numbers are ids too."""
    path = written(tmp_path, {"chunk_id": "a", "text": "x"}, {"_id": 7, "key": 90, "version": 2})
    first, second = read_rows(path)
    assert first == (0, "a", "x", None, None)
    assert second == (90, "7", None, None, "2")


def test_parquet_is_read_too(tmp_path):
    """With the same columns."""
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"id": ["a", "b"], "key": [3, 4], "doc_id": ["d", None]}), path)
    assert [(row.key, row.id, row.doc_id) for row in read_rows(path)] == [
        (3, "a", "d"),
        (4, "b", None),
    ]


def test_unsigned_keys_keep_their_bits(tmp_path):
    """A hash of 64 bits as key."""
    (row,) = read_rows(written(tmp_path, {"id": "a", "key": (1 << 64) - 2}))
    assert np.int64(row.key).astype(np.uint64) == (1 << 64) - 2


@pytest.mark.parametrize(
    "line", ['{"text": "x"}', '{"id": "a", "key": "one"}', "{broken"], ids=["id", "key", "json"]
)
def test_a_row_that_cannot_be_read_ends_the_reading(tmp_path, line):
    """It would move all others; file and line are told."""
    path = tmp_path / "rows.jsonl"
    path.write_text(f'{{"id": "a"}}\n{line}\n{{"id": "c"}}\n')
    with pytest.raises(DataError, match=r"rows\.jsonl:2"):
        list(read_rows(path))


def test_a_broken_last_row_is_told_too(tmp_path):
    """Nothing comes behind it that would notice."""
    path = tmp_path / "rows.jsonl"
    path.write_text('{"id": "a"}\n{broken')
    with pytest.raises(DataError, match=r"rows\.jsonl:2"):
        list(read_rows(path))


@given(st.integers(1, 5), st.sets(st.integers(0, 12), min_size=1), st.sets(st.integers(0, 12)))
def test_every_row_and_every_vector_comes_once(tmp_path_factory, size, named, held):
    """Whatever the batch: rows without a vector, vectors without a row, and both."""
    folder = tmp_path_factory.mktemp("rows")
    path = written(folder, *({"id": f"c{key}", "key": key} for key in sorted(named)))
    keys = np.array(sorted(held, reverse=True), dtype=np.int64)
    keyed = KeyedVectors(keys, lambda asked: asked[:, None].astype(np.float32), 1, path)
    batches = list(keyed.scan(size))
    assert all(len(batch.ids) <= size for batch in batches)
    found = {
        id_: vector
        for batch in batches
        for id_, vector in zip(batch.ids, batch.vectors[:, 0].tolist(), strict=True)
    }
    assert sum(len(batch.ids) for batch in batches) == len(found) == len(named | held)
    for key in named | held:
        vector = found[f"c{key}" if key in named else f"#{key}"]
        assert vector == key if key in held else np.isnan(vector)


def test_efforts_double_up_to_a_limit():
    """At least one, even where k is large."""
    assert ladder(100, 350) == (100, 200)
    assert ladder(1000, 640) == (1000,)
