"""The shared ``judge`` cases of answer_span: a case is run by what its ``given`` holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragnostic.judges.answer_span import judge_answers

FOLDER = Path(__file__).resolve().parents[3] / "shared/cases"


def cases() -> list[dict[str, Any]]:
    """The cases that this judge decides; none where the folder is absent."""
    found = [json.loads(path.read_text()) for path in sorted(FOLDER.glob("judge-*.json"))]
    return [case for case in found if case["given"].get("judge") == "answer_span"]


def judged(given: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Record id → its judgment; a case with one answer has the id ""."""
    rows = given.get("records") or [{"query": given.get("query", ""), "answer": given["answer"]}]
    found = judge_answers(rows, given["corpus"], **given.get("options", {}))
    return {row.get("id", ""): judgment for row, judgment in zip(rows, found, strict=True)}


def hard(judgment: dict[str, Any]) -> list[str]:
    """Ids of the hard-relevant chunks."""
    pairs = zip(judgment["ids"], judgment["grades"], strict=True)
    return sorted(identity for identity, grade in pairs if grade >= 1)


@pytest.mark.shared
@pytest.mark.parametrize("case", cases(), ids=lambda case: case["id"])
def test_answer_span_case(case: dict[str, Any]):
    """Hard chunks, refusals, abstentions and coverage are as the case says."""
    expect, found = case["expect"], judged(case["given"])
    wanted = expect["hard"] if isinstance(expect["hard"], dict) else {"": expect["hard"]}
    for record, ids in wanted.items():
        assert hard(found[record]) == sorted(ids)
    for status in ("refused", "abstained"):
        listed = [record for record, row in found.items() if row["status"] == status]
        assert listed == expect.get(status, listed)
    if "" in found:
        allowed = set(expect.get("soft_allowed", found[""]["ids"]))
        softs = set(found[""]["ids"]) - set(hard(found[""]))
        assert softs <= allowed
    coverage = expect.get("coverage", {})
    judgments = list(found.values())
    counts = {
        "with_any_relevant": sum(bool(hard(row)) for row in judgments),
        "of": sum(row["status"] != "refused" for row in judgments),
        "refused": sum(row["status"] == "refused" for row in judgments),
    }
    assert {key: counts[key] for key in coverage} == coverage
