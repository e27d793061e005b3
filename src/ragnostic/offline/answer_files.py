"""The files of the answer link in a run folder: answers, answers so far, grades, salt."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from ragnostic.errors import DataError, UsageError
from ragnostic.report.answer_tables import AnswerTables

ANSWERS, PARTIAL_ANSWERS = "answers.parquet", "answers.partial.jsonl"
GRADES, SALT = "grades.parquet", "answers.salt"
FACTS_KEY = b"ragnostic.answers"
MAX_GRADE = 3

ANSWERS_SCHEMA = pa.schema(
    [
        ("query_id", pa.string()),
        ("arm", pa.string()),
        ("answer", pa.string()),
        ("model", pa.string()),
        ("prompt_sha256", pa.string()),
        ("context_ids", pa.list_(pa.string())),
        ("took_ms", pa.float64()),
        ("status", pa.string()),
        ("error", pa.string()),
    ]
)
GRADES_SCHEMA = pa.schema(
    [
        ("item", pa.string()),
        ("query_id", pa.string()),
        ("arm", pa.string()),
        ("grader", pa.string()),
        ("grade", pa.int32()),
        ("comment", pa.string()),
        ("answer_sha256", pa.string()),
    ]
)


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One question and what came of it. ``answer`` is None unless ``status`` is ``ok``."""

    query_id: str
    arm: str
    prompt_sha256: str
    status: str
    answer: str | None = None
    model: str | None = None
    context_ids: tuple[str, ...] | None = None
    took_ms: float | None = None
    error: str | None = None

    @property
    def key(self) -> tuple[str, str]:
        """What was asked: query and arm."""
        return self.query_id, self.arm


def append_answer(folder: Path, row: AnswerRow) -> None:
    """Keep one more answer of a job that is not finished; it survives a kill."""
    line = json.dumps(asdict(row), ensure_ascii=False, allow_nan=False).encode()
    try:
        with (folder / PARTIAL_ANSWERS).open("a+b") as file:
            file.write((b"\n" if _is_cut(file) else b"") + line + b"\n")
    except OSError as error:
        raise _not_writable(folder, error) from error


def _is_cut(file: BinaryIO) -> bool:
    """Whether a kill cut the last line."""
    if not file.seek(0, os.SEEK_END):
        return False
    file.seek(-1, os.SEEK_END)
    return file.read() != b"\n"


def read_partial(folder: Path) -> list[AnswerRow]:
    """The answers of a job that did not finish; a line that a kill cut is none."""
    file = folder / PARTIAL_ANSWERS
    if not file.is_file():
        return []
    rows: list[AnswerRow] = []
    for line in file.read_bytes().split(b"\n"):
        try:
            rows.append(AnswerRow(**json.loads(line)))
        except (ValueError, TypeError):
            continue
    return rows


def read_answers(folder: Path) -> pa.Table | None:
    """answers.parquet of a run folder, None where there is none; raises DataError."""
    return _read(folder / ANSWERS)


def read_grades(folder: Path) -> pa.Table | None:
    """grades.parquet of a run folder, None where there is none; raises DataError."""
    return _read(folder / GRADES)


def read_answer_tables(folder: Path) -> AnswerTables | None:
    """Answers and grades as a report reads them; None for a run that was asked nothing."""
    answers, grades = read_answers(folder), read_grades(folder)
    if answers is None:
        return None
    facts = facts_of(answers)
    return AnswerTables(
        answers,
        grades,
        stage=str(facts.get("stage", "")),
        top_n=int(facts.get("top_n", 0)),
        max_grade=MAX_GRADE if grades is None else max_grade_of(grades),
    )


def max_grade_of(grades: pa.Table) -> int:
    """The highest grade that the graders could give."""
    return int(facts_of(grades).get("max_grade", MAX_GRADE))


def answer_rows(table: pa.Table | None) -> list[AnswerRow]:
    """The rows of answers.parquet; none for no table."""
    if table is None:
        return []
    return [
        AnswerRow(**{**row, "context_ids": row["context_ids"] and tuple(row["context_ids"])})
        for row in table.to_pylist()
    ]


def facts_of(table: pa.Table) -> dict[str, Any]:
    """What stands beside the rows: stage, top_n and such; empty where there is nothing."""
    raw = (table.schema.metadata or {}).get(FACTS_KEY)
    return dict(json.loads(raw)) if raw else {}


def write_answers(folder: Path, rows: Sequence[AnswerRow], facts: Mapping[str, Any]) -> Path:
    """Write answers.parquet aside, rename it, and drop the answers so far."""
    path = _write(folder, ANSWERS, map(asdict, rows), ANSWERS_SCHEMA, facts)
    (folder / PARTIAL_ANSWERS).unlink(missing_ok=True)
    return path


def write_grades(folder: Path, rows: Iterable[Mapping[str, Any]], facts: Mapping[str, Any]) -> Path:
    """Write grades.parquet aside and rename it."""
    return _write(folder, GRADES, rows, GRADES_SCHEMA, facts)


def drop_answers(folder: Path) -> None:
    """Forget the answers of this run, finished or not."""
    for name in (ANSWERS, PARTIAL_ANSWERS):
        (folder / name).unlink(missing_ok=True)


def salt_of(folder: Path) -> bytes:
    """The random key behind the item names of a run's grading sheets, made when first asked for.

    Raises UsageError where the folder cannot be written to, DataError for a file that is no key.
    """
    file = folder / SALT
    try:
        if not file.exists():
            with file.open("x", encoding="ascii") as new:
                new.write(f"{secrets.token_hex(32)}\n")
        return bytes.fromhex(file.read_text(encoding="ascii"))
    except ValueError as error:
        raise DataError(f"{file}: not 64 hex digits", hint="take it back from a copy") from error
    except OSError as error:
        raise _not_writable(folder, error) from error


def _read(file: Path) -> pa.Table | None:
    if not file.is_file():
        return None
    try:
        return pq.read_table(file)
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{file}: not a readable Parquet file: {error}") from error


def _write(
    folder: Path,
    name: str,
    rows: Iterable[Mapping[str, Any]],
    schema: pa.Schema,
    facts: Mapping[str, Any],
) -> Path:
    described = schema.with_metadata(
        {FACTS_KEY: json.dumps(facts, sort_keys=True, ensure_ascii=False)}
    )
    table = pa.Table.from_pylist([dict(row) for row in rows], schema=described)
    aside = folder / f".{name}.{os.getpid()}"
    try:
        pq.write_table(table, aside, compression="zstd")
        return aside.replace(folder / name)
    except OSError as error:
        raise _not_writable(folder, error) from error
    finally:
        aside.unlink(missing_ok=True)


def _not_writable(folder: Path, error: OSError) -> UsageError:
    return UsageError(f"cannot write to {folder}: {error.strerror or error}")
