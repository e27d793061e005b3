"""An index file of FAISS, with a file that names its rows."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from ragnostic.adapters.index_rows import KeyedVectors, Keys, existing, ladder, unnamed_id
from ragnostic.errors import DataError, UsageError
from ragnostic.ports import Neighbours, Resources, Space, StoredBatch, Vectors

_NPROBES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class FaissStore:
    """Flat, HNSW and IVF indexes, also behind IndexIDMap and IndexPreTransform.

    The index is read into memory; vectors are reconstructed, so that of a lossy index
    (PQ, SQ) they are what it makes of them.
    """

    class Options(BaseModel):
        """The index file, and what its rows stand for."""

        model_config = ConfigDict(frozen=True, extra="forbid")

        path: str = Field(min_length=1, description="The file that faiss.write_index wrote.")
        rows: str = Field(
            min_length=1,
            description="JSONL or Parquet, a row a vector: chunk_id, perhaps text, doc_id, "
            "version, and key where the index has ids of its own.",
        )

    needs_embedder: ClassVar[bool] = True

    def __init__(self, index: Any, rows: Path) -> None:
        faiss: Any = import_module("faiss")  # heavy, loaded on use; its stubs lack much
        self._faiss = faiss
        self._index = index
        self.space: Space = "ip" if index.metric_type == faiss.METRIC_INNER_PRODUCT else "l2"
        self.dimension: int = index.d
        self._hnsw, self._ivf = _parts(faiss, index)
        self.effort = "ef" if self._hnsw is not None else "nprobe" if self._ivf is not None else ""
        self.usual_effort: int | None = None
        if self._hnsw is not None:
            self.usual_effort = self._hnsw.efSearch
        elif self._ivf is not None:
            self.usual_effort = self._ivf.nprobe
        self._keyed = KeyedVectors(*self._keys(), self.dimension, rows)
        self._names = self._keyed.names()

    @classmethod
    def build(cls, options: Options, resources: Resources) -> Self:
        """Reads the index; raises DataError for what is none."""
        faiss: Any = import_module("faiss")
        path = existing(resources.base_dir, options.path, "index.faiss.path")
        rows = existing(resources.base_dir, options.rows, "index.faiss.rows")
        try:
            index = faiss.read_index(str(path))
        except RuntimeError as error:
            raise DataError(f"{options.path} is no index of FAISS") from error
        if isinstance(index, faiss.IndexBinary):
            raise UsageError(f"{options.path} is a binary index, which is not supported")
        if index.metric_type not in {faiss.METRIC_INNER_PRODUCT, faiss.METRIC_L2}:
            raise UsageError(
                f"{options.path} compares by neither inner product nor L2",
                hint="other metrics of FAISS have no exact counterpart here",
            )
        return cls(index, rows)

    def efforts(self, k: int) -> tuple[int, ...]:
        """Ef from k on, or nprobe up to the number of lists."""
        if self._hnsw is not None:
            return ladder(k)
        if self._ivf is not None:
            return tuple(n for n in _NPROBES if n < self._ivf.nlist) + (
                (self._ivf.nlist,) if self._ivf.nlist <= _NPROBES[-1] else ()
            )
        return ()

    def count(self) -> int:
        """As the port says."""
        return int(self._index.ntotal)

    def scan(self, rows: int) -> Iterator[StoredBatch]:
        """In the order of the file that names the rows."""
        return self._keyed.scan(rows)

    def search(self, query: Vectors, k: int, effort: int | None = None) -> Neighbours:
        """Scores are inner products, or squared distances."""
        parameters = None if effort is None or not self.effort else self._parameters(effort)
        scores, keys = self._index.search(
            np.ascontiguousarray(query[None], dtype=np.float32), k, params=parameters
        )
        found = [(key, score) for key, score in zip(keys[0], scores[0], strict=True) if key >= 0]
        return Neighbours(
            tuple(self._names.get(int(key), unnamed_id(int(key))) for key, _ in found),
            tuple(float(score) for _, score in found),
        )

    def close(self) -> None:
        """Nothing is held but memory."""

    def _parameters(self, effort: int) -> Any:
        if self._hnsw is not None:
            made = self._faiss.SearchParametersHNSW(efSearch=effort)
        else:
            made = self._faiss.SearchParametersIVF(nprobe=effort)
        if isinstance(self._index, self._faiss.IndexPreTransform):
            return self._faiss.SearchParametersPreTransform(index_params=made)
        return made

    def _keys(self) -> tuple[Keys, Any]:
        """All ids, and what gives their vectors."""
        faiss, index = self._faiss, self._index
        mapped = isinstance(index, faiss.IndexIDMap)
        inner = faiss.downcast_index(index.index) if mapped else index
        if self._ivf is not None:
            self._ivf.set_direct_map_type(faiss.DirectMap.Hashtable)

        def vectors(keys: Keys) -> Vectors:
            found: Vectors = np.stack([inner.reconstruct(int(key)) for key in keys])
            return found

        if not mapped:
            own = _listed(faiss, self._ivf) if self._ivf is not None else np.arange(index.ntotal)
            return own.astype(np.int64), vectors
        own = faiss.vector_to_array(index.id_map).astype(np.int64)
        order = np.argsort(own, kind="stable")

        def mapped_vectors(keys: Keys) -> Vectors:
            return vectors(order[np.searchsorted(own, keys, sorter=order)])

        return own, mapped_vectors


def _parts(faiss: Any, index: Any) -> tuple[Any, Any]:
    """(the HNSW, the IVF) inside an index, each or None."""
    inner = faiss.downcast_index(index)
    while isinstance(inner, faiss.IndexPreTransform | faiss.IndexIDMap):
        inner = faiss.downcast_index(inner.index)
    if isinstance(inner, faiss.IndexHNSW):
        return inner.hnsw, None
    return None, inner if isinstance(inner, faiss.IndexIVF) else None


def _listed(faiss: Any, ivf: Any) -> Keys:
    """The ids in the lists of an IVF."""
    lists = ivf.invlists
    parts = [
        faiss.rev_swig_ptr(lists.get_ids(number), lists.list_size(number)).copy()
        for number in range(lists.nlist)
        if lists.list_size(number)
    ]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
