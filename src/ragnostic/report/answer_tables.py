"""The answers of a run and the grades that people gave them, joined answer by answer."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import pyarrow as pa

OK = "ok"
ARMS = ("with", "without")

Key = tuple[str, str]
"""Query id and arm."""


@dataclass(frozen=True, slots=True)
class AnswerTables:
    """answers.parquet and grades.parquet of a run, and what stands beside their rows.

    The context was the first ``top_n`` chunks of ``stage``; grades go from 0 to ``max_grade``.
    """

    answers: pa.Table
    grades: pa.Table | None = None
    stage: str = ""
    top_n: int = 0
    max_grade: int = 3


@dataclass(frozen=True, slots=True)
class Graded:
    """Answers by query and arm, with the grades that each was given, one a grader.

    ``stale`` counts grades of answers that are no longer there.
    """

    rows: Mapping[Key, Mapping[str, Any]]
    grades: Mapping[Key, tuple[float, ...]]
    graders: tuple[str, ...]
    stale: int

    def mean(self, key: Key) -> float | None:
        """The mean grade of one answer; None where it has none."""
        found = self.grades.get(key)
        return fmean(found) if found else None

    @property
    def ungraded(self) -> int:
        """Answers without any grade."""
        return sum(row["status"] == OK and key not in self.grades for key, row in self.rows.items())


def answer_sha256(answer: str | None) -> str:
    """What a grade remembers of the answer that it was given to: 64 hex digits.

    >>> answer_sha256("20 days")[:8]
    '8730bf64'
    """
    return hashlib.sha256((answer or "").encode()).hexdigest()


def join_grades(tables: AnswerTables) -> Graded:
    """Every grade to its answer; those of an answer that has changed since count as stale."""
    rows = {(row["query_id"], row["arm"]): row for row in tables.answers.to_pylist()}
    hashes = {key: answer_sha256(row["answer"]) for key, row in rows.items()}
    found: dict[Key, list[float]] = {}
    graders: set[str] = set()
    stale = 0
    for grade in [] if tables.grades is None else tables.grades.to_pylist():
        key = (grade["query_id"], grade["arm"])
        if hashes.get(key) != grade["answer_sha256"]:
            stale += 1
            continue
        found.setdefault(key, []).append(float(grade["grade"]))
        graders.add(grade["grader"])
    grades = {key: tuple(values) for key, values in found.items()}
    return Graded(rows, grades, tuple(sorted(graders)), stale)
