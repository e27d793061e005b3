"""Evaluation sets as BEIR folders: queries.jsonl, qrels/<split>.tsv, corpus.jsonl."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ragnostic.corpus.files import iter_lines
from ragnostic.corpus.strict_json import RowError, parse_object, read_id
from ragnostic.errors import DataError, Fault, counted
from ragnostic.evalset.query_row import refuse_second
from ragnostic.evalset.remarks import Remarks, announce
from ragnostic.records import EvalQuery, GoldSpan

_COLUMNS = 3


def find_file(folder: Path, name: str) -> Path | None:
    """The file of this name in a folder, or its gzip."""
    candidates = (folder / name, folder / f"{name}.gz")
    return next((path for path in candidates if path.is_file()), None)


def load_beir(folder: Path, split: str, faults: list[Fault]) -> list[EvalQuery]:
    """The queries judged in one split, in the order of its qrels; other splits are not merged in.

    A judged query without a text is left out with a Fault of kind ``quarantined``. Raises
    DataError where a file is missing (naming the splits that exist) or nothing is usable.
    """
    queries_path = find_file(folder, "queries.jsonl")
    if queries_path is None:
        raise DataError(
            f"{folder} has no queries.jsonl", hint="an evaluation set is a file or a BEIR folder"
        )
    qrels_path = find_file(folder / "qrels", f"{split}.tsv")
    if qrels_path is None:
        names = sorted(path.name.split(".tsv")[0] for path in (folder / "qrels").glob("*.tsv*"))
        raise DataError(
            f"{folder} has no qrels/{split}.tsv",
            hint=f"splits that exist: {', '.join(names) or 'none'}",
        )
    texts = query_texts(queries_path, faults)
    queries: list[EvalQuery] = []
    for query_id, (where, gold) in _judged(qrels_path, faults).items():
        if query_id not in texts:
            message = f"query {query_id!r} is judged but has no text in {queries_path.name}"
            faults.append(
                Fault("quarantined", f"{message}; line left out", (query_id,), where, len(gold))
            )
            continue
        items = tuple((span,) for span in gold)
        queries.append(EvalQuery(query_id, texts[query_id], items))
    if not queries:
        raise DataError(f"{folder}: no query of qrels/{qrels_path.name} has a text")
    return queries


def query_texts(path: Path, faults: list[Fault]) -> dict[str, str]:
    """Query id → text of a queries.jsonl; bad lines are left out with a Fault."""
    texts: dict[str, str] = {}
    first_line: dict[str, int] = {}
    remarks = Remarks()
    for line, text in iter_lines(path, faults=faults):
        if not text.strip():
            continue
        try:
            query_id, query = _query(parse_object(text), remarks)
            refuse_second(query_id, first_line)
        except RowError as error:
            _quarantine(path.name, line, error, faults)
            continue
        texts[query_id] = query
        first_line[query_id] = line
    announce(path.name, [(path.name, remarks)], faults)
    return texts


def _query(row: Mapping[str, Any], remarks: Remarks) -> tuple[str, str]:
    query_id = read_id(row.get("_id"), "_id", remarks.number_ids)
    query = row.get("text")
    if not isinstance(query, str) or not query.strip():
        raise RowError(f"query {query_id!r} has no text")
    return query_id, query


def _judged(path: Path, faults: list[Fault]) -> dict[str, tuple[str, list[GoldSpan]]]:
    """Query id → where it is first judged, and its gold."""
    judged: dict[str, tuple[str, list[GoldSpan]]] = {}
    noted: list[tuple[str, Remarks]] = []
    for line, cells in _rows(path, faults):
        where = f"{path.name}:{line}"
        remarks = Remarks(cells[0])
        try:
            span = _span(cells, remarks)
        except RowError as error:
            _quarantine(path.name, line, error, faults)
            continue
        noted.append((where, remarks))
        _, gold = judged.setdefault(cells[0], (where, []))
        if span is not None:
            gold.append(span)
    announce(path.name, noted, faults)
    return judged


def _rows(path: Path, faults: list[Fault]) -> Iterator[tuple[int, list[str]]]:
    """Yield (line, cells) without the header, which is known by its grade being no number."""
    first = True
    for line, text in iter_lines(path, faults=faults):
        if not text.strip():
            continue
        cells = text.split("\t")
        if not (first and not _is_number(cells[-1])):
            yield line, cells
        first = False


def _span(cells: list[str], remarks: Remarks) -> GoldSpan | None:
    if len(cells) != _COLUMNS:
        raise RowError(
            f"has {counted(len(cells), 'column')}; query-id, corpus-id and score are needed"
        )
    query_id, identity, score = cells
    if not query_id:
        raise RowError("the query id is empty")
    if not _is_number(score) or float(score) != round(float(score)):
        raise RowError(f"the grade {score!r:.40} is no whole number")
    if not identity:
        remarks.null_gold_ids += 1
        return None
    remarks.grades.append(float(score))
    return GoldSpan(id=identity, grade=max(float(score), 0.0))


def _is_number(text: str) -> bool:
    try:
        return abs(float(text)) <= 2**24
    except ValueError:
        return False


def _quarantine(name: str, line: int, error: RowError, faults: list[Fault]) -> None:
    faults.append(Fault("quarantined", f"{error}; line left out", where=f"{name}:{line}"))
