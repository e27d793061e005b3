"""Evaluation sets as JSON Lines: one query a line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ragnostic.corpus.files import iter_lines
from ragnostic.corpus.strict_json import parse_object
from ragnostic.errors import Fault
from ragnostic.evalset.query_row import RowReader, read_rows
from ragnostic.records import EvalQuery


def load_jsonl(path: Path, reader: RowReader, faults: list[Fault]) -> list[EvalQuery]:
    """The queries of a JSON Lines file; blank lines are nothing, bad ones are quarantined."""
    return read_rows(path.name, _rows(path, faults), reader, faults)


def _rows(path: Path, faults: list[Fault]) -> Iterator[tuple[int, Callable[[], Mapping[str, Any]]]]:
    for line, text in iter_lines(path, faults=faults):
        if text.strip():
            yield line, partial(parse_object, text)
