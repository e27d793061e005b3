"""Evaluation sets from files: JSON Lines, CSV, BEIR folders."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ragnostic.errors import DataError, Fault
from ragnostic.evalset.beir import find_file, load_beir
from ragnostic.evalset.csv import load_csv
from ragnostic.evalset.jsonl import load_jsonl
from ragnostic.evalset.query_row import RowReader
from ragnostic.records import EvalQuery

_CSV = (".csv", ".tsv")
_JSONL = (".jsonl", ".ndjson", ".json")


def load_evaluation_set(
    path: Path,
    *,
    split: str = "test",
    mapping: Mapping[str, str] | None = None,
    graded: str | None = None,
    faults: list[Fault],
) -> list[EvalQuery]:
    """The queries of an evaluation set, in the order of the file.

    ``split`` is the qrels file of a BEIR folder; ``mapping`` our field → the file's key or
    column; ``graded="first-is-exact"`` gives the first of ``gold_ids`` grade 2, the others 1.

    Bad rows are left out, each with a Fault of kind ``quarantined`` (or ``line_too_long``) that
    names file and physical line. Raises DataError if the file cannot be read or holds no usable
    query, UsageError for an unknown setting.
    """
    reader = RowReader(mapping or {}, graded)
    if path.is_dir():
        return load_beir(path, split, faults)
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix in _CSV:
        return load_csv(path, reader, faults)
    if suffix in _JSONL or not path.exists():
        return load_jsonl(path, reader, faults)
    raise DataError(
        f"{path} is no evaluation set by its name",
        hint=f"known endings: {', '.join((*_JSONL, *_CSV))}, each also with .gz; or a BEIR folder",
    )


def beir_corpus_path(path: Path) -> Path | None:
    """The corpus file of a BEIR folder, or None (also where ``path`` is a file)."""
    return find_file(path, "corpus.jsonl")
