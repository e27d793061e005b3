"""Corpus snapshots: by content, complete or not there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from ragnostic.errors import DataError, StoreError
from ragnostic.records import CHUNK_SCHEMA
from ragnostic.store.snapshots import (
    current_snapshot,
    list_snapshots,
    open_snapshot,
    use_snapshot,
    write_snapshot,
)


def chunks(**texts: str) -> pa.Table:
    """Chunks by id."""
    return pa.table({"id": list(texts), "text": list(texts.values())})


def test_there_is_none_at_first(tmp_path):
    """And none that was not written."""
    assert current_snapshot(tmp_path) is None
    assert list_snapshots(tmp_path) == []
    for name in ("0123456789abcdef", "..", "current"):
        with pytest.raises(DataError, match="has no corpus snapshot"):
            open_snapshot(tmp_path, name)


def test_it_is_read_as_it_was_written(tmp_path):
    """Missing columns are null, others are left out."""
    table = chunks(a="one", b="二").append_column("extra", pa.array([1, 2]))
    name = write_snapshot(tmp_path, table)
    found = current_snapshot(tmp_path)
    assert found is not None
    assert found.fingerprint == name
    assert found.chunks.schema.equals(CHUNK_SCHEMA)
    assert dict(found.texts) == {"a": "one", "b": "二"}
    assert found.vectors is None
    assert found.meta["chunks"] == 2


def test_the_name_is_the_content(tmp_path):
    """In any order; other texts or vectors are another snapshot."""
    first = write_snapshot(tmp_path, chunks(a="one", b="two"))
    assert write_snapshot(tmp_path, chunks(b="two", a="one")) == first
    vectors = np.array([[1, 0], [0, 1]], np.float32)
    others = {
        write_snapshot(tmp_path, chunks(a="one", b="three")),
        write_snapshot(tmp_path, chunks(a="one", b="two"), vectors),
        write_snapshot(tmp_path, chunks(a="one", b="two"), vectors[::-1]),
    }
    assert len(others | {first}) == len(list_snapshots(tmp_path)) == 4
    same = write_snapshot(tmp_path, chunks(b="two", a="one"), vectors[::-1])
    assert same in others


def test_vectors_come_back(tmp_path):
    """Parallel to the chunks, float32."""
    vectors = np.arange(12, dtype=np.float64).reshape(3, 4)
    write_snapshot(tmp_path, chunks(a="1", b="2", c="3"), vectors.astype(np.float32))
    found = current_snapshot(tmp_path)
    assert found is not None
    assert found.vectors is not None
    assert found.vectors.dtype == np.float32
    assert (found.vectors == vectors).all()
    assert found.meta["dimension"] == 4


def test_an_empty_corpus_is_a_snapshot(tmp_path):
    """With vectors or without."""
    empty = pa.table({"id": pa.array([], pa.string()), "text": pa.array([], pa.string())})
    write_snapshot(tmp_path, empty, np.zeros((0, 3), np.float32))
    found = current_snapshot(tmp_path)
    assert found is not None
    assert found.vectors is not None
    assert found.vectors.shape == (0, 3)


def test_one_is_in_use_until_another_is_chosen(tmp_path):
    """Writing may leave it as it is."""
    first = write_snapshot(tmp_path, chunks(a="one"))
    second = write_snapshot(tmp_path, chunks(a="two"), current=False)
    assert current_snapshot(tmp_path).fingerprint == first
    use_snapshot(tmp_path, second)
    assert current_snapshot(tmp_path).texts["a"] == "two"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pa.table({"id": ["a"]}), "no column 'text'"),
        (pa.table({"id": ["a", None], "text": ["x", "y"]}), "1 chunks have no id"),
        (pa.table({"id": ["a"], "text": pa.array([None], pa.string())}), "1 chunks have no text"),
        (pa.table({"id": ["a", "a"], "text": ["x", "y"]}), "'a' is given more than once"),
    ],
)
def test_chunks_that_are_none_are_refused(tmp_path, table, message):
    """Nothing is written."""
    with pytest.raises(DataError, match=message):
        write_snapshot(tmp_path, table)
    assert list_snapshots(tmp_path) == []


def test_vectors_that_do_not_fit_are_refused(tmp_path):
    """One for each chunk, all as long."""
    for shape in ((1, 4), (2,)):
        with pytest.raises(DataError, match="vectors of shape"):
            write_snapshot(tmp_path, chunks(a="1", b="2"), np.zeros(shape, np.float32))


def test_a_damaged_file_is_named(tmp_path: Path):
    """Chunks and what is said of them."""
    name = write_snapshot(tmp_path, chunks(a="one"))
    folder = tmp_path / "snapshots" / name
    (folder / "chunks.parquet").write_bytes(b"no parquet")
    (folder / "snapshot.json").write_text("{")
    found = open_snapshot(tmp_path, name)
    with pytest.raises(StoreError, match=r"chunks\.parquet is damaged"):
        _ = found.chunks
    with pytest.raises(StoreError, match=r"snapshot\.json is damaged"):
        _ = found.meta


def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path):
    """A file stands where the folder should be."""
    (tmp_path / "snapshots").write_text("")
    with pytest.raises(StoreError, match="cannot be used"):
        write_snapshot(tmp_path, chunks(a="one"))
