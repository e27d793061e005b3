"""Closed-form intervals of single means: Student's t without scipy (METRICS 11)."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

_EXACT_DEGREES = 200
"""Up to here the distribution is summed exactly; above, the expansion is good to 1e-9."""


@lru_cache(1 << 12)
def t_quantile(probability: float, degrees: int) -> float:
    """Quantile of Student's t for whole degrees of freedom; ``probability`` in [0.5, 1).

    Source: Abramowitz & Stegun 26.7.3-26.7.5.

    >>> round(t_quantile(0.975, 10), 4), round(t_quantile(0.975, 1000), 4)
    (2.2281, 1.9623)
    """
    start = _expansion(probability, degrees)
    if degrees > _EXACT_DEGREES:
        return start
    low, high = 0.0, 1e9
    while high - low > 1e-12 * max(1.0, low):
        middle = (low + high) / 2
        inside = _within(middle, degrees)
        low, high = (middle, high) if inside < 2 * probability - 1 else (low, middle)
    return (low + high) / 2


def _within(t: float, degrees: int) -> float:
    """P(|T| <= t) as a finite sum."""
    angle = math.atan(t / math.sqrt(degrees))
    cosine = math.cos(angle)
    if degrees % 2:
        term, total = cosine, 0.0
        for step in range(1, degrees - 1, 2):
            total += term
            term *= cosine * cosine * (step + 1) / (step + 2)
        return 2 / math.pi * (angle + math.sin(angle) * total)
    term, total = 1.0, 0.0
    for step in range(0, degrees - 1, 2):
        total += term
        term *= cosine * cosine * (step + 1) / (step + 2)
    return math.sin(angle) * total


def _expansion(probability: float, degrees: int) -> float:
    z = NormalDist().inv_cdf(probability)
    z2, n = z * z, degrees
    return z * (
        1
        + (z2 + 1) / (4 * n)
        + ((5 * z2 + 16) * z2 + 3) / (96 * n**2)
        + (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * n**3)
        + ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / (92160 * n**4)
    )


def mean_interval(
    values: npt.NDArray[np.float64],
    bounds: tuple[float, float] | None = None,
    level: float = 0.95,
) -> tuple[float, float] | None:
    """Student interval of a mean, cut at the metric's range; None for fewer than two values.

    ``values``: (n,) without NaN. No variance gives the point as its interval.

    >>> mean_interval(np.array([0.5, 0.5, 0.5]))
    (0.5, 0.5)
    """
    if values.size < 2:
        return None
    middle = float(values.mean())
    if values.min() == values.max():
        return middle, middle
    error = float(values.std(ddof=1)) / math.sqrt(values.size)
    half = t_quantile((1 + level) / 2, values.size - 1) * error
    low, high = middle - half, middle + half
    return (max(low, bounds[0]), min(high, bounds[1])) if bounds else (low, high)


def difference_interval(
    first: npt.NDArray[np.float64], second: npt.NDArray[np.float64], level: float = 0.95
) -> tuple[float, float] | None:
    """Welch interval of the difference of two independent means; None below two values a side.

    >>> difference_interval(np.array([1.0, 1.0]), np.array([0.5, 0.5]))
    (0.5, 0.5)
    """
    if first.size < 2 or second.size < 2:
        return None
    middle = float(first.mean() - second.mean())
    parts = [float(side.var(ddof=1)) / side.size for side in (first, second)]
    if not sum(parts):
        return middle, middle
    degrees = sum(parts) ** 2 / sum(
        part**2 / (side.size - 1) for part, side in zip(parts, (first, second), strict=True)
    )
    # Rounding the degrees down errs on the wide side.
    half = t_quantile((1 + level) / 2, max(1, int(degrees))) * math.sqrt(sum(parts))
    return middle - half, middle + half


def wilson_interval(share: float, n: int, *, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval of a share of ``n`` > 0 independent trials; never of width 0.

    >>> [round(end, 4) for end in wilson_interval(0.0, 10)]
    [0.0, 0.2775]
    """
    z = NormalDist().inv_cdf((1 + level) / 2)
    scale = 1 + z * z / n
    middle = (share + z * z / (2 * n)) / scale
    half = z / scale * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    # At a share of 0 or 1 the end is that share; rounding must not put it beside.
    low = 0.0 if share <= 0 else max(0.0, middle - half)
    high = 1.0 if share >= 1 else min(1.0, middle + half)
    return low, high


def nearest_rank(values: npt.NDArray[np.float64], percent: float) -> float | None:
    """Percentile by nearest rank: the smallest value with at least ``percent`` % at or below it.

    >>> nearest_rank(np.array([0.1] * 90 + [2.0] * 10), 95)
    2.0
    """
    if not values.size:
        return None
    rank = max(1, math.ceil(round(percent / 100 * values.size, 9)))
    return float(np.sort(values)[rank - 1])
