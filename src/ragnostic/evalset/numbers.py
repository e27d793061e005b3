"""Grades and scores as they stand in files: read strictly, refused with a reason."""

from __future__ import annotations

import math
from typing import Any, Literal

from ragnostic.corpus.strict_json import RowError

Grades = Literal["whole", "real"]

LARGEST_GRADE = 1e30
"""Grades are kept as 32-bit floats; nobody means more than this."""


def number(value: Any) -> float | None:
    """A finite or infinite number from text or JSON; None for what is none (also NaN and 1_0).

    >>> number("2.50"), number("nan"), number("1_0"), number(True)
    (2.5, None, None, None)
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str) and ("_" in value or not value.isascii()):
        return None
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return None if math.isnan(found) else found


def grade(value: Any, allowed: Grades = "whole") -> float:
    """A grade; raises RowError naming the value (METRICS 1.5).

    >>> grade("1.0"), grade(-1), grade("0.5", "real")
    (1.0, -1.0, 0.5)
    """
    found = number(value)
    if found is None or abs(found) > LARGEST_GRADE:
        raise RowError(f"grade {value!r} is no number")
    if allowed == "whole" and not found.is_integer():
        raise RowError(f"grade {value!r} is a fraction; fractions are read only as real grades")
    return found


def score(value: Any) -> float:
    """A score; raises RowError for what is no number, NaN included (METRICS 1.4)."""
    found = number(value)
    if found is None:
        raise RowError(f"score {value!r} is no number")
    return found
