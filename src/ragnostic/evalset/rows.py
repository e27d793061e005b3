"""Text files with a row a judgment or a hit: TREC, TSV and CSV with a header, JSON Lines.

Every row that cannot be read is set aside with its file and physical line (METRICS 1.4, 1.5).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ragnostic.corpus.files import iter_lines
from ragnostic.corpus.strict_json import RowError, parse_object, read_id
from ragnostic.errors import DataError, Fault, counted

QUERY = ("query_id", "query-id", "qid")
CHUNK = ("chunk_id", "doc_id", "corpus-id", "docid", "doc-id", "corpus_id")
_BLANKS = re.compile(r"[ \t]+")
_LINE_ENDS = re.compile(r"\r\n?")


class Row(NamedTuple):
    """One judgment or hit, as it stands in the file."""

    line: int
    query: str
    chunk: str | None
    value: Any
    rank: str | None = None
    """The rank column of a TREC run; read only to be compared with the scores."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns of a table hold query, chunk and value; the first name that is there wins."""

    value: Sequence[str]
    trec_width: int
    """Columns of a TREC line: 4 in qrels, 6 in runs."""

    def find(self, names: Sequence[str], where: str) -> tuple[str, str, str]:
        """The three names in a header; raises DataError that lists what is there."""
        found = [
            next((alias for alias in aliases if alias in names), None)
            for aliases in (QUERY, CHUNK, self.value)
        ]
        if None in found:
            wanted = ["|".join(QUERY[:2]), "|".join(CHUNK[:3]), "|".join(self.value)]
            missing = [w for w, f in zip(wanted, found, strict=True) if f is None]
            raise DataError(
                f"{where}: no column {' and no column '.join(missing)}; "
                f"there are: {', '.join(names)}",
                hint="rename the columns, or write the file as TREC lines",
            )
        return tuple(name for name in found if name is not None)  # type: ignore[return-value]  # three by construction


def read_rows(path: Path, columns: Columns, faults: list[Fault]) -> Iterator[Row]:
    """Rows of a text file, its format told by its first line and, where it has one, its suffix."""
    lines = iter_lines(path, faults=faults)
    first = next((line for line in lines if line[1].strip()), None)
    if first is None:
        return
    head, kind = first[1], path.name.removesuffix(".gz").rpartition(".")[2]
    if kind in {"jsonl", "ndjson"} or head.lstrip().startswith("{"):
        yield from _json_rows(path, _again(first, lines), columns, faults)
    elif kind == "csv" or any(name in re.split(r"[,\t;]", head.replace('"', "")) for name in QUERY):
        yield from _table_rows(path, _again(first, lines), columns, faults)
    else:
        yield from _trec_rows(path, _again(first, lines), columns, faults)


def _again(first: tuple[int, str], rest: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    yield first
    yield from rest


def quarantine(path: Path, line: int, reason: str, faults: list[Fault], *, lines: int = 1) -> None:
    """Set a row of so many lines aside: counted, with its place and its reason."""
    text = f"{reason}; line left out"
    faults.append(Fault("quarantined", text, where=f"{path.name}:{line}", count=lines))


def _trec_rows(
    path: Path, lines: Iterator[tuple[int, str]], columns: Columns, faults: list[Fault]
) -> Iterator[Row]:
    width, junk = columns.trec_width, 0
    for number, line in lines:
        # Only ASCII blanks separate: a no-break space may be part of an id.
        parts = _BLANKS.split(line.strip(" \t"))
        if parts == [""]:
            continue
        if len(parts) > width == 6 and _is_number(parts[3]) and _is_number(parts[4]):
            junk += 1  # trec_eval ignores what follows the tag, and its own test file has some
        elif len(parts) != width:
            reason = f"{counted(len(parts), 'column')}, but a TREC line here has {width}"
            quarantine(path, number, reason, faults)
            continue
        if width == 6:
            yield Row(number, parts[0], parts[2], parts[4], parts[3])
        else:
            yield Row(number, parts[0], parts[2], parts[3])
    if junk:
        message = f"{counted(junk, 'line has', 'lines have')} text after the sixth column (ignored)"
        faults.append(Fault("junk_after_tag", message, where=path.name, count=junk))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _table_rows(
    path: Path, lines: Iterator[tuple[int, str]], columns: Columns, faults: list[Fault]
) -> Iterator[Row]:
    number, header = next(lines)
    delimiter = next((mark for mark in "\t;" if mark in header), ",")
    drawn: list[int] = []

    def text_lines() -> Iterator[str]:
        for place, line in _again((number, header), lines):
            drawn.append(place)
            yield line + "\n"

    rows = csv.reader(text_lines(), delimiter=delimiter, strict=True)
    try:
        names = next(rows)
    except csv.Error as error:
        raise DataError(f"{path.name}:{number}: the header is broken: {error}") from error
    query, chunk, value = _places(names, columns, f"{path.name}:{number}")
    width = len(names)
    drawn.clear()
    while True:
        try:
            for cells in rows:
                if len(cells) == width and cells[query]:
                    text = _LINE_ENDS.sub("\n", cells[chunk])
                    yield Row(drawn[0], cells[query], text, cells[value])
                elif cells:
                    found = f"{counted(len(cells), 'cell')} under a header of {width}"
                    reason = "the query id is empty" if len(cells) == width else found
                    quarantine(path, drawn[0], reason, faults, lines=len(drawn))
                drawn.clear()
        except csv.Error as error:
            quarantine(path, drawn[0], f"not valid CSV: {error}", faults, lines=len(drawn))
            drawn.clear()
        else:
            return


def _places(names: Sequence[str], columns: Columns, where: str) -> list[int]:
    """Where the three columns stand in a header that names each of them once."""
    found = columns.find(names, where)
    twice = [name for name in found if names.count(name) > 1]
    if twice:
        raise DataError(f"{where}: the header has {', '.join(twice)} twice")
    return [names.index(name) for name in found]


def _json_rows(
    path: Path, lines: Iterator[tuple[int, str]], columns: Columns, faults: list[Fault]
) -> Iterator[Row]:
    numbers: list[str] = []
    for number, line in lines:
        if not line.strip():
            continue
        try:
            row: Mapping[str, Any] = parse_object(line)
            query, chunk, value = (row[name] for name in columns.find(list(row), "the object"))
            query = read_id(query, "the query id", numbers)
            chunk = read_id(chunk, "the id", numbers) if chunk not in {None, ""} else chunk
        except (RowError, DataError) as error:
            quarantine(path, number, str(error).partition("\n")[0], faults)
            continue
        yield Row(number, query, chunk, value)
    if numbers:
        faults.append(number_ids(numbers, path.name))


def number_ids(numbers: Sequence[str], where: str) -> Fault:
    """The announcement that ids were numbers: 007 would have been lost in them."""
    text = f"{counted(len(numbers), 'id was', 'ids were')} written as numbers and read as text"
    return Fault("number_ids", text, tuple(numbers[:20]), where, len(numbers))
