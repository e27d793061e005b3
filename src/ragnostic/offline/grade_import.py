"""Graded sheets back into the run folder: by item name, several graders, nothing dropped unsaid."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ragnostic.corpus.files import iter_lines, read_text
from ragnostic.corpus.strict_json import RowError, parse_object
from ragnostic.errors import DataError, Fault, UsageError, counted
from ragnostic.evalset.csv import DELIMITERS, physical_rows
from ragnostic.offline.answer_files import (
    MAX_GRADE,
    AnswerRow,
    max_grade_of,
    read_grades,
    write_grades,
)
from ragnostic.offline.bad_rows import QUARANTINED
from ragnostic.offline.grading_sheet import items_of
from ragnostic.report.answer_tables import answer_sha256

LeftOut = Literal["empty", "unknown", "bad"]
_NEEDED = ("item", "grade")
_READ = (*_NEEDED, "comment", "grader")
_GRADE = re.compile(r"\d{1,6}(?:[.,]0*)?", re.ASCII)
_ESCAPED = re.compile(r"'(?=[=+\-@\t\r\d])")


@dataclass(frozen=True, slots=True)
class Grade:
    """One grader's judgment of one answer."""

    item: str
    grader: str
    grade: int
    comment: str | None = None


@dataclass
class Import:
    """What sheets held: ``grades``, and what was left out, each with its file and line.

    ``left_out`` counts rows by reason: ``empty`` (no grade yet), ``unknown`` (no answer of this
    run) and ``bad``; ``replaced`` are grades of an earlier import that these take the place of.
    """

    grades: list[Grade] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    left_out: Counter[LeftOut] = field(default_factory=Counter)
    replaced: int = 0

    def leave_out(self, kind: LeftOut, where: str, reason: str) -> None:
        """Count a row that is not used and say why."""
        self.left_out[kind] += 1
        self.warnings.append(f"{where}: {reason}; left out")


def import_grades(
    folder: Path, sheets: Sequence[Path], *, max_grade: int = MAX_GRADE, fresh: bool = False
) -> Import:
    """Read the sheets and write grades.parquet, beside the grades of other graders that are
    there; ``fresh`` forgets them.

    A grader is named by the column ``grader``, else by the name of the file. Raises UsageError,
    and DataError where no row holds a grade that can be used; nothing is written then.
    """
    items = items_of(folder)
    found = Import()
    for path, grader in zip(sheets, _graders(sheets), strict=True):
        _read_sheet(path, grader, items, max_grade, found)
    found.grades = list(_settled(found))
    if not found.grades:
        lines = "".join(f"\n    {line}" for line in found.warnings[:5])
        raise DataError(f"no grade in {_named(sheets)} can be used{lines}")
    there = [] if fresh else _there(folder, max_grade)
    now = {(grade.item, grade.grader) for grade in found.grades}
    before = [row for row in there if (row["item"], row["grader"]) not in now]
    found.replaced = len(there) - len(before)
    rows = [*before, *(_row(grade, items[grade.item]) for grade in found.grades)]
    rows.sort(key=lambda row: (row["item"], row["grader"]))
    write_grades(folder, rows, {"max_grade": max_grade})
    return found


def parse_grade(written: Any, max_grade: int) -> int | None:
    """A whole number from 0 to ``max_grade``, as text or number; None for an empty cell.

    Raises RowError for anything else.

    >>> parse_grade("２", 3), parse_grade(" 3.0 ", 3), parse_grade("'1", 3), parse_grade("", 3)
    (2, 3, 1, None)
    """
    if written is None or written == "":
        return None
    text = unicodedata.normalize("NFKC", _unescaped(str(written))).strip()
    if not text:
        return None
    whole = _GRADE.fullmatch(text) and not isinstance(written, bool)
    grade = int(re.split("[.,]", text)[0]) if whole else -1
    if not 0 <= grade <= max_grade:
        raise RowError(f"the grade must be a whole number from 0 to {max_grade}, not {text!r:.40}")
    return grade


def _graders(sheets: Sequence[Path]) -> list[str]:
    """The names of the graders that name none in their sheet: those of the files."""
    names = [path.name.removesuffix(path.suffix) for path in sheets]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(
            f"two sheets have the name {twice[0]}, which is taken for their grader",
            hint="rename one, and give them in two commands if the graders stand in a column",
        )
    return names


def _read_sheet(
    path: Path, grader: str, items: Mapping[str, AnswerRow], max_grade: int, found: Import
) -> None:
    for line, row in _rows(path, found):
        where = f"{path.name}:{line}"
        if isinstance(row, RowError):
            found.leave_out("bad", where, str(row))
            continue
        item = str(row.get("item") or "").strip()
        try:
            grade = parse_grade(row.get("grade"), max_grade)
        except RowError as error:
            found.leave_out("bad", where, str(error))
            continue
        if item not in items:
            reason = f"no answer of this run is called {item!r:.40}" if item else "no item"
            found.leave_out("unknown", where, reason)
        elif grade is None:
            found.leave_out("empty", where, f"{item} has no grade")
        else:
            named = _unescaped(str(row.get("grader") or "")).strip()
            comment = _unescaped(str(row.get("comment") or "")) or None
            found.grades.append(Grade(item, named or grader, grade, comment))


def _rows(path: Path, found: Import) -> Iterator[tuple[int, Mapping[str, Any] | RowError]]:
    """(line, row) of a sheet, CSV or JSON Lines."""
    if path.suffix.lower() in {".xlsx", ".xls", ".ods", ".numbers"}:
        raise UsageError(f"{path} is a workbook", hint="save the sheet as CSV (UTF-8)")
    faults: list[Fault] = []
    if path.suffix.lower() in {".jsonl", ".ndjson"}:
        yield from _json_rows(path, faults)
    else:
        yield from _table_rows(path, faults)
    found.warnings += map(str, faults)
    found.left_out["bad"] += sum(fault.count for fault in faults if fault.kind in QUARANTINED)


def _json_rows(
    path: Path, faults: list[Fault]
) -> Iterator[tuple[int, Mapping[str, Any] | RowError]]:
    for line, text in iter_lines(path, faults=faults):
        if text.strip():
            try:
                yield line, parse_object(text)
            except RowError as error:
                yield line, error


def _table_rows(
    path: Path, faults: list[Fault]
) -> Iterator[tuple[int, Mapping[str, Any] | RowError]]:
    text = read_text(path, faults=faults)
    for delimiter in DELIMITERS:
        rows = physical_rows(text, delimiter)
        _, header = next(rows, (1, []))
        names = [] if isinstance(header, RowError) else [_name(cell) for cell in header]
        if set(_NEEDED) <= set(names):
            for name in _READ:
                if names.count(name) > 1:
                    raise DataError(f"{path.name}:1: two columns are called {name}")
            for line, cells in rows:
                yield line, _named_cells(cells, names)
            return
    raise DataError(
        f"{path.name}:1: no columns {' and '.join(_NEEDED)}",
        hint="keep the header of the sheet as ragnostic answers sheet wrote it",
    )


def _named_cells(cells: list[str] | RowError, names: Sequence[str]) -> Mapping[str, str] | RowError:
    """Cells by name. A spreadsheet may leave out, or add, empty cells at the end of a row."""
    if isinstance(cells, RowError):
        return cells
    if any(cells[len(names) :]):
        return RowError(f"has {counted(len(cells), 'cell')}, the header has {len(names)}")
    return dict(zip(names, cells, strict=False))


def _name(cell: str) -> str:
    return _unescaped(cell).strip().casefold()


def _unescaped(cell: str) -> str:
    """A cell without the mark that keeps a spreadsheet from calculating it."""
    return _ESCAPED.sub("", cell, count=1) if cell.startswith("'") else cell


def _settled(found: Import) -> Iterator[Grade]:
    """Each item once a grader; one that a grader graded in two ways has no grade of theirs."""
    grouped: dict[tuple[str, str], list[Grade]] = {}
    for grade in found.grades:
        grouped.setdefault((grade.item, grade.grader), []).append(grade)
    for (item, grader), grades in grouped.items():
        given = sorted({grade.grade for grade in grades})
        if len(given) == 1:
            yield grades[-1]
            continue
        reason = f"{item} has the grades {' and '.join(map(str, given))} by {grader}"
        found.leave_out("bad", grader, reason)


def _there(folder: Path, max_grade: int) -> list[dict[str, Any]]:
    table = read_grades(folder)
    if table is None:
        return []
    before = max_grade_of(table)
    if before != max_grade:
        raise UsageError(
            f"the grades that are there go to {before}, these to {max_grade}",
            hint=f"--max-grade {before}, or --fresh to forget the grades that are there",
        )
    return list(table.to_pylist())


def _row(grade: Grade, answer: AnswerRow) -> dict[str, Any]:
    return {
        "item": grade.item,
        "query_id": answer.query_id,
        "arm": answer.arm,
        "grader": grade.grader,
        "grade": grade.grade,
        "comment": grade.comment,
        "answer_sha256": answer_sha256(answer.answer),
    }


def _named(sheets: Iterable[Path]) -> str:
    return ", ".join(sheet.name for sheet in sheets)
