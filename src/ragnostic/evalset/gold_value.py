"""The ``gold`` of a query, as it stands in a file, into items of alternatives."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ragnostic.corpus.strict_json import RowError, kind_of, read_id
from ragnostic.evalset.remarks import Remarks
from ragnostic.records import GoldSpan

Item = tuple[GoldSpan, ...]

_SPAN_KEYS = frozenset(("id", "doc_id", "start", "end", "quote", "grade", "facets"))


def read_gold(value: Any, remarks: Remarks) -> tuple[Item, ...]:
    """Items of a gold value: ids, groups of alternatives, span objects, or ``{id: grade}``.

    Raises RowError for what cannot be gold; a null or empty id is left out and remarked on.

    >>> [len(item) for item in read_gold([["a", "b"], "c"], Remarks("q1"))]
    [2, 1]
    >>> read_gold({"a": 2}, Remarks("q1"))[0][0].grade
    2.0
    """
    if value is None:
        return ()
    if isinstance(value, dict):
        return _by_grade(value, remarks)
    if not isinstance(value, list):
        raise RowError(f"gold must be an array, not {kind_of(value)}")
    items = (_read_item(entry, remarks) for entry in value)
    return tuple(item for item in items if item)


def grade_first_higher(gold: Sequence[Item]) -> tuple[Item, ...]:
    """The first item is the exact answer (grade 2), the others help (grade 1).

    >>> items = read_gold(["a", "b"], Remarks("q1"))
    >>> [item[0].grade for item in grade_first_higher(items)]
    [2.0, 1.0]
    """
    return tuple(
        tuple(replace(span, grade=1.0 if place else 2.0) for span in item)
        for place, item in enumerate(gold)
    )


def _by_grade(value: Mapping[str, Any], remarks: Remarks) -> tuple[Item, ...]:
    if _SPAN_KEYS & value.keys() and any(isinstance(entry, str) for entry in value.values()):
        raise RowError("gold is one object; put it into an array: [{…}]")
    return tuple(
        (GoldSpan(id=identity, grade=_grade(grade, f"the grade of {identity!r}", remarks)),)
        for identity, grade in value.items()
        if not _is_absent(identity, remarks)
    )


def _read_item(entry: Any, remarks: Remarks) -> Item:
    if not isinstance(entry, list):
        return tuple(_read_spans([entry], remarks))
    if not entry:
        raise RowError("a group of gold is empty")
    if any(isinstance(member, list) for member in entry):
        raise RowError("groups of gold cannot hold groups")
    return tuple(_read_spans(entry, remarks))


def _read_spans(entries: Sequence[Any], remarks: Remarks) -> list[GoldSpan]:
    spans: list[GoldSpan] = []
    for entry in entries:
        if isinstance(entry, dict):
            spans.extend(_read_object(entry, remarks))
        elif not _is_absent(entry, remarks):
            spans.append(GoldSpan(id=read_id(entry, "a gold id", remarks.number_ids)))
    return spans


def _is_absent(identity: Any, remarks: Remarks) -> bool:
    if identity is None or identity == "":
        remarks.null_gold_ids += 1
        return True
    return False


def _read_object(entry: Mapping[str, Any], remarks: Remarks) -> list[GoldSpan]:
    remarks.unknown_keys.update(f"gold.{key}" for key in entry.keys() - _SPAN_KEYS)
    named = [key for key in ("id", "doc_id") if key in entry]
    if len(named) != 1:
        problem = "both id and doc_id" if named else "neither id nor doc_id"
        raise RowError(f"a gold object has {problem}")
    if _is_absent(entry[named[0]], remarks):
        return []
    identity = read_id(entry[named[0]], f"gold {named[0]}", remarks.number_ids)
    grade = _grade(entry.get("grade", 1), f"the grade of {identity!r}", remarks)
    facets = _facets(entry.get("facets"), grade, remarks)
    if named == ["id"]:
        if entry.keys() & {"start", "end", "quote"}:
            raise RowError(f"gold {identity!r}: a span needs doc_id, not id")
        return [GoldSpan(id=identity, grade=grade, facets=facets)]
    start, end = _place(entry, identity)
    quote = entry.get("quote")
    if quote is not None and (not isinstance(quote, str) or not quote.strip()):
        raise RowError(f"gold {identity!r}: quote must be a text that is not blank")
    return [GoldSpan(None, identity, start, end, quote, grade, facets)]


def _place(entry: Mapping[str, Any], identity: str) -> tuple[int | None, int | None]:
    start, end = entry.get("start"), entry.get("end")
    if start is None and end is None:
        return None, None
    whole = all(isinstance(x, int) and not isinstance(x, bool) for x in (start, end))
    if not whole or not 0 <= start < end:  # type: ignore[operator]  # both are whole numbers here
        raise RowError(
            f"gold {identity!r}: start and end must be whole numbers with 0 <= start < end"
        )
    return start, end


def _grade(value: Any, name: str, remarks: Remarks) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RowError(f"{name} must be a number, not {kind_of(value)}")
    if value != math.floor(value):
        raise RowError(f"{name} must be a whole number, not {value}")
    if abs(value) > 2**24:
        raise RowError(f"{name} is too large: {value}")
    remarks.grades.append(float(value))
    return max(float(value), 0.0)


def _facets(value: Any, grade: float, remarks: Remarks) -> dict[str, float]:
    if value is None:
        return {}
    if isinstance(value, dict):
        return {name: _grade(mark, f"facet {name!r}", remarks) for name, mark in value.items()}
    if isinstance(value, list) and all(isinstance(name, str) and name for name in value):
        return dict.fromkeys(value, grade)
    raise RowError("facets must be an array of names or an object of name: grade")
