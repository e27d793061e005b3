"""The blind grading sheet: answers in random order, nothing in it says which had the context."""

from __future__ import annotations

import hashlib
import hmac
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from ragnostic.errors import DataError, UsageError
from ragnostic.offline.answer_files import (
    AnswerRow,
    answer_rows,
    read_answers,
    salt_of,
)
from ragnostic.offline.per_query import write_per_query
from ragnostic.report.answer_tables import OK
from ragnostic.report.run import RunData

SHEET_SCHEMA = pa.schema(
    [
        (name, pa.string())
        for name in ("item", "query", "expected_answer", "answer", "grade", "comment")
    ]
)
_SUFFIXES = (".csv", ".jsonl")


def item_name(row: AnswerRow, salt: bytes) -> str:
    """The opaque name of an answer on a sheet: without the salt it tells neither query nor arm.

    It changes with the answer, so that a grade never moves to another one. The first letter
    keeps spreadsheets from reading a number.

    >>> item_name(AnswerRow("q1", "with", "ab", "ok", "20 days"), b"salt")
    'if22c03d5d20be90'
    """
    parts = (row.query_id, row.arm, row.prompt_sha256, row.answer or "")
    digest = hmac.new(salt, digestmod=hashlib.sha256)
    for part in parts:
        encoded = part.encode()
        digest.update(len(encoded).to_bytes(8, "little"))
        digest.update(encoded)
    return f"i{digest.hexdigest()[:15]}"


def items_of(folder: Path) -> dict[str, AnswerRow]:
    """Item name → answered row of a run folder; raises UsageError where there are no answers."""
    table = read_answers(folder)
    if table is None:
        raise UsageError(
            f"{folder} holds no answers",
            hint=f"first: ragnostic answers generate {folder.name} --config FILE",
        )
    salt = salt_of(folder)
    return {item_name(row, salt): row for row in answer_rows(table) if row.status == OK}


def sheet_table(items: Mapping[str, AnswerRow], run: RunData, seed: int) -> pa.Table:
    """The rows of the sheet. Order of names and then a shuffle by ``seed``: the order of the
    answers in the run has no part in it.
    """
    asked = {row["query_id"]: row for row in run.rows(["query_id", "query", "expected_answer"])}
    names = sorted(items)
    random.Random(seed).shuffle(names)  # noqa: S311 - an order, no secret
    rows = [_row(name, items[name].answer, asked[items[name].query_id]) for name in names]
    return pa.Table.from_pylist(rows, schema=SHEET_SCHEMA)


def _row(name: str, answer: str | None, asked: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "item": name,
        "query": asked.get("query"),
        "expected_answer": asked.get("expected_answer"),
        "answer": answer,
        "grade": None,
        "comment": None,
    }


def write_sheet(folder: Path, run: RunData, out: Path, seed: int) -> int:
    """Write the sheet as .csv or .jsonl; how many answers are on it. Raises UsageError, and
    DataError where no question has an answer.
    """
    if out.suffix not in _SUFFIXES:
        raise UsageError(f"{out}: unknown suffix", hint=f"use one of {', '.join(_SUFFIXES)}")
    items = items_of(folder)
    if not items:
        raise DataError(f"{folder}: no question has an answer, so there is nothing to grade")
    if out.exists():
        raise UsageError(
            f"{out} exists, and may hold grades by now", hint="choose another --out, or move it"
        )
    write_per_query(sheet_table(items, run, seed), out)
    return len(items)
