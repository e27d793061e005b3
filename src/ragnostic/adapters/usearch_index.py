"""An index file of usearch, with a file that names its keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from ragnostic.adapters.index_rows import KeyedVectors, Keys, existing, ladder, unnamed_id
from ragnostic.errors import DataError, UsageError
from ragnostic.ports import Neighbours, Resources, Space, StoredBatch, Vectors

_SPACES: dict[str, Space] = {"Cos": "cosine", "IP": "ip", "L2sq": "l2"}


class UsearchStore:
    """HNSW under whole-number keys. The file is mapped, not loaded; vectors in half precision or
    in bytes come out as they are stored.
    """

    class Options(BaseModel):
        """The index file, and what its keys stand for."""

        model_config = ConfigDict(frozen=True, extra="forbid")

        path: str = Field(min_length=1, description="The file that Index.save wrote.")
        rows: str = Field(
            min_length=1,
            description="JSONL or Parquet, a row a vector: key, chunk_id, perhaps text, doc_id "
            "and version. Without key the rows are numbered from 0.",
        )
        ef: int | None = Field(
            default=None, ge=1, description="expansion_search of your program, if it sets one."
        )

    needs_embedder: ClassVar[bool] = True

    def __init__(self, index: Any, rows: Path, ef: int | None) -> None:
        self._index = index
        self.space: Space = _SPACES[index.metric_kind.name]
        self.dimension: int = index.ndim
        self.effort = "ef"
        self.usual_effort: int | None = ef or index.expansion_search
        keys = np.asarray(index.keys).astype(np.int64).reshape(-1)
        self._keyed = KeyedVectors(keys, self._vectors, self.dimension, rows)
        self._names = self._keyed.names()

    @classmethod
    def build(cls, options: Options, resources: Resources) -> Self:
        """Maps the index; raises DataError for what is none, UsageError for other metrics."""
        from usearch.index import Index  # noqa: PLC0415 - heavy, loaded on use

        path = existing(resources.base_dir, options.path, "index.usearch.path")
        rows = existing(resources.base_dir, options.rows, "index.usearch.rows")
        try:
            index: Any = Index.restore(str(path), view=True)
        except (RuntimeError, ValueError, KeyError) as error:
            raise DataError(f"{options.path} is no index of usearch") from error
        if index is None:
            raise DataError(f"{options.path} is no index of usearch")
        if index.metric_kind.name not in _SPACES or index.multi:
            raise UsageError(
                f"{options.path} compares by {index.metric_kind.name}"
                f"{', with several vectors a key' if index.multi else ''}",
                hint="supported: cos, ip and l2sq with one vector a key",
            )
        return cls(index, rows, options.ef)

    def efforts(self, k: int) -> tuple[int, ...]:
        """From k on, doubled."""
        return ladder(k)

    def count(self) -> int:
        """As the port says."""
        return len(self._index)

    def scan(self, rows: int) -> Iterator[StoredBatch]:
        """In the order of the file that names the keys."""
        return self._keyed.scan(rows)

    def search(self, query: Vectors, k: int, effort: int | None = None) -> Neighbours:
        """Scores are distances."""
        self._index.expansion_search = effort or self.usual_effort
        found = self._index.search(np.asarray(query, dtype=np.float32), k)
        keys = np.asarray(found.keys).astype(np.int64).tolist()
        return Neighbours(
            tuple(self._names.get(key, unnamed_id(key)) for key in keys),
            tuple(float(score) for score in found.distances),
        )

    def close(self) -> None:
        """Unmap the file."""
        self._index.reset()

    def _vectors(self, keys: Keys) -> Vectors:
        found: Vectors = np.stack(self._index.get(keys.astype(np.uint64))).astype(np.float32)
        return found
