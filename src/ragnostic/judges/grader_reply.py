"""A grader's reply into grades: read strictly, because a wrong grade looks like a right one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ragnostic.corpus.strict_json import RowError, parse_object
from ragnostic.judges.grader_prompt import MAX_GRADE

GRADE = "grade"

_THINKING = re.compile(r"\A\s*<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"\A```[a-z]*\s*\n(.*?)\n?\s*```\Z", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(
    r"(?:(?:grade|score|评分|得分|分数|等级)\s*(?:is|为|是)?\s*[:=]?\s*)?(-?\d+(?:\.\d+)?)\s*分?[.。]?",
    re.IGNORECASE,
)
_OBJECT = re.compile(r"\{[^{}]*\}")
_SHOWN = 80
_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Verdict:
    """The grades of one passage, whole numbers 0 to 3; or, where there are none, ``failure`` says
    why and ``grade`` is None. ``model`` names who graded.
    """

    grade: int | None
    facets: Mapping[str, int] = field(default_factory=dict)
    model: str = ""
    failure: str = ""


def read_reply(reply: str, facets: Sequence[str] = (), model: str = "") -> Verdict:
    """The verdict of a reply that is a number or holds one JSON object with ``grade`` and, where
    asked for, each facet. A thought before it and a code fence around it are taken off.

    Anything else fails: no grade, two of them, one that is no whole number or off the scale. The
    first number of a sentence is not its grade.

    >>> read_reply("3").grade, read_reply('{"grade": 2}').grade
    (3, 2)
    >>> read_reply("I see 3 gaps, so this one gets grade 1.").failure
    "no grade in the reply 'I see 3 gaps, so this one gets grade 1.'"
    >>> read_reply('{"grade": 9}').failure
    'grade 9 is off the scale 0-3'
    """
    said = _FENCE.sub(r"\1", _THINKING.sub("", reply).strip()).strip()
    try:
        given = _given(said, facets)
        grades = {name: _grade(given, name) for name in (GRADE, *facets)}
    except RowError as error:
        return Verdict(None, model=model, failure=str(error))
    return Verdict(grades.pop(GRADE), grades, model)


def _given(said: str, facets: Sequence[str]) -> Mapping[str, Any]:
    if not said:
        raise RowError("the reply is empty")
    number = _number(said)
    if number is not None and not facets:
        return {GRADE: number}
    objects = [said] if said[0] + said[-1] == "{}" else _OBJECT.findall(said)
    if len(objects) > 1:
        raise RowError(f"{len(objects)} JSON objects in the reply {_shown(said)}; one is asked for")
    if not objects:
        raise RowError(f"no grade in the reply {_shown(said)}")
    return parse_object(objects[0])


def _grade(given: Mapping[str, Any], name: str) -> int:
    """The grade under a name; a number in quotes is one too."""
    if name not in given:
        raise RowError(f"no {name} in the reply {_shown(dict(given))}")
    value = _number(given[name]) if isinstance(given[name], str) else given[name]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RowError(f"{name} {_shown(given[name])} is no number")
    if not 0 <= value <= MAX_GRADE:
        raise RowError(f"{name} {_shown(value)} is off the scale 0-{MAX_GRADE}")
    if value != int(value):
        raise RowError(f"{name} {_shown(value)} is no whole number")
    return int(value)


def _number(text: str) -> int | float | None:
    """The number that a text is, perhaps with a word for grade before it."""
    found = _NUMBER.fullmatch(unicodedata.normalize("NFKC", text).strip("*\"' \n"))
    if found is None:
        return None
    return float(found[1]) if "." in found[1] or len(found[1]) > _DIGITS else int(found[1])


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
