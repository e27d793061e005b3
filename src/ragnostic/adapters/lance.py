"""A table of LanceDB."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field

from ragnostic.adapters.index_rows import existing, text_of
from ragnostic.errors import DataError, UsageError
from ragnostic.ports import Neighbours, Resources, Space, StoredBatch, Vectors

_SPACES: dict[str, Space] = {"cosine": "cosine", "dot": "ip", "l2": "l2"}
_NPROBES = (1, 2, 4, 8, 16, 32, 64, 128)
_USUAL_NPROBES = 20
_OPTIONAL = ("text", "doc_id", "version")


class LanceStore:
    """A table with a column of ids and one of vectors, with or without an index.

    Vectors are those of the table, so that also of an index that compresses (PQ, SQ) exact search
    is truly exact. Rows that are not in the index yet are searched by LanceDB all the same.
    """

    class Options(BaseModel):
        """The table and its columns."""

        model_config = ConfigDict(frozen=True, extra="forbid")

        path: str = Field(min_length=1, description="The folder of the database.")
        table: str = Field(min_length=1, description="The table's name.")
        id: str = Field(default="id", description="Column of the chunk ids.")
        vector: str = Field(default="vector", description="Column of the vectors.")
        text: str | None = Field(default=None, description='Column of the texts, else "text".')
        doc_id: str | None = Field(
            default=None, description='Column of the document ids, else "doc_id".'
        )
        version: str | None = Field(
            default=None, description='Column of the document\'s version, else "version".'
        )
        space: str | None = Field(
            default=None,
            pattern="^(cosine|dot|l2)$",
            description="cosine, dot or l2: what your program searches by; the index's, else l2.",
        )
        nprobes: int = Field(
            default=_USUAL_NPROBES, ge=1, description="nprobes of your program, if it sets it."
        )

    needs_embedder: ClassVar[bool] = True

    def __init__(self, table: Any, options: Options) -> None:
        self._table = table
        self._options = options
        self._columns = _columns(table.schema, options)
        indexed = _index_of(table, options.vector)
        self._distance = options.space or indexed or "l2"
        self.space: Space = _SPACES[self._distance]
        self.dimension = _dimension(table.schema.field(options.vector).type, options)
        self.effort = "nprobe" if indexed else ""
        self.usual_effort: int | None = options.nprobes if indexed else None

    @classmethod
    def build(cls, options: Options, resources: Resources) -> Self:
        """Opens the table; raises UsageError for a table or a column that is not there."""
        import lancedb  # noqa: PLC0415 - heavy, loaded on use

        path = existing(resources.base_dir, options.path, "index.lancedb.path", folder=True)
        database = lancedb.connect(str(path))
        try:
            table = database.open_table(options.table)
        except (ValueError, RuntimeError, FileNotFoundError) as error:
            raise UsageError(
                f"{options.path} holds no table {options.table!r}",
                hint="index.lancedb.table is its name, index.lancedb.path the folder around it",
            ) from error
        return cls(table, options)

    def efforts(self, k: int) -> tuple[int, ...]:  # noqa: ARG002 - nprobes have no lower bound
        """nprobes, doubled."""
        return _NPROBES if self.effort else ()

    def count(self) -> int:
        """As the port says."""
        return int(self._table.count_rows())

    def scan(self, rows: int) -> Iterator[StoredBatch]:
        """In the order of the table, page by page: a single scan reads so far ahead that memory
        grows with the table.
        """
        wanted = list(self._columns.values())
        for start in range(0, self.count(), rows):
            page = self._table.search().select(wanted).limit(rows).offset(start).to_arrow()
            for batch in page.combine_chunks().to_batches():
                yield self._stored(batch)

    def search(self, query: Vectors, k: int, effort: int | None = None) -> Neighbours:
        """Scores are distances."""
        name = self._options.id
        asked = self._table.search(
            np.asarray(query, dtype=np.float32), vector_column_name=self._options.vector
        ).distance_type(self._distance)
        if self.effort:
            asked = asked.nprobes(effort or self.usual_effort)
        found = asked.select([name, "_distance"]).limit(k).to_arrow()
        return Neighbours(
            tuple(str(one) for one in found[name].to_pylist()),
            tuple(float(score) for score in found["_distance"].to_pylist()),
        )

    def close(self) -> None:
        """Nothing is held."""

    def _stored(self, batch: pa.RecordBatch) -> StoredBatch:
        vectors, sizes = _vectors(batch.column(self._options.vector), self.dimension)
        known = {name: _texts(batch, self._columns.get(name)) for name in (*_OPTIONAL, "id")}
        return StoredBatch(
            ids=tuple(one or "" for one in known["id"]),
            vectors=vectors,
            sizes=sizes,
            texts=known["text"],
            doc_ids=known["doc_id"],
            versions=known["version"],
        )


def _columns(schema: pa.Schema, options: LanceStore.Options) -> dict[str, str]:
    """Role → column. A column that is named must be there, a usual one may be."""
    found = {"id": options.id, "vector": options.vector}
    for role in _OPTIONAL:
        named = getattr(options, role)
        if named is not None or role in schema.names:
            found[role] = named or role
    for role, name in found.items():
        if name not in schema.names:
            raise UsageError(
                f"index.lancedb.{role}: table {options.table!r} has no column {name!r}",
                hint=f"it has {', '.join(schema.names)}",
            )
    return found


def _dimension(kind: pa.DataType, options: LanceStore.Options) -> int:
    if not pa.types.is_fixed_size_list(kind):
        raise DataError(
            f"column {options.vector!r} holds {kind}, not vectors of one length",
            hint="LanceDB searches columns of the type fixed_size_list only",
        )
    return int(kind.list_size)


def _index_of(table: Any, column: str) -> str | None:
    """The distance of the index of a column; None without one."""
    for index in table.list_indices():
        if index.columns == [column]:
            return str(table.index_stats(index.name).distance_type)
    return None


def _vectors(column: pa.Array, dimension: int) -> tuple[Vectors, tuple[int, ...]]:
    """Vectors with NaN where there is none; also where a vector holds a null."""
    held = np.asarray(column.is_valid())
    vectors = np.full((len(column), dimension), np.nan, dtype=np.float32)
    flat = column.flatten().cast(pa.float32())
    vectors[held] = flat.to_numpy(zero_copy_only=False).reshape(-1, dimension)
    return vectors, tuple(dimension if one else 0 for one in held.tolist())


def _texts(batch: pa.RecordBatch, column: str | None) -> tuple[str | None, ...]:
    if column is None:
        return (None,) * len(batch)
    values: list[Any] = batch.column(column).to_pylist()
    return tuple(map(text_of, values))
