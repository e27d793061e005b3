"""Intervals around 0 on one axis: its length, and where an interval lies on it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ragnostic.report.comparison_page import Span

if TYPE_CHECKING:
    from ragnostic.stats.paired import Difference

_SAME = 1e-9


def reach_of(differences: Iterable[Difference]) -> float:
    """Half the length of an axis around 0 that holds all intervals: 1, 2 or 5 times a power of
    ten, at most 1. Intervals of values beyond [-1, 1] are not drawn and do not stretch it.
    """
    ends = [
        abs(end)
        for difference in differences
        for end in (difference.low, difference.value, difference.high)
        if end is not None and abs(end) <= 1
    ]
    return round_up(max(ends, default=0.0)) if any(ends) else 1.0


def round_up(value: float) -> float:
    """The next 1, 2 or 5 times a power of ten that is not below ``value`` (above 0).

    >>> round_up(0.034), round_up(0.05), round_up(0.7), round_up(12)
    (0.05, 0.05, 1.0, 20.0)
    """
    power = math.floor(math.log10(value))
    sizes = (float(f"{base}e{at}") for at in (power, power + 1) for base in (1, 2, 5))
    return next(size for size in sizes if value <= size * (1 + _SAME))


def span_of(difference: Difference, reach: float) -> Span | None:
    """Where an interval lies on the axis; None where it has no ends or leaves the axis."""
    low, at, high = difference.low, difference.value, difference.high
    if low is None or at is None or high is None:
        return None
    if max(abs(low), abs(at), abs(high)) > reach * (1 + _SAME):
        return None
    return Span(*((end + reach) / (2 * reach) for end in (low, at, high)))
