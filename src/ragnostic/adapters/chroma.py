"""A collection of Chroma, read from a copy of its folder."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from ragnostic.adapters.index_rows import existing, ladder, text_of
from ragnostic.errors import DataError, UsageError
from ragnostic.ports import Neighbours, Resources, Space, StoredBatch, Vectors


class ChromaStore:
    """A persistent collection. Chroma writes when it opens a folder, and its ef can only be set in
    the collection itself, so a copy in the temporary folder is what is opened.
    """

    class Options(BaseModel):
        """The collection, and where its metadata have document and version."""

        model_config = ConfigDict(frozen=True, extra="forbid")

        path: str = Field(min_length=1, description="The folder of the PersistentClient.")
        collection: str = Field(min_length=1, description="The collection's name.")
        doc_id: str = Field(default="doc_id", description="Metadata key of the document id.")
        version: str = Field(default="version", description="Metadata key of its version.")

    needs_embedder: ClassVar[bool] = True

    def __init__(self, folder: tempfile.TemporaryDirectory[str], options: Options) -> None:
        self._folder = folder
        self._options = options
        self._client: Any = None
        self._open()
        hnsw = self._hnsw()
        self.space: Space = hnsw["space"]
        self.effort = "ef"
        self.usual_effort: int | None = hnsw["ef_search"]
        self._set = self.usual_effort
        first = self._collection.get(limit=1, include=["embeddings"])["embeddings"]
        if len(first) == 0:
            raise DataError(f"the collection {options.collection!r} is empty")
        self.dimension = len(first[0])

    @classmethod
    def build(cls, options: Options, resources: Resources) -> Self:
        """Copies and opens; raises UsageError where there is no such collection."""
        path = existing(resources.base_dir, options.path, "index.chroma.path", folder=True)
        folder = tempfile.TemporaryDirectory(prefix="ragnostic-chroma-")
        try:
            shutil.copytree(path, _copy(folder))
            return cls(folder, options)
        except BaseException:
            folder.cleanup()
            raise

    def efforts(self, k: int) -> tuple[int, ...]:
        """From k on, doubled."""
        return ladder(k)

    def count(self) -> int:
        """As the port says."""
        return int(self._collection.count())

    def scan(self, rows: int) -> Iterator[StoredBatch]:
        """In the order in which the collection was filled."""
        include = ["embeddings", "documents", "metadatas"]
        for start in range(0, self.count(), rows):
            found = self._collection.get(limit=rows, offset=start, include=include)
            vectors = np.asarray(found["embeddings"], dtype=np.float32)
            metadata = [one or {} for one in found["metadatas"]]
            yield StoredBatch(
                ids=tuple(found["ids"]),
                vectors=vectors,
                sizes=(self.dimension,) * len(vectors),
                texts=tuple(found["documents"]),
                doc_ids=_values(metadata, self._options.doc_id),
                versions=_values(metadata, self._options.version),
            )

    def search(self, query: Vectors, k: int, effort: int | None = None) -> Neighbours:
        """Scores are distances. Another effort than before opens the collection anew."""
        self._set_effort(effort or self.usual_effort)
        found = self._collection.query(
            query_embeddings=[np.asarray(query, dtype=np.float32)],
            n_results=k,
            include=["distances"],
        )
        return Neighbours(tuple(found["ids"][0]), tuple(map(float, found["distances"][0])))

    def close(self) -> None:
        """Close and remove the copy."""
        self._client.close()
        self._folder.cleanup()

    def _set_effort(self, effort: int | None) -> None:
        """It takes effect when the collection is opened the next time."""
        if effort != self._set:
            with _quiet():
                self._collection.modify(configuration={"hnsw": {"ef_search": effort}})
            self._open()
            self._set = effort

    def _open(self) -> None:
        import chromadb  # noqa: PLC0415 - heavy, loaded on use
        from chromadb.config import Settings  # noqa: PLC0415 - the same
        from chromadb.errors import ChromaError  # noqa: PLC0415 - the same

        if self._client is not None:
            self._client.close()
        settings = Settings(anonymized_telemetry=False)
        self._client = chromadb.PersistentClient(str(_copy(self._folder)), settings=settings)
        try:
            # Without an embedding function: vectors come from our embedder, nothing is loaded.
            self._collection = self._client.get_collection(
                self._options.collection, embedding_function=None
            )
        except (ChromaError, ValueError) as error:
            names = sorted(one.name for one in self._client.list_collections())
            self._client.close()
            raise UsageError(
                f"{self._options.path} holds no collection {self._options.collection!r}",
                hint=f"it holds {', '.join(names) or 'none'}",
            ) from error

    def _hnsw(self) -> Mapping[str, Any]:
        with _quiet():
            found: Mapping[str, Any] | None = self._collection.configuration.get("hnsw")
        if found is None:
            raise UsageError(
                f"the collection {self._options.collection!r} has no HNSW index",
                hint="only collections of a PersistentClient are supported",
            )
        return found


@contextmanager
def _quiet() -> Iterator[None]:
    """Chroma calls a collection without an embedding function legacy at each look."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


def _copy(folder: tempfile.TemporaryDirectory[str]) -> Path:
    return Path(folder.name) / "copy"


def _values(metadata: list[Mapping[str, Any]], key: str) -> tuple[str | None, ...]:
    return tuple(text_of(one.get(key)) for one in metadata)
