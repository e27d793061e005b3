"""The blind sheet."""

from __future__ import annotations

import json
import random
import runpy
from pathlib import Path

import pytest

from ragnostic.errors import DataError, RetrievalError, UsageError
from ragnostic.offline.answer_files import SALT, AnswerRow
from ragnostic.offline.grading_sheet import item_name, items_of, write_sheet

TOOLS = runpy.run_path(str(Path(__file__).parent / "answering.py"))
Echo, answer, small_run = (TOOLS[name] for name in ("Echo", "answer", "small_run"))


def test_an_item_tells_nothing_without_the_salt_and_follows_its_answer():
    """Another answer, arm, query or salt: another name."""
    row = AnswerRow("q1", "with", "k", "ok", "yes")
    others = [
        AnswerRow("q1", "without", "k", "ok", "yes"),
        AnswerRow("q2", "with", "k", "ok", "yes"),
        AnswerRow("q1", "with", "k", "ok", "no"),
        AnswerRow("q1w", "ith", "k", "ok", "yes"),
    ]
    names = {item_name(one, b"salt") for one in (row, *others)} | {item_name(row, b"other")}
    assert len(names) == 6
    assert all(name[0] == "i" for name in names)


def test_the_order_tells_nothing(tmp_path):
    """Even who knows the seed cannot unshuffle it to the order of the run: the names are random."""
    queries = [{"id": f"q{n}", "query": f"{n}?", "retrieve": ["a"]} for n in range(20)]
    run = small_run(queries=queries)
    answer(tmp_path, Echo(), queries=queries)
    write_sheet(tmp_path, run, tmp_path / "s.jsonl", 0)
    rows = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text().splitlines()]
    order = list(range(len(rows)))
    random.Random(0).shuffle(order)
    unshuffled = [rows[order.index(place)]["item"] for place in range(len(rows))]
    assert unshuffled == sorted(unshuffled)
    arms = [items_of(tmp_path)[row["item"]].arm for row in rows]
    assert arms != ["with", "without"] * 20
    assert rows[0].keys() == {"item", "query", "expected_answer", "answer", "grade", "comment"}


def test_only_answers_are_graded(tmp_path):
    """Failures are not on the sheet; a sheet of nothing is refused, another suffix too."""
    run = small_run()
    answer(tmp_path, Echo({"年假": RetrievalError("down")}))
    assert write_sheet(tmp_path, run, tmp_path / "a.csv", 0) == 2
    with pytest.raises(UsageError, match=r"use one of \.csv, \.jsonl"):
        write_sheet(tmp_path, run, tmp_path / "a.xlsx", 0)
    (tmp_path / "none").mkdir()
    answer(tmp_path / "none", Echo({"?": RetrievalError("down"), "？": RetrievalError("down")}))
    with pytest.raises(DataError, match="no question has an answer"):
        write_sheet(tmp_path / "none", run, tmp_path / "b.csv", 0)


def test_the_salt_lies_in_the_run_folder(tmp_path):
    """The same run has the same items tomorrow."""
    answer(tmp_path, Echo())
    first = items_of(tmp_path)
    assert items_of(tmp_path) == first
    (tmp_path / SALT).unlink()
    assert items_of(tmp_path).keys().isdisjoint(first)
