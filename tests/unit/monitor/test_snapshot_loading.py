"""Ready chunks and documents into the table of a snapshot."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragnostic.corpus.chunkers import SentenceChunker
from ragnostic.errors import DataError, PathError
from ragnostic.monitor.snapshot_loading import load_corpus
from ragnostic.ports import Resources
from ragnostic.records import CHUNK_SCHEMA


def written(tmp_path, rows):
    """A JSON Lines file with these rows; text stands as it is."""
    path = tmp_path / "chunks.jsonl"
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_rows_are_chunks_under_their_own_ids(tmp_path):
    """Document, place and vector where they are given; numbers become text, with a remark."""
    faults = []
    rows = [
        {"chunk_id": "a", "text": "one", "doc_id": "d", "start": 5, "end": 8, "vector": [1, 0]},
        {"id": 7, "text": "two", "vector": [0, 0.5]},
        "",
    ]
    found = load_corpus(written(tmp_path, rows), faults=faults)
    assert found.chunks.schema == CHUNK_SCHEMA
    assert found.chunks.select(["id", "doc_id", "start", "end", "text"]).to_pylist() == [
        {"id": "a", "doc_id": "d", "start": 5, "end": 8, "text": "one"},
        {"id": "7", "doc_id": "7", "start": 0, "end": 3, "text": "two"},
    ]
    assert found.vectors is not None
    assert found.vectors.dtype == np.float32
    assert found.vectors.tolist() == [[1, 0], [0, 0.5]]
    assert [fault.kind for fault in faults] == ["number_ids"]


def test_bad_rows_are_left_out_with_their_place(tmp_path):
    """Each with file, line and reason."""
    faults = []
    rows = [
        {"id": "a", "text": "one"},
        "{",
        {"text": "x"},
        {"id": "b"},
        {"id": "a", "text": "again"},
        {"id": "c", "text": "x", "start": -1},
        {"id": "d", "text": "x", "vector": ["y"]},
        {"id": "", "text": "x"},
    ]
    found = load_corpus(written(tmp_path, rows), faults=faults)
    assert found.chunks["id"].to_pylist() == ["a"]
    assert found.vectors is None
    assert [fault.where for fault in faults] == [f"chunks.jsonl:{n}" for n in range(2, 9)]
    said = " | ".join(fault.message for fault in faults)
    for part in (
        "not valid JSON",
        "has no chunk_id, id or _id (keys: text)",
        "text must be a string, not null",
        "given before, in chunks.jsonl:1",
        "start must be a whole number",
        "vector must be a list of numbers",
        "is empty",
    ):
        assert part in said


def test_parquet_rows_are_the_same(tmp_path):
    """A vector column too."""
    path = tmp_path / "chunks.parquet"
    pq.write_table(pa.table({"id": ["a"], "text": ["one"], "vector": [[1.0, 2.0]]}), path)
    found = load_corpus(path, faults=[])
    assert found.chunks["id"].to_pylist() == ["a"]
    assert found.vectors is not None
    assert found.vectors.shape == (1, 2)
    path.write_bytes(b"PAR1 no")
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        load_corpus(path, faults=[])


def test_a_folder_gives_a_chunk_a_file_or_is_cut(tmp_path):
    """The chunker decides."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.md").write_text("First sentence. Second sentence.", encoding="utf-8")
    whole = load_corpus(tmp_path / "docs", faults=[])
    assert whole.chunks["id"].to_pylist() == ["a.md"]
    chunker = SentenceChunker.build(SentenceChunker.Options(max_tokens=5, overlap=0), Resources())
    cut = load_corpus(tmp_path / "docs", chunker=chunker, faults=[])
    assert cut.chunks.num_rows == 2
    assert set(cut.chunks["doc_id"].to_pylist()) == {"a.md"}


class Letters:
    """An embedder that counts letters a and b."""

    name = "letters"

    def embed(self, texts, role, progress=None):
        """(n, 2)."""
        assert role == "passage"
        return np.array([[text.count("a"), text.count("b")] for text in texts], dtype=np.float32)

    def count_tokens(self, text):
        """Unused."""
        return len(text)


def test_an_embedder_fills_in_where_the_rows_have_no_vectors(tmp_path):
    """Vectors that are there are left alone."""
    path = written(tmp_path, [{"id": "x", "text": "aab"}])
    assert load_corpus(path, embedder=Letters(), faults=[]).vectors.tolist() == [[2, 1]]
    path = written(tmp_path, [{"id": "x", "text": "aab", "vector": [9]}])
    assert load_corpus(path, embedder=Letters(), faults=[]).vectors.tolist() == [[9]]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"id": "a", "text": "x", "vector": [1]}, {"id": "b", "text": "x"}], "first is 'b'"),
        (
            [{"id": "a", "text": "x", "vector": [1]}, {"id": "b", "text": "", "vector": [1, 2]}],
            "'b'",
        ),
        ([{"id": "a", "text": "x", "vector": [1e300]}], "not finite"),
        (["{"], "holds no chunk"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_what_makes_no_snapshot_is_said(tmp_path, rows, said):
    """With the chunk concerned."""
    with pytest.raises(DataError, match=said):
        load_corpus(written(tmp_path, rows), faults=[])


def test_a_path_that_is_not_there_is_said(tmp_path):
    """As a wrong argument."""
    with pytest.raises(PathError, match="no such file"):
        load_corpus(tmp_path / "none.jsonl", faults=[])
