"""Reading runs: TREC, CSV, JSON Lines, JSON and Parquet, as a stream of rankings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.corpus.strict_json import RowError
from ragnostic.errors import DataError, Fault
from ragnostic.evalset.formats import (
    as_numbers,
    as_text,
    is_json_table,
    is_parquet,
    no_id,
    open_parquet,
    ranking_columns,
    read_json_table,
    whole_number_ids,
)
from ragnostic.evalset.grouping import (
    Queries,
    ScoreOrder,
    ScorePrecision,
    rank_batch,
    rank_faults,
    ranking_batch,
)
from ragnostic.evalset.numbers import number, score
from ragnostic.evalset.rows import Columns, Row, quarantine, read_rows
from ragnostic.evalset.tidy_trec import Hits, tidy_hits
from ragnostic.scoring.strings import Strings

COLUMNS = Columns(value=("score",), trec_width=6)
STAGE = "retrieve"
_ROWS = 1 << 16


@dataclass
class Run:
    """Rankings of one system, read batch by batch.

    :meth:`batches` yields record batches of ``query_id`` and ``retrieve``; a query stands in one
    batch only. ``ties``, ``bad``, ``rows`` and ``faults`` are complete once they were all read.
    """

    path: Path
    score_order: ScoreOrder = "similarity"
    score_precision: ScorePrecision = "float64"
    ties: int = 0
    rows: int = 0
    bad: int = 0
    faults: list[Fault] = field(default_factory=list)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Rankings, best first (METRICS 1.4). Raises DataError where nothing usable is left."""
        self.ties = self.rows = self.bad = 0
        self.faults = []
        if is_parquet(self.path):
            yield from self._parquet()
        elif is_json_table(self.path):
            yield self._json()
        else:
            yield self._text()
        self.bad += sum(f.count for f in self.faults if f.kind in {"quarantined", "line_too_long"})
        if not self.rows:
            first = f"; the first fault: {self.faults[0]}" if self.faults else ""
            raise DataError(f"{self.path}: no usable result{first}")

    def table(self) -> pa.Table:
        """All batches at once."""
        return pa.Table.from_batches(list(self.batches()))

    def _ranked(self, queries: pa.Array, chunks: pa.Array, scores: Any) -> pa.RecordBatch:
        batch, ties = rank_batch(
            queries,
            chunks,
            scores,
            stage=STAGE,
            score_order=self.score_order,
            score_precision=self.score_precision,
        )
        self.ties += ties
        self.rows += len(chunks)
        return batch

    def _text(self) -> pa.RecordBatch:
        blocks = tidy_hits(self.path) or list(self._line_by_line())
        queries, chunks = (
            pa.chunked_array([block[i] for block in blocks]).combine_chunks() for i in range(2)
        )
        scores, ranks = (np.concatenate([block[i] for block in blocks]) for i in (2, 3))
        self.faults += rank_faults(queries, scores, ranks, self.score_order)
        return self._ranked(queries, chunks, scores)

    def _line_by_line(self) -> Iterator[Hits]:
        rows: list[Row] = []
        numbers: list[float] = []
        for row in read_rows(self.path, COLUMNS, self.faults):
            try:
                numbers.append(score(row.value))
            except RowError as error:
                quarantine(self.path, row.line, f"{row.query}: {error}", self.faults)
                continue
            rows.append(row)
            if len(rows) >= _ROWS:  # Python objects live for one block only
                yield _block(rows, numbers)
                rows, numbers = [], []
        yield _block(rows, numbers)

    def _json(self) -> pa.RecordBatch:
        """Query id → {id: score}, or query id → ids in order."""
        table = read_json_table(self.path, self.faults)
        ordered = [isinstance(values, list) for values in table.values()]
        queries = [query for query, values in table.items() for _ in values]
        chunks = [chunk for values in table.values() for chunk in values]
        if "" in table:
            raise DataError(f"{self.path}: a query id is empty")
        if not all(chunk is None or isinstance(chunk, str) for chunk in chunks):
            raise DataError(f"{self.path}: ids must be text", hint="put them in quotes")
        self.rows += len(table)
        if all(ordered):
            grouped = Queries.of(pa.array(queries, pa.string())).group()
            batch = ranking_batch(grouped, pa.array(chunks, pa.string()), None, STAGE)
            return _with_empty(batch, [q for q, values in table.items() if not values])
        if any(ordered):
            raise DataError(f"{self.path}: some queries hold lists and some hold scores")
        numbers = []
        for query, values in table.items():
            for chunk, value in values.items():
                try:
                    numbers.append(score(value))
                except RowError as error:
                    raise DataError(f"{self.path}: {query}, {chunk}: {error}") from error
        batch = self._ranked(
            pa.array(queries, pa.string()), pa.array(chunks, pa.string()), np.array(numbers)
        )
        return _with_empty(batch, [q for q, values in table.items() if not values])

    def _parquet(self) -> Iterator[pa.RecordBatch]:
        file = open_parquet(self.path)
        names = file.schema_arrow.names
        if STAGE in names:
            for batch in file.iter_batches(batch_size=8192, columns=["query_id", STAGE]):
                self.rows += len(batch)
                yield ranking_columns(batch, STAGE, self.path)
            return
        columns = COLUMNS.find(names, self.path.name)
        self.faults += whole_number_ids(file.schema_arrow, columns[:2], self.path.name)
        if _is_grouped(self.path, columns[0]):
            parts = _whole_queries(self._hits(columns))
        else:
            hits = list(self._hits(columns))
            parts = iter([pa.concat_batches(hits)] if hits else [])
        for part in parts:
            yield self._ranked(part["query"], part["chunk"], part["score"].to_numpy())

    def _hits(self, columns: tuple[str, str, str]) -> Iterator[pa.RecordBatch]:
        """Query, chunk and score of the usable rows."""
        for batch in open_parquet(self.path).iter_batches(batch_size=_ROWS, columns=list(columns)):
            queries, chunks = (as_text(batch[name], self.path, name) for name in columns[:2])
            scores = as_numbers(batch[columns[2]], self.path, columns[2])
            good = ~np.isnan(scores)
            self._set_aside(queries, ~good, "rows have no score")
            nameless = no_id(queries)
            self._set_aside(chunks, nameless & good, "rows have no query id")
            good &= ~nameless
            part = pa.RecordBatch.from_arrays(
                [queries, chunks, pa.array(scores)], ["query", "chunk", "score"]
            )
            yield part if good.all() else part.filter(pa.array(good))

    def _set_aside(self, ids: pa.Array, rows: npt.NDArray[np.bool_], reason: str) -> None:
        count = int(rows.sum())
        if count:
            names = ", ".join(map(str, ids.take(np.flatnonzero(rows)[:5])))
            message = f"{count} {reason} (set aside), the first: {names}"
            self.faults.append(Fault("quarantined", message, where=self.path.name, count=count))


def _whole_queries(parts: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Hits whose queries stand together, cut between queries only."""
    rest: pa.RecordBatch | None = None
    for part in parts:
        joined = part if rest is None else pa.concat_batches([rest, part])
        ends = pc.run_end_encode(joined["query"], run_end_type=pa.int64()).run_ends
        cut = ends[-2].as_py() if len(ends) > 1 else 0
        rest = joined.slice(cut)
        if cut:
            yield joined.slice(0, cut)
    if rest is not None and len(rest):
        yield rest


def _block(rows: list[Row], numbers: list[float]) -> Hits:
    ranks = [number(row.rank) for row in rows]
    return (
        pa.array([row.query for row in rows], pa.string()),
        pa.array([row.chunk for row in rows], pa.string()),
        np.array(numbers, dtype=np.float64),
        np.array([np.nan if rank is None else rank for rank in ranks], dtype=np.float64),
    )


def load_run(
    path: str | Path,
    *,
    score_order: ScoreOrder = "similarity",
    score_precision: ScorePrecision = "float64",
) -> Run:
    """A run from a file of any known format, read when it is scored."""
    return Run(Path(path), score_order, score_precision)


def _is_grouped(path: Path, column: str) -> bool:
    """Whether each query's rows stand together; reads only that column."""
    seen: set[int] = set()
    last: str | None = None
    for batch in open_parquet(path).iter_batches(batch_size=_ROWS, columns=[column]):
        queries = as_text(batch[column], path, column)
        queries = pc.run_end_encode(queries, run_end_type=pa.int64()).values
        if len(queries) and queries[0].as_py() == last:
            queries = queries.slice(1)
        if not len(queries):
            continue
        last = queries[-1].as_py()
        before = len(seen)
        seen.update(Strings.of(queries).hashes().tolist())
        if len(seen) - before < len(queries):
            return False
    return True


def _with_empty(batch: pa.RecordBatch, empty: list[str]) -> pa.RecordBatch:
    """The batch with queries whose ranking is empty (not missing) behind it."""
    if not empty:
        return batch
    none = pa.RecordBatch.from_pylist(
        [{"query_id": query, STAGE: {"ids": []}} for query in empty], schema=batch.schema
    )
    return pa.concat_batches([batch, none])
