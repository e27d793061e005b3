"""Corpus snapshots: the chunks of the corpus at one time, named by their fingerprint.

``STORE/snapshots/<16 hex digits>/`` holds ``chunks.parquet`` and ``snapshot.json``;
``STORE/snapshots/current`` names the one in use. A folder that exists is complete.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ragnostic.corpus.fingerprint import fingerprint_chunks
from ragnostic.errors import DataError
from ragnostic.ports import Vectors
from ragnostic.records import CHUNK_SCHEMA, Chunk
from ragnostic.store.lake_files import explained, undamaged
from ragnostic.store.sqlite_rescue import sync

CHUNKS, META, CURRENT = "chunks.parquet", "snapshot.json", "current"
_VECTOR = pa.field("vector", pa.list_(pa.float32()))
_FINGERPRINT = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True)
class Snapshot:
    """A snapshot; its content is read when it is asked for, and kept."""

    fingerprint: str
    folder: Path

    @cached_property
    def meta(self) -> Mapping[str, Any]:
        """``chunks`` (how many), ``dimension`` of the vectors or null, ``created`` (UTC)."""
        with undamaged(self.folder / META):
            return dict(json.loads((self.folder / META).read_text(encoding="utf-8")))

    @cached_property
    def chunks(self) -> pa.Table:
        """All chunks, under ``records.CHUNK_SCHEMA``."""
        return self._read(CHUNK_SCHEMA.names)

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """Chunk id → text."""
        columns = (self.chunks[name].to_pylist() for name in ("id", "text"))
        return dict(zip(*columns, strict=True))

    @cached_property
    def vectors(self) -> Vectors | None:
        """(chunks, dimension) float32 in the order of :attr:`chunks`; None without vectors."""
        dimension = self.meta["dimension"]
        if dimension is None:
            return None
        values = pc.list_flatten(self._read(["vector"])["vector"]).combine_chunks()
        return np.asarray(values.to_numpy(), np.float32).reshape(-1, dimension)

    def _read(self, columns: list[str]) -> pa.Table:
        file = self.folder / CHUNKS
        with undamaged(file):
            return pq.read_table(file, columns=columns, page_checksum_verification=True)


def write_snapshot(
    root: Path, chunks: pa.Table, vectors: Vectors | None = None, *, current: bool = True
) -> str:
    """Write the chunks (at least ``id`` and ``text``) below the store ``root`` and, with
    ``current``, use them from now on; the fingerprint. The same content is written once.

    ``vectors``: (chunks, dimension), parallel to the chunks. Raises DataError where ids are
    missing or not unique, texts are missing or vectors do not fit, StoreError where the disk
    does not allow it.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> name = write_snapshot(Path(folder.name), pa.table({"id": ["a"], "text": ["one"]}))
    >>> current_snapshot(Path(folder.name)).texts["a"]
    'one'
    >>> folder.cleanup()
    """
    table = _checked(chunks)
    if vectors is not None:
        table = table.append_column(_VECTOR, _vector_column(vectors, table.num_rows))
    fingerprint = _fingerprint(table, vectors)
    folder = _snapshots(root) / fingerprint
    if not folder.exists():
        about = {
            "chunks": table.num_rows,
            "dimension": None if vectors is None else int(vectors.shape[1]),
            "created": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        }
        with explained(folder):
            _write(folder, table, about)
    if current:
        use_snapshot(root, fingerprint)
    return fingerprint


def use_snapshot(root: Path, fingerprint: str) -> None:
    """Make a snapshot the current one."""
    file = open_snapshot(root, fingerprint).folder.with_name(CURRENT)
    aside = file.with_name(f".{CURRENT}.{secrets.token_hex(4)}")
    with explained(file):
        aside.write_text(f"{fingerprint}\n", encoding="ascii")
        sync(aside)
        aside.rename(file)
        sync(file.parent)


def current_snapshot(root: Path) -> Snapshot | None:
    """The snapshot in use; None where there is none yet."""
    file = _snapshots(root) / CURRENT
    if not file.exists():
        return None
    with undamaged(file):
        name = file.read_text(encoding="ascii").strip()
    return open_snapshot(root, name)


def open_snapshot(root: Path, fingerprint: str) -> Snapshot:
    """A snapshot by its fingerprint; raises DataError where there is none."""
    folder = _snapshots(root) / fingerprint
    if not _FINGERPRINT.fullmatch(fingerprint) or not folder.is_dir():
        raise DataError(
            f"{root} has no corpus snapshot {fingerprint!r}",
            hint="it is made from the corpus again",
        )
    return Snapshot(fingerprint, folder)


def list_snapshots(root: Path) -> list[str]:
    """The fingerprints of all snapshots, in order of their names."""
    found = _snapshots(root).glob("*")
    return sorted(folder.name for folder in found if _FINGERPRINT.fullmatch(folder.name))


def _snapshots(root: Path) -> Path:
    return root / "snapshots"


def _checked(chunks: pa.Table) -> pa.Table:
    for name in ("id", "text"):
        if name not in chunks.column_names:
            raise DataError(f"the chunks have no column {name!r}")
        if chunks[name].null_count:
            raise DataError(f"{chunks[name].null_count} chunks have no {name}")
    counts = pc.value_counts(chunks["id"])
    twice = counts.filter(pc.greater(counts.field("counts"), 1))
    if len(twice):
        raise DataError(f"chunk id {twice.field('values')[0].as_py()!r} is given more than once")
    columns = [
        chunks[field.name].cast(field.type)
        if field.name in chunks.column_names
        else pa.nulls(chunks.num_rows, field.type)
        for field in CHUNK_SCHEMA
    ]
    return pa.table(columns, schema=CHUNK_SCHEMA)


def _vector_column(vectors: Vectors, rows: int) -> pa.Array:
    if vectors.ndim != 2 or len(vectors) != rows:
        raise DataError(f"vectors of shape {vectors.shape} for {rows} chunks")
    flat = pa.array(np.ascontiguousarray(vectors, np.float32).reshape(-1))
    offsets = np.arange(rows + 1, dtype=np.int64) * vectors.shape[1]
    return pa.LargeListArray.from_arrays(offsets, flat).cast(_VECTOR.type)


def _fingerprint(table: pa.Table, vectors: Vectors | None) -> str:
    """Of the chunks in any order; of the vectors in the order of the ids."""
    rows = zip(*(table[name].to_pylist() for name in CHUNK_SCHEMA.names), strict=True)
    whole = fingerprint_chunks(
        Chunk(name, doc_id or "", start or 0, end or 0, 0, text)
        for name, doc_id, start, end, _, text in rows
    )
    if vectors is not None:
        order = pc.sort_indices(table["id"]).to_numpy()
        digest = hashlib.sha256(np.ascontiguousarray(vectors, np.float32)[order].tobytes())
        whole = hashlib.sha256(
            f"{whole}{vectors.shape[1]}{digest.hexdigest()}".encode()
        ).hexdigest()
    return whole[:16]


def _write(folder: Path, table: pa.Table, about: Mapping[str, Any]) -> None:
    aside = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}")
    try:
        aside.mkdir(parents=True)
        pq.write_table(table, aside / CHUNKS, compression="zstd", write_page_checksum=True)
        text = json.dumps(about, indent=2, sort_keys=True)
        (aside / META).write_text(f"{text}\n", encoding="utf-8")
        for path in (aside / CHUNKS, aside / META, aside):
            sync(path)
        try:
            os.rename(aside, folder)  # noqa: PTH104 - a folder that is there is not replaced
        except OSError:
            if not folder.is_dir():
                raise
        sync(folder.parent)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
