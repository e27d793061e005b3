"""What retrieval is worth to the answers: grades with and without context, and their exchange rate
with each retrieval metric.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ragnostic.metrics.inputs import Floats
from ragnostic.report.answer_tables import ARMS, OK, Graded, join_grades
from ragnostic.report.catalogue import N_
from ragnostic.report.outcomes import grades
from ragnostic.report.run import RunData, text
from ragnostic.report.scorebook import ScoreBook
from ragnostic.stats.agreement import Agreement, agreement
from ragnostic.stats.paired import Difference, paired_differences
from ragnostic.stats.slope import Slope, slope

REASONS = (
    N_("fewer than 3 queries have both a grade and a value"),
    N_("all values of the metric are equal"),
    N_("all grades are equal"),
    N_("one query alone fixes the slope, so it has no interval"),
)
"""Why there is no slope, or no interval, as stats.slope says it: marked to be translated."""
_STEP = 0.1
_EDGE = 1e-9


@dataclass(frozen=True, slots=True)
class Exchange:
    """How the grade of the answers with context moves with a whole point of one metric."""

    metric: str
    slope: Slope

    def per_step(self) -> tuple[float | None, float | None, float | None]:
        """Slope and interval for 0.1 of the metric."""
        value, low, high = (
            None if bound is None else bound * _STEP
            for bound in (self.slope.value, self.slope.low, self.slope.high)
        )
        return value, low, high

    def as_json(self) -> dict[str, Any]:
        """``per_1`` with its interval and errors; ``per_0.1``: slope, low, high."""
        found = asdict(self.slope)
        return {"per_1": found.pop("value"), **found, "per_0.1": list(self.per_step())}


@dataclass(frozen=True, slots=True)
class AnsweredCase:
    """A query with both answers and their mean grades; ``first`` is the rank of the first
    relevant chunk in the context.
    """

    query_id: str
    query: str | None
    expected: str | None
    answerable: bool
    first: int | None
    with_answer: str | None
    without_answer: str | None
    with_grade: float | None
    without_grade: float | None


@dataclass(frozen=True, slots=True)
class AnswerLink:
    """Everything that the answers and grades of a run say.

    ``statuses``: arm → status → rows. ``differences``: with minus without over the queries whose
    two answers are both graded: of ``all``, and of ``answerable`` and ``unanswerable`` ones where
    there are both. ``stale`` grades belong to answers that are no longer there; ``ungraded``
    answers have no grade.
    """

    stage: str
    top_n: int
    max_grade: int
    models: tuple[str, ...]
    statuses: Mapping[str, Mapping[str, int]]
    graders: tuple[str, ...]
    agreement: Agreement
    ungraded: int
    stale: int
    differences: Mapping[str, Difference]
    exchange: tuple[Exchange, ...]
    right_but_wrong: tuple[AnsweredCase, ...]
    known_without: tuple[AnsweredCase, ...]
    made_worse: tuple[AnsweredCase, ...]

    @property
    def failures(self) -> int:
        """Questions that have no answer."""
        rows = (pair for found in self.statuses.values() for pair in found.items())
        return sum(count for status, count in rows if status != OK)

    def as_json(self) -> dict[str, Any]:
        """What ``ragnostic answers show --json`` prints."""
        return {
            "stage": self.stage,
            "top_n": self.top_n,
            "max_grade": self.max_grade,
            "models": list(self.models),
            "statuses": {arm: dict(found) for arm, found in self.statuses.items()},
            "graders": list(self.graders),
            "agreement": asdict(self.agreement),
            "ungraded": self.ungraded,
            "stale": self.stale,
            "difference": {name: _as_json(found) for name, found in self.differences.items()},
            "exchange": {one.metric: one.as_json() for one in self.exchange},
            "right_but_wrong": [asdict(case) for case in self.right_but_wrong],
            "known_without": [asdict(case) for case in self.known_without],
            "made_worse": [asdict(case) for case in self.made_worse],
        }


def answer_link(run: RunData) -> AnswerLink | None:
    """The exchange rate of a run; None for a run without answers.

    A query's grade is the mean of its graders'. An answer is wrong at up to a third of the
    highest grade (0 and 1 of 3) and right from two thirds on. Retrieval was right where a chunk
    of grade 1 or more stood in the context.
    """
    tables = run.answers
    if tables is None:
        return None
    graded = join_grades(tables)
    cases = tuple(_cases(run, graded))
    wrong, right = tables.max_grade / 3 + _EDGE, tables.max_grade * 2 / 3 - _EDGE
    return AnswerLink(
        stage=tables.stage,
        top_n=tables.top_n,
        max_grade=tables.max_grade,
        models=tuple(sorted({row["model"] for row in graded.rows.values() if row["model"]})),
        statuses={arm: _statuses(graded, arm) for arm in ARMS},
        graders=graded.graders,
        agreement=agreement(list(graded.grades.values())),
        ungraded=graded.ungraded,
        stale=graded.stale,
        differences=_differences(cases),
        exchange=_exchange(run, tables.stage, graded),
        right_but_wrong=_worst_first(
            case
            for case in cases
            if case.first is not None and case.with_grade is not None and case.with_grade <= wrong
        ),
        known_without=tuple(
            case for case in cases if case.without_grade is not None and case.without_grade >= right
        ),
        made_worse=_worst_first(case for case in cases if (_change(case) or 0.0) < -_EDGE),
    )


def _cases(run: RunData, graded: Graded) -> Iterable[AnsweredCase]:
    columns = ["query_id", "query", "expected_answer", "answerable", "judged"]
    for row in run.rows(columns):
        key_with, key_without = ((row["query_id"], arm) for arm in ARMS)
        if key_with not in graded.rows and key_without not in graded.rows:
            continue
        shown = graded.rows.get(key_with, {})
        alone = graded.rows.get(key_without, {})
        relevant = {chunk for chunk, grade in grades(row).items() if grade >= 1}
        context = shown.get("context_ids") or ()
        yield AnsweredCase(
            query_id=row["query_id"],
            query=text(row.get("query")),
            expected=text(row.get("expected_answer")),
            answerable=row.get("answerable") is not False,
            first=next((rank for rank, id_ in enumerate(context, 1) if id_ in relevant), None),
            with_answer=shown.get("answer"),
            without_answer=alone.get("answer"),
            with_grade=graded.mean(key_with),
            without_grade=graded.mean(key_without),
        )


def _statuses(graded: Graded, arm: str) -> dict[str, int]:
    found = Counter(row["status"] for row in graded.rows.values() if row["arm"] == arm)
    return dict(sorted(found.items()))


def _change(case: AnsweredCase) -> float | None:
    if case.with_grade is None or case.without_grade is None:
        return None
    return case.with_grade - case.without_grade


def _worst_first(cases: Iterable[AnsweredCase]) -> tuple[AnsweredCase, ...]:
    """By what the context did to the grade, then by the grade; in order of the run where equal."""
    return tuple(sorted(cases, key=lambda case: (_change(case) or 0.0, case.with_grade or 0.0)))


def _differences(cases: Sequence[AnsweredCase]) -> dict[str, Difference]:
    groups = {"all": list(cases)}
    if len({case.answerable for case in cases}) > 1:
        groups["answerable"] = [case for case in cases if case.answerable]
        groups["unanswerable"] = [case for case in cases if not case.answerable]
    return {name: _difference(members) for name, members in groups.items()}


def _difference(cases: Sequence[AnsweredCase]) -> Difference:
    base = _floats(case.without_grade for case in cases)
    candidate = _floats(case.with_grade for case in cases)
    return paired_differences(base[:, np.newaxis], candidate[:, np.newaxis])[0]


def _as_json(found: Difference) -> dict[str, Any]:
    """A difference under the names of the two arms."""
    names = {"candidate": "with", "base": "without"}
    return {names.get(name, name): value for name, value in found.as_json().items()}


def _exchange(run: RunData, stage: str, graded: Graded) -> tuple[Exchange, ...]:
    """A slope a metric over the queries whose answer with context has a grade."""
    if not graded.grades:
        return ()
    book = ScoreBook(run)
    rows = list(run.rows(["query_id", "record_id"]))
    records = [row.get("record_id") or row["query_id"] for row in rows]
    y = _floats(graded.mean((row["query_id"], "with")) for row in rows)
    found = []
    for metric in book.metrics():
        values = book.values(stage, metric)
        x = _floats(values.get(record) for record in records)
        found.append(Exchange(metric, slope(x, y)))
    return tuple(found)


def _floats(values: Iterable[float | None]) -> Floats:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
