"""A run of twelve queries with answers and the grades of two people, written by hand."""

from __future__ import annotations

import runpy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from ragnostic.report.answer_tables import AnswerTables, answer_sha256
from ragnostic.report.run import RunData

SMALL = runpy.run_path(str(Path(__file__).parent / "small_run.py"))["small_run"]
TEXTS = {"c1": "Annual leave is twenty days.", "c2": "年假二十天。", "c3": "The canteen is open."}
# (query id, text, rank of the gold chunk c1, reciprocal rank, grades with, grades without)
ROWS: Sequence[tuple[str, str, int | None, float, tuple[int, ...], tuple[int, ...]]] = (
    ("q01", "How many days of leave?", 1, 1.0, (3, 3), (0, 1)),
    ("q02", "年假有几天？", 1, 1.0, (3, 2), (1, 1)),
    ("q03", "Who pays for travel?", 2, 0.5, (2, 2), (1, 0)),
    ("q04", "<b>Where</b> is the office?", 2, 0.5, (2, 3), (0, 0)),
    ("q05", "When is pay day?", 1, 1.0, (1, 0), (2, 3)),
    ("q06", "What is the capital of France?", 3, 1 / 3, (3, 3), (3, 3)),
    ("q07", "Which form is needed?", 3, 1 / 3, (1, 1), (1, 0)),
    ("q08", "谁批准加班？", None, 0.0, (1, 0), (1, 0)),
    ("q09", "How to reset the token?", None, 0.0, (0, 0), (0, 0)),
    ("q10", "Is the canteen open?", 2, 0.5, (2, 1), (0,)),
    ("q11", "Who is on call?", None, 0.0, (1, 1), (0, 1)),
)
UNANSWERABLE = ("q12", "What will the weather be?", (2, 3), (3, 3))


def answered_run(*, graded: bool = True) -> RunData:
    """The run; without grades where they are not wanted."""
    run = _run()
    answers, grades = _answers()
    schema = pa.schema(
        [
            *((name, pa.string()) for name in ("query_id", "arm", "answer", "model", "status")),
            ("context_ids", pa.list_(pa.string())),
        ]
    )
    tables = AnswerTables(
        pa.Table.from_pylist(answers, schema),
        pa.Table.from_pylist(grades) if graded else None,
        stage="retrieve",
        top_n=3,
    )
    return RunData(run.meta, run.records, run.chunks, run.scores, tables)


def _run() -> RunData:
    queries = [
        {"id": id_, "query": text, "gold": {"c1": 1}, "retrieve": _ranking(rank)}
        for id_, text, rank, *_ in ROWS
    ]
    other = {"id": UNANSWERABLE[0], "query": UNANSWERABLE[1], "gold": None, "answerable": False}
    scores = [
        (id_, "retrieve", metric, value)
        for id_, _, _, rr, *_ in ROWS
        for metric, value in (("RR@3", rr), ("Success@3", float(rr > 0)), ("R@3", 0.5))
    ]
    meta = {"settings": {"score": {"metrics": ["RR@3", "Success@3", "R@3"]}}}
    found: RunData = SMALL([*queries, other], scores=scores, texts=TEXTS, meta=meta)
    return found


def _ranking(rank: int | None) -> list[str]:
    others = ["c2", "c3", "c4"]
    if rank is not None:
        others.insert(rank - 1, "c1")
    return others[:3]


def _answers() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    answers, grades = [], []
    for id_, _, rank, _, given, alone in ROWS:
        answers += _both(id_, _ranking(rank))
        grades += [*_grades(id_, "with", given), *_grades(id_, "without", alone)]
    id_, _, given, alone = UNANSWERABLE
    answers += _both(id_, ["c2"])
    grades += [*_grades(id_, "with", given), *_grades(id_, "without", alone)]
    answers[-1] |= {"status": "truncated", "answer": None}
    return answers, grades


def _both(id_: str, context: list[str]) -> list[dict[str, Any]]:
    row = {"query_id": id_, "model": "small-1", "status": "ok"}
    return [
        {**row, "arm": "with", "answer": f"with {id_} <i>", "context_ids": context},
        {**row, "arm": "without", "answer": f"without {id_}", "context_ids": None},
    ]


def _grades(id_: str, arm: str, given: Sequence[int]) -> list[dict[str, Any]]:
    answer = f"with {id_} <i>" if arm == "with" else f"without {id_}"
    return [
        {"query_id": id_, "arm": arm, "grader": grader, "grade": grade}
        | {"answer_sha256": answer_sha256(answer)}
        for grader, grade in zip(("anna", "bob"), given, strict=False)
    ]
