"""A run read in part: of a million queries only the columns and rows that a comparison needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.errors import DataError
from ragnostic.offline.run_folder import CHUNKS, RECORDS, SCORES, read_meta
from ragnostic.offline.run_schema import ASKED
from ragnostic.records import stages_of
from ragnostic.report.run import RunData, mapping
from ragnostic.report.scorebook import ScoreBook

Read = Callable[[str, Sequence[str] | None, pc.Expression | None], pa.Table]
"""(file, columns or all, rows or all) → the part of that table."""

SLICED = ("category", "language", "source", "set", "frequency", "labels")
"""Columns of the records that queries are sliced by, beside the query text."""

_SCORE_COLUMNS = ("query_id", "stage", "metric", "value", "status")
_WORDS = frozenset({"stage", "metric", "status"})
_ROWS_AT_ONCE = 8192


@dataclass(frozen=True, slots=True)
class RunSource:
    """A run of which nothing but run.json and the schema of its records was read yet.

    ``place`` is where it lies: two sources with one place are the same run.
    """

    name: str
    place: str
    meta: Mapping[str, Any]
    schema: pa.Schema
    read: Read

    @property
    def stages(self) -> tuple[str, ...]:
        """Stages in pipeline order."""
        return tuple(stages_of(self.schema))

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that the run was asked for at its final stage, in its own order."""
        empty = RunData(self.meta, self.schema.empty_table(), _no_rows(), _no_rows())
        return ScoreBook(empty).metrics()

    def asked(self) -> pa.Table:
        """A row a record: query id, text, fingerprint of the question, and what slices it."""
        wanted = ("query_id", "query", ASKED.name, *SLICED)
        return self.read(RECORDS, [name for name in wanted if name in self.schema.names], None)

    def judged(self, query_ids: pa.Array) -> pa.Table:
        """Query ids and judgments of these queries."""
        return self.read(RECORDS, ["query_id", "judged"], pc.field("query_id").isin(query_ids))

    def scores(self, stages: Sequence[str], metrics: Sequence[str] | None) -> pa.Table:
        """The long score table of these stages and metrics (all where None)."""
        rows = pc.field("stage").isin(list(stages))
        if metrics is not None:
            rows &= pc.field("metric").isin(list(metrics))
        return self.read(SCORES, _SCORE_COLUMNS, rows)

    def shown(self, query_ids: Sequence[str]) -> RunData:
        """The whole of these queries: records, the chunks they name, scores."""
        rows = pc.field("query_id").isin(pa.array(query_ids, pa.string()))
        records = self.read(RECORDS, None, rows)
        records = records.replace_schema_metadata(self.schema.metadata)
        named = pa.array(sorted(_chunk_ids(records, self.stages)), pa.string())
        chunks = self.read(CHUNKS, None, pc.field("id").isin(named))
        return RunData(self.meta, records, chunks, self.read(SCORES, None, rows))


def folder_source(folder: Path) -> RunSource:
    """A run folder. Raises DataError where it is none, or a file of it cannot be read."""
    import pyarrow.parquet as pq  # noqa: PLC0415 - heavy, loaded on use

    meta = read_meta(folder)
    try:
        schema = pq.read_schema(folder / RECORDS)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(folder / RECORDS, error) from error

    def read(
        file: str, columns: Sequence[str] | None, rows: pc.Expression | None = None
    ) -> pa.Table:
        try:
            return _scan(folder / file, columns, rows)
        except (pa.ArrowException, OSError) as error:
            raise _unreadable(folder / file, error) from error

    name = str(meta.get("run") or folder.name)
    return RunSource(name, str(folder.resolve()), meta, schema, read)


def memory_source(run: RunData, name: str) -> RunSource:
    """A run that is in memory; ``name`` where it does not name itself."""
    tables = {RECORDS: run.records, CHUNKS: run.chunks, SCORES: run.scores}

    def read(
        file: str, columns: Sequence[str] | None, rows: pc.Expression | None = None
    ) -> pa.Table:
        table = tables[file]
        found = table if rows is None else table.filter(rows)
        return found if columns is None else found.select(list(columns))

    named = str(run.meta.get("run") or name)
    return RunSource(named, f"memory {id(run)}", run.meta, run.records.schema, read)


def _scan(file: Path, columns: Sequence[str] | None, rows: pc.Expression | None) -> pa.Table:
    """The rows that are wanted, read block by block; words that repeat come as dictionaries."""
    import pyarrow.dataset as ds  # noqa: PLC0415 - heavy, loaded on use

    words = _WORDS & set(columns or ())
    whole = ds.ParquetFileFormat(
        read_options=ds.ParquetReadOptions(dictionary_columns=words),
        default_fragment_scan_options=ds.ParquetFragmentScanOptions(pre_buffer=False),
    )
    scanner = ds.dataset(str(file), format=whole).scanner(
        columns=None if columns is None else list(columns),
        filter=rows,
        batch_size=_ROWS_AT_ONCE if columns is None else 1 << 17,
        batch_readahead=1,
        fragment_readahead=1,
    )
    return scanner.to_table()


def _chunk_ids(records: pa.Table, stages: Sequence[str]) -> set[str]:
    columns = [name for name in (*stages, "judged") if name in records.column_names]
    return {
        id_
        for name in columns
        for row in records[name].to_pylist()
        for id_ in mapping(row).get("ids") or ()
        if id_
    }


def _no_rows() -> pa.Table:
    return pa.table({"id": pa.array([], pa.string())})


def _unreadable(file: Path, error: Exception) -> DataError:
    if isinstance(error, FileNotFoundError):
        return DataError(f"{file} is missing: the run folder is not complete")
    return DataError(f"{file}: not a readable Parquet file: {error}")
