"""How much one value moves with another: least-squares slope and Spearman's rank correlation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ragnostic.metrics.inputs import Floats
from ragnostic.stats.intervals import t_quantile

_TINY = 1e-12


@dataclass(frozen=True, slots=True)
class Slope:
    """Least-squares slope of y on x over ``n`` pairs; None with the ``reason`` where there is
    none.

    ``low`` and ``high`` are Student's interval with n − 2 degrees and HC3 errors, which hold
    where the spread of y differs with x, as that of grades does; ``error`` is that HC3 error,
    ``plain_error`` the textbook one. ``rho``: Spearman's rank correlation.
    """

    n: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    error: float | None = None
    plain_error: float | None = None
    rho: float | None = None
    reason: str | None = None


def slope(x: Floats, y: Floats, level: float = 0.95) -> Slope:
    """The slope of ``y`` on ``x``, both (n,); pairs with a NaN are left out.

    Without variance in x or in y, and below three pairs, there is no slope. Where one pair alone
    fixes the line (all others have one x) there is a slope but no interval.
    Source of HC3: MacKinnon & White 1985.

    >>> found = slope(np.array([0.0, 0.5, 1.0, 1.0]), np.array([0.0, 1.0, 3.0, 2.0]))
    >>> round(found.value, 4), round(found.plain_error, 4), found.n
    (2.5455, 0.6298, 4)
    >>> slope(np.ones(4), np.arange(4.0)).reason
    'all values of the metric are equal'
    """
    known = np.isfinite(x) & np.isfinite(y)
    x, y = x[known], y[known]
    reason = _no_slope(x, y)
    if reason is not None:
        return Slope(x.size, reason=reason)
    apart = x - x.mean()
    spread = float(apart @ apart)
    value = float(apart @ (y - y.mean())) / spread
    rest = y - y.mean() - value * apart
    free = 1 - 1 / x.size - apart**2 / spread
    plain = math.sqrt(max(0.0, float(rest @ rest)) / (x.size - 2) / spread)
    rho = spearman(x, y)
    if free.min() < _TINY:
        return Slope(x.size, value, plain_error=plain, rho=rho, reason=_ONE_PAIR)
    error = math.sqrt(float((apart**2 * (rest / free) ** 2).sum())) / spread
    half = t_quantile((1 + level) / 2, x.size - 2) * error
    return Slope(x.size, value, value - half, value + half, error, plain, rho)


_ONE_PAIR = "one query alone fixes the slope, so it has no interval"


def _no_slope(x: Floats, y: Floats) -> str | None:
    if x.size < 3:
        return "fewer than 3 queries have both a grade and a value"
    if _flat(x):
        return "all values of the metric are equal"
    return "all grades are equal" if _flat(y) else None


def _flat(values: Floats) -> bool:
    return bool(values.max() - values.min() < 1e-9)


def spearman(x: Floats, y: Floats) -> float:
    """Spearman's rank correlation of two (n,) arrays that both vary; equal values share the mean
    of their ranks.

    >>> spearman(np.array([1.0, 2.0, 3.0]), np.array([1.0, 4.0, 9.0]))
    1.0
    """
    first, second = (_ranks(values) for values in (x, y))
    first, second = first - first.mean(), second - second.mean()
    found = float(first @ second) / math.sqrt(float(first @ first) * float(second @ second))
    return min(1.0, max(-1.0, found))


def _ranks(values: Floats) -> Floats:
    """Ranks from 1; equal values share the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    shared = last - (counts - 1) / 2
    return np.asarray(shared[place], dtype=np.float64)
