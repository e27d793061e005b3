"""Reading qrels: TREC, BEIR TSV, CSV, JSON Lines, JSON and Parquet (INTERFACES, Files read)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ragnostic.corpus.strict_json import RowError
from ragnostic.errors import DataError, Fault
from ragnostic.evalset.formats import (
    as_numbers,
    as_text,
    is_json_table,
    is_parquet,
    no_id,
    open_parquet,
    read_json_table,
    whole_number_ids,
)
from ragnostic.evalset.grouping import judged_table
from ragnostic.evalset.numbers import LARGEST_GRADE, Grades, grade
from ragnostic.evalset.rows import Columns, Row, quarantine, read_rows

COLUMNS = Columns(value=("grade", "relevance", "score"), trec_width=4)
_QUOTES = "put ids in quotes; groups of alternatives are for evaluation sets and the Python call"


@dataclass(frozen=True)
class Qrels:
    """Judgments: ``table`` has ``query_id`` and ``judged`` (records.JUDGED_TYPE), a row a query.

    ``rows``: judgments read. ``bad``: rows set aside. ``faults``: what was found on the way.
    """

    table: pa.Table
    rows: int
    bad: int = 0
    faults: tuple[Fault, ...] = field(default=())


def load_qrels(path: str | Path, *, grades: Grades = "whole") -> Qrels:
    """Qrels from a file of any known format.

    Rows that cannot be read are set aside as faults with file and line. Raises DataError where
    nothing usable is left.
    """
    path = Path(path)
    faults: list[Fault] = []
    if is_parquet(path):
        return _from_parquet(path, grades, faults)
    rows = _json_rows(path, faults) if is_json_table(path) else read_rows(path, COLUMNS, faults)
    queries: list[str] = []
    chunks: list[str | None] = []
    numbers: list[float] = []
    for line, query, chunk, value, _ in rows:
        try:
            numbers.append(grade(value, grades))
        except RowError as error:
            quarantine(path, line, f"{query}: {error}", faults)
            continue
        queries.append(query)
        chunks.append(chunk)
    return _built(
        path, pa.array(queries, pa.string()), pa.array(chunks, pa.string()), numbers, faults
    )


def _from_parquet(path: Path, grades: Grades, faults: list[Fault]) -> Qrels:
    """Columns as arrays; only rows that are refused are looked at one by one."""
    file = open_parquet(path)
    names = COLUMNS.find(file.schema_arrow.names, path.name)
    faults += whole_number_ids(file.schema_arrow, names[:2], path.name)
    table = file.read(columns=list(names))
    queries, chunks = (as_text(table[n].combine_chunks(), path, n) for n in names[:2])
    numbers = as_numbers(table[names[2]].combine_chunks(), path, names[2])
    good = np.abs(numbers) <= LARGEST_GRADE
    if grades == "whole":
        good &= numbers == np.rint(numbers)
    nameless = no_id(queries)
    for row in np.flatnonzero(~good | nameless).tolist():
        refused = f"{queries[row]}: grade {table[names[2]][row]} is refused"
        reason = "the query id is null or empty" if nameless[row] else refused
        quarantine(path, row + 1, reason, faults)
    good &= ~nameless
    kept = pa.array(good)
    return _built(path, queries.filter(kept), chunks.filter(kept), numbers[good], faults)


def _json_rows(path: Path, faults: list[Fault]) -> Iterator[Row]:
    for query, judged in read_json_table(path, faults).items():
        pairs: Iterable[tuple[Any, Any]] = (
            judged.items() if isinstance(judged, Mapping) else ((chunk, 1) for chunk in judged)
        )
        for chunk, value in pairs:
            if not query or not (chunk is None or isinstance(chunk, str)):
                raise DataError(f"{path}: query {query!r}: ids must be text", hint=_QUOTES)
            yield Row(1, query, chunk, value)


def _built(
    path: Path,
    queries: pa.Array,
    chunks: pa.Array,
    numbers: Sequence[float] | npt.NDArray[np.float64],
    faults: list[Fault],
) -> Qrels:
    bad = sum(fault.count for fault in faults if fault.kind in {"quarantined", "line_too_long"})
    if not len(numbers):
        first = f"; the first fault: {faults[0]}" if faults else ""
        raise DataError(f"{path}: no usable judgment{first}", hint="see: qrels formats in the docs")
    found = np.asarray(numbers, dtype=np.float64)
    table, more = judged_table(queries, chunks, found)
    return Qrels(table, len(numbers), bad, (*faults, *more))
