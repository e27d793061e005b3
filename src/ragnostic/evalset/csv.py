"""Evaluation sets as CSV: columns query_id, query, gold_ids (ids separated by ``|``)."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ragnostic.corpus.files import read_text
from ragnostic.corpus.strict_json import RowError
from ragnostic.errors import DataError, Fault, counted
from ragnostic.evalset.query_row import KEYS, RowReader, read_rows
from ragnostic.records import EvalQuery

_SEPARATOR = "|"
_LABEL = "labels."
DELIMITERS = (",", "\t", ";")
_YES = frozenset(("true", "1", "yes", "y", "是"))
_NO = frozenset(("false", "0", "no", "n", "否"))

Row = tuple[int, list[str] | RowError]
"""The physical line at which a row starts, and its cells or what is wrong with it."""


def load_csv(path: Path, reader: RowReader, faults: list[Fault]) -> list[EvalQuery]:
    r"""The queries of a CSV file with a header; the delimiter is comma, tab or semicolon.

    Other columns of INTERFACES (group, answerable, category, …) are read where they exist, an
    empty cell is nothing, and ``labels.team`` is the label ``team``. A line break inside a cell is
    ``\n``. Raises DataError if a column is missing or nothing is usable.
    """
    text = read_text(path, faults=faults)
    for delimiter in DELIMITERS:
        rows = physical_rows(text, delimiter)
        header = _header(rows)
        columns = _columns(header, reader)
        if columns is not None:
            named = _named_rows(rows, columns, len(header))
            return read_rows(path.name, named, replace(reader, mapping={}), faults)
    header = _header(physical_rows(text, DELIMITERS[0]))
    wanted = [reader.mapping.get(name, name) for name in ("query_id", "query", "gold_ids")]
    raise DataError(
        f"{path.name}:1: the columns are {', '.join(header) or 'none'}; "
        f"needed are {', '.join(wanted)}",
        hint='name them with a mapping, for example {query_id = "问题编号"}',
    )


def _header(rows: Iterator[Row]) -> list[str]:
    _, cells = next(rows, (1, []))
    return [] if isinstance(cells, RowError) else cells


def _columns(header: Sequence[str], reader: RowReader) -> dict[str, int] | None:
    """Our name (or the file's own, for columns we do not know) → place; None if one is missing."""
    named = ((reader.our_name(name), place) for place, name in enumerate(header) if name)
    places = {name: place for name, place in named if name}
    gold = "gold_ids" in places or "gold" in places
    return places if gold and "query_id" in places and "query" in places else None


def physical_rows(text: str, delimiter: str) -> Iterator[Row]:
    """Yield each row that is not blank, with the physical line it starts at."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        start = rows.line_num + 1
        try:
            # The limit is global to the csv module, so it is raised for this one call only.
            limit = csv.field_size_limit(sys.maxsize)
            try:
                cells = next(rows)
            finally:
                csv.field_size_limit(limit)
        except StopIteration:
            return
        except csv.Error as error:
            yield start, _broken(start, rows.line_num, str(error))
            continue
        if any(cells):
            yield start, [_one_line_end(cell) for cell in cells]


def _broken(start: int, end: int, reason: str) -> RowError:
    if "unexpected end" in reason:
        lost = end - start + 1
        return RowError(f"a quote is never closed, so lines {start} to {end} are lost", lost)
    return RowError(f"not valid CSV: {reason}")


def _one_line_end(cell: str) -> str:
    return cell.replace("\r\n", "\n").replace("\r", "\n")


def _named_rows(
    rows: Iterator[Row], columns: Mapping[str, int], width: int
) -> Iterator[tuple[int, Callable[[], Mapping[str, Any]]]]:
    for line, cells in rows:
        yield line, partial(_named, cells, columns, width)


def _named(cells: list[str] | RowError, columns: Mapping[str, int], width: int) -> dict[str, Any]:
    if isinstance(cells, RowError):
        raise cells
    if len(cells) != width:
        raise RowError(f"has {counted(len(cells), 'cell')}, the header has {width}")
    row = {name: _value(name, cells[place]) for name, place in columns.items()}
    labels = {name: row.pop(name) for name in columns if name.startswith(_LABEL)}
    if labels:
        row["labels"] = {name.removeprefix(_LABEL): text for name, text in labels.items() if text}
    return row


def _value(name: str, cell: str) -> Any:
    """A cell as JSON would have given it."""
    if name in ("query_id", "query") or name not in KEYS:
        return cell
    if not cell:
        return None
    if name == "labels":
        raise RowError("labels stand in a column each: labels.team, labels.topic")
    if name in ("gold", "gold_ids"):
        return cell.split(_SEPARATOR)
    if name == "answerable":
        return _boolean(cell)
    if name == "frequency":
        return int(cell) if cell.isascii() and cell.isdigit() and len(cell) < 20 else cell
    return cell


def _boolean(cell: str) -> bool:
    word = cell.strip().casefold()
    if word in _YES | _NO:
        return word in _YES
    raise RowError(f"answerable must be true or false, not {cell!r:.40}")
