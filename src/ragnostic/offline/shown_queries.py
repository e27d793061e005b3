"""Texts of queries for a report that is made from files: qrels and runs hold only ids."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa

from ragnostic.corpus.files import iter_lines
from ragnostic.corpus.strict_json import RowError, parse_object
from ragnostic.errors import DataError, Fault
from ragnostic.evalset.beir import find_file, query_texts
from ragnostic.evalset.loading import load_evaluation_set
from ragnostic.records import EvalQuery

_BEIR = ("queries.jsonl", "queries.jsonl.gz")
_TABLES = (".csv", ".tsv")
_SHOWN: dict[str, Callable[[EvalQuery], str | None]] = {
    "query": lambda query: query.query,
    "category": lambda query: query.category,
    "language": lambda query: query.language,
}


def queries_beside(corpus: Path) -> Path | None:
    """The queries.jsonl of a BEIR folder, given as the folder or as its corpus.jsonl."""
    if corpus.is_dir():
        return find_file(corpus, "queries.jsonl")
    is_beir = corpus.name in {"corpus.jsonl", "corpus.jsonl.gz"}
    return find_file(corpus.parent, "queries.jsonl") if is_beir else None


def with_queries(records: pa.Table, path: Path, faults: list[Fault]) -> pa.Table:
    """The records with query, category and language filled in where they have none.

    ``path`` is a BEIR folder, its queries.jsonl (``_id``, ``text``), or an evaluation set. Raises
    DataError where it cannot be read.
    """
    queries = _queries(path, faults)
    ids = records["query_id"].to_pylist()
    for name, shown in _SHOWN.items():
        known = zip(records[name].to_pylist(), ids, strict=True)
        values = [
            value or (shown(queries[id_]) if id_ in queries else None) for value, id_ in known
        ]
        at = records.schema.get_field_index(name)
        records = records.set_column(at, records.schema.field(at), pa.array(values, pa.string()))
    return records


def _queries(path: Path, faults: list[Fault]) -> Mapping[str, EvalQuery]:
    if path.is_dir():
        found = find_file(path, "queries.jsonl")
        if found is None:
            raise DataError(f"{path} has no queries.jsonl")
        path = found
    if path.name in _BEIR or _has_texts(path):
        texts = query_texts(path, faults)
        return {query_id: EvalQuery(query_id, text) for query_id, text in texts.items()}
    return {query.query_id: query for query in load_evaluation_set(path, faults=faults)}


def _has_texts(path: Path) -> bool:
    """Whether the first row names its text as BEIR does."""
    if Path(path.name.lower().removesuffix(".gz")).suffix in _TABLES:
        return False
    for _, line in iter_lines(path, faults=[]):
        if line.strip():
            try:
                row = parse_object(line)
            except RowError:
                return False
            return "_id" in row and "text" in row
    return False
