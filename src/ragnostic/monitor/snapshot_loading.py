"""A corpus into the table of a snapshot: ready chunks, or documents that a chunker cuts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from ragnostic.corpus.chunking import chunk_documents
from ragnostic.corpus.documents import load_documents
from ragnostic.errors import DataError, Fault, PathError, counted
from ragnostic.monitor.chunk_rows import VECTOR, Vector, chunk_rows
from ragnostic.ports import Chunker, Embedder, Progress, Vectors, no_progress
from ragnostic.records import CHUNK_SCHEMA, Chunk


@dataclass(frozen=True, slots=True)
class Corpus:
    """Chunks under ``records.CHUNK_SCHEMA``, and their vectors, (n, d), where there are any."""

    chunks: pa.Table
    vectors: Vectors | None


def load_corpus(
    path: Path,
    *,
    chunker: Chunker | None = None,
    embedder: Embedder | None = None,
    faults: list[Fault],
    progress: Progress = no_progress,
) -> Corpus:
    """The chunks below a path.

    With a chunker: documents as :func:`ragnostic.corpus.documents.load_documents` reads them, cut
    by it. Without: the rows of a JSON Lines or Parquet file are chunks, and each text file of a
    folder is one. Vectors come from the rows' ``vector``, else from the embedder, if there is
    one. Raises DataError where nothing is left, or vectors differ in length.
    """
    if chunker is not None or path.is_dir():
        chunks, vectors = _cut(path, chunker, faults), None
    elif not path.exists():
        raise PathError(f"no such file or folder: {path}", hint="is the path right?")
    else:
        chunks, vectors = _ready(path, faults)
    if vectors is None and embedder is not None:
        texts = [chunk.searchable for chunk in chunks]
        vectors = embedder.embed(texts, "passage", progress)
    rows = [asdict(chunk) for chunk in chunks]
    return Corpus(pa.Table.from_pylist(rows, CHUNK_SCHEMA), vectors)


def _cut(path: Path, chunker: Chunker | None, faults: list[Fault]) -> list[Chunk]:
    from ragnostic.corpus.chunkers import WholeDocument  # noqa: PLC0415 - only for documents

    documents = load_documents(path, faults=faults)
    chunks = chunk_documents(documents, chunker or WholeDocument())
    if not chunks:
        raise DataError(f"{path}: no chunk came out of {counted(len(documents), 'document')}")
    return chunks


def _ready(path: Path, faults: list[Fault]) -> tuple[list[Chunk], Vectors | None]:
    pairs = list(chunk_rows(path, faults))
    if not pairs:
        hint = "a row is a chunk: chunk_id (or id, _id) and text, perhaps doc_id and vector"
        raise DataError(f"{path} holds no chunk", hint=hint)
    return [chunk for chunk, _ in pairs], _matrix(path, pairs)


def _matrix(path: Path, pairs: Sequence[tuple[Chunk, Vector]]) -> Vectors | None:
    """All vectors as one matrix; None where no chunk has one."""
    lengths = {None if vector is None else len(vector) for _, vector in pairs}
    if lengths == {None}:
        return None
    if None in lengths:
        bare = [chunk.id for chunk, vector in pairs if vector is None]
        raise DataError(
            f"{path}: {len(bare)} of {counted(len(pairs), 'chunk')} without {VECTOR}, the first is "
            f"{bare[0]!r}",
            hint="all chunks have a vector of one length, or none has",
        )
    if len(lengths) > 1:
        odd = next(chunk.id for chunk, vector in pairs if _length(vector) != _length(pairs[0][1]))
        raise DataError(
            f"{path}: {VECTOR} of chunk {odd!r} has another length than that of the first chunk",
            hint="all chunks have a vector of one length, or none has",
        )
    matrix = np.array([vector for _, vector in pairs], dtype=np.float32)
    broken = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
    if broken.size:
        raise DataError(f"{path}: {VECTOR} of chunk {pairs[broken[0]][0].id!r} is not finite")
    return matrix


def _length(vector: Vector) -> int | None:
    return None if vector is None else len(vector)
