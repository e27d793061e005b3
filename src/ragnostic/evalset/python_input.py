"""Qrels and runs from what a Python caller has: dicts, frames, tables, paths. Never changed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.corpus.strict_json import RowError
from ragnostic.errors import DataError, Fault
from ragnostic.evalset.formats import (
    as_numbers,
    as_text,
    no_id,
    ranking_columns,
    whole_number_ids,
)
from ragnostic.evalset.grouping import (
    Queries,
    ScoreOrder,
    ScorePrecision,
    judged_table,
    rank_batch,
    ranking_batch,
)
from ragnostic.evalset.numbers import Grades, grade, score
from ragnostic.evalset.qrels import COLUMNS as QRELS_COLUMNS
from ragnostic.evalset.qrels import Qrels, load_qrels
from ragnostic.evalset.runs import COLUMNS as RUN_COLUMNS
from ragnostic.evalset.runs import STAGE, Run
from ragnostic.records import JUDGED_TYPE

_ARGUMENT = "the given table"
_GROUP = (list, tuple, set, frozenset)


class Rankings(Protocol):
    """A stream of rankings, with what was noticed once it was read."""

    ties: int
    faults: list[Fault]

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Record batches of ``query_id`` and ``retrieve``."""
        ...


@dataclass
class GivenRun:
    """Rankings that a caller handed over."""

    parts: list[pa.RecordBatch]
    ties: int = 0
    faults: list[Fault] = field(default_factory=list)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rankings in blocks."""
        for part in self.parts:
            for start in range(0, len(part), 8192):
                yield part.slice(start, 8192)


def qrels_from(given: Any, grades: Grades = "whole") -> Qrels:
    """Qrels from a mapping, an Arrow table, a frame, a path, or qrels themselves."""
    if isinstance(given, Qrels):
        return given
    if isinstance(given, str | Path):
        return load_qrels(given, grades=grades)
    if isinstance(given, Mapping):
        return _qrels_of_mapping(given, grades)
    table = _table(given, "qrels")
    if "judged" in table.column_names:
        return _judged(table)
    query, chunk, value = QRELS_COLUMNS.find(table.column_names, "qrels")
    queries, chunks = _queries(table, query), _texts(table, chunk)
    numbers: list[float] = []
    for row, found in enumerate(table[value].to_pylist()):
        try:
            numbers.append(grade(found, grades))
        except RowError as error:
            raise DataError(f"query {queries[row]}, id {chunks[row]}: {error}") from error
    built, faults = judged_table(queries, chunks, np.array(numbers, dtype=np.float64))
    announced = whole_number_ids(table.schema, [query, chunk], "qrels")
    return Qrels(built, len(numbers), 0, (*announced, *faults))


def _judged(table: pa.Table) -> Qrels:
    """Qrels from a table with a row a query."""
    parts = [ranking_columns(batch, "judged", _ARGUMENT) for batch in table.to_batches()]
    if not parts:
        return _qrels_of_mapping({}, "whole")
    found = pa.Table.from_batches(parts)
    queries = found["query_id"]
    if pc.count_distinct(queries).as_py() < len(queries):
        raise DataError(f"{_ARGUMENT}: a query is judged in two rows")
    return Qrels(found, found.num_rows)


def _qrels_of_mapping(given: Mapping[Any, Any], grades: Grades) -> Qrels:
    queries: list[str] = []
    chunks: list[str | None] = []
    numbers: list[float] = []
    groups: dict[str, Any] = {}
    for query, members in given.items():
        name = _query(query)
        judged = _members(members, f"query {name}: gold")
        if isinstance(judged, Mapping):
            pairs = list(judged.items())
        elif any(isinstance(member, _GROUP) for member in judged):
            groups[name] = judged
            continue
        else:
            pairs = [(chunk, 1) for chunk in judged]
        for chunk, value in pairs:
            queries.append(name)
            chunks.append(None if chunk is None else _text(chunk, f"query {name}: gold id"))
            try:
                numbers.append(grade(value, grades))
            except RowError as error:
                raise DataError(f"query {name}, id {chunk}: {error}") from error
    table, faults = judged_table(
        pa.array(queries, pa.string()), pa.array(chunks, pa.string()), np.array(numbers)
    )
    # A query whose gold is empty is judged all the same: nothing relevant exists (METRICS 1.2).
    present = set(queries)
    rest = [name for name in map(str, given) if name not in present]
    extra = [
        {"query_id": name, "judged": _grouped_gold(name, groups.get(name, ()))} for name in rest
    ]
    table = pa.concat_tables([table, pa.Table.from_pylist(extra, table.schema)])
    place = {str(name): row for row, name in enumerate(given)}
    order = np.argsort([place[name] for name in table["query_id"].to_pylist()], kind="stable")
    return Qrels(table.take(order), len(numbers), 0, tuple(faults))


def _grouped_gold(query: str, groups: Any) -> dict[str, list[Any]]:
    """A ``judged`` value in which each inner list is one item (METRICS 1.8)."""
    entries = []
    for item, members in enumerate(groups):
        alternatives = members if isinstance(members, _GROUP) else [members]
        texts = [_text(chunk, f"query {query}: gold id") for chunk in alternatives]
        entries += [(chunk, item) for chunk in sorted(texts)]
    ids, items = [chunk for chunk, _ in entries], [item for _, item in entries]
    nothing = [None] * len(ids)
    return {f.name: nothing for f in JUDGED_TYPE} | {
        "ids": ids,
        "grades": [1.0] * len(ids),
        "items": items,
    }


def run_from(
    given: Any,
    *,
    score_order: ScoreOrder = "similarity",
    score_precision: ScorePrecision = "float64",
) -> Rankings:
    """A run from a mapping, an Arrow table, a frame, a path, or a run itself."""
    if isinstance(given, Run | GivenRun):
        return given
    if isinstance(given, str | Path):
        return Run(Path(given), score_order, score_precision)
    if isinstance(given, Mapping):
        return _run_of_mapping(given, score_order, score_precision)
    table = _table(given, "run")
    if STAGE in table.column_names:
        parts = [ranking_columns(batch, STAGE, _ARGUMENT) for batch in table.to_batches()]
        return GivenRun(parts)
    query, chunk, value = RUN_COLUMNS.find(table.column_names, "run")
    queries, chunks = _queries(table, query), _texts(table, chunk)
    scores = as_numbers(table[value].combine_chunks(), _ARGUMENT, value)
    for row in np.flatnonzero(np.isnan(scores)).tolist():
        raise DataError(f"query {queries[row]}, id {chunks[row]}: the score is no number")
    batch, ties = rank_batch(
        queries, chunks, scores, score_order=score_order, score_precision=score_precision
    )
    return GivenRun([batch], ties, whole_number_ids(table.schema, [query, chunk], "run"))


def _run_of_mapping(
    given: Mapping[Any, Any], score_order: ScoreOrder, score_precision: ScorePrecision
) -> GivenRun:
    ordered: list[tuple[str, str | None]] = []
    scored: list[tuple[str, str | None, float]] = []
    empty: list[str] = []
    for query, members in given.items():
        name = _query(query)
        results = _members(members, f"query {name}: results", ordered=True)
        if not results:
            empty.append(name)
        for chunk in results:
            known = None if chunk is None else _text(chunk, f"query {name}: id")
            if not isinstance(results, Mapping):
                ordered.append((name, known))
                continue
            try:
                scored.append((name, known, score(results[chunk])))
            except RowError as error:
                raise DataError(f"query {name}, id {chunk}: {error}") from error
    grouped = Queries.of(pa.array([q for q, _ in ordered], pa.string())).group()
    lists = ranking_batch(grouped, pa.array([c for _, c in ordered], pa.string()), None, STAGE)
    ranked, ties = rank_batch(
        pa.array([q for q, _, _ in scored], pa.string()),
        pa.array([c for _, c, _ in scored], pa.string()),
        np.array([s for _, _, s in scored], dtype=np.float64),
        score_order=score_order,
        score_precision=score_precision,
    )
    none = pa.RecordBatch.from_pylist(
        [{"query_id": name, STAGE: {"ids": []}} for name in empty], schema=lists.schema
    )
    return GivenRun([lists, ranked, none], ties)


def _table(given: Any, what: str) -> pa.Table:
    if isinstance(given, pa.Table):
        return given
    if isinstance(given, pa.RecordBatch):
        return pa.Table.from_batches([given])
    if hasattr(given, "__arrow_c_stream__"):
        with suppress(pa.ArrowInvalid):  # a single column, for example
            return pa.table(given)
    raise DataError(
        f"{what}: cannot read a {type(given).__name__}",
        hint="give a dict, an Arrow table, a pandas or polars frame, or a path",
    )


def _texts(table: pa.Table, name: str) -> pa.Array:
    return as_text(table[name].combine_chunks(), _ARGUMENT, name)


def _queries(table: pa.Table, name: str) -> pa.Array:
    found = _texts(table, name)
    nameless = np.flatnonzero(no_id(found))
    if nameless.size:
        raise DataError(f"{_ARGUMENT}: the query id of row {int(nameless[0])} is null or empty")
    return found


def _members(given: Any, what: str, *, ordered: bool = False) -> Any:
    """A mapping as it is, any other collection of ids as a list."""
    if isinstance(given, Mapping):
        return given
    loose = isinstance(given, set | frozenset) and ordered
    if loose or isinstance(given, str | bytes) or not isinstance(given, Iterable):
        best = ", best first" if ordered else ""
        raise DataError(
            f"{what}: cannot read a {type(given).__name__}",
            hint=f"give a list of ids{best}, or a dict of id and number",
        )
    return list(given)


def _query(value: Any) -> str:
    if value == "":
        raise DataError("a query id is empty")
    return _text(value, "query id")


def _text(value: Any, what: str) -> str:
    if isinstance(value, str):
        return value
    raise DataError(
        f"{what} {value!r} is no text",
        hint=f"write ids as text, for example {str(value)!r}: 007 is not 7",
    )
