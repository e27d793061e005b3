"""What is odd about good rows: collected while reading, announced once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ragnostic.errors import Fault, counted

_NAMED = 20
_USUAL_GRADES = 3


@dataclass(slots=True)
class Remarks:
    """What was noticed in one row. ``grades`` holds every grade as it was written."""

    query_id: str = ""
    null_gold_ids: int = 0
    number_ids: list[str] = field(default_factory=list)
    grades: list[float] = field(default_factory=list)
    unknown_keys: set[str] = field(default_factory=set)


def announce(name: str, rows: Iterable[tuple[str, Remarks]], faults: list[Fault]) -> None:
    """Faults for the remarks of a file's rows, given as (``file:line``, remarks).

    Each null gold id is named with its query; numbers read as text, negative and unusually large
    grades and unknown keys are announced once a file, with their count.
    """
    numbers: list[str] = []
    negative: list[str] = []
    large: list[str] = []
    unknown: dict[str, int] = {}
    for where, row in rows:
        if row.null_gold_ids:
            count = row.null_gold_ids
            message = f"query {row.query_id!r}: a gold id is null or empty; left out"
            faults.append(Fault("null_gold_id", message, (row.query_id,), where, count))
        numbers += row.number_ids
        negative += [row.query_id] * any(grade < 0 for grade in row.grades)
        large += [row.query_id] * any(grade > _USUAL_GRADES for grade in row.grades)
        for key in row.unknown_keys:
            unknown[key] = unknown.get(key, 0) + 1
    once = (
        ("number_ids", "id was", "ids were", "written without quotes and read as text", numbers),
        ("negative_grade", "query has", "queries have", "grades below 0, counted as 0", negative),
        ("large_grade", "query has", "queries have", "grades above 3, which is unusual", large),
    )
    for kind, one, many, words, found in once:
        if found:
            message = f"{counted(len(found), one, many)} {words} (first: {found[0]!r})"
            faults.append(Fault(kind, message, tuple(found[:_NAMED]), name, len(found)))
    for key in sorted(unknown):
        message = f"unknown key {key!r} in {counted(unknown[key], 'row')}; not used"
        faults.append(Fault("unknown_key", message, (), name, unknown[key]))
