"""Intervals of what is no mean: a ratio of sums, a standard deviation (METRICS 11)."""

from __future__ import annotations

import math

from ragnostic.metrics.inputs import Floats
from ragnostic.stats import t_quantile

Interval = tuple[float, float]


def ratio_interval(upper: Floats, lower: Floats, level: float = 0.95) -> Interval | None:
    """Interval of Σ ``upper`` ÷ Σ ``lower`` by the delta method, not below 0; (n,) without NaN.

    None for fewer than two rows, and where the lower sum is not above 0.

    >>> import numpy as np
    >>> found = ratio_interval(np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.0, 1.0]))
    >>> [round(end, 3) for end in found]
    [0.0, 4.484]
    """
    n = upper.size
    total = float(lower.sum())
    if n < 2 or total <= 0:
        return None
    ratio = float(upper.sum()) / total
    rest = upper - ratio * lower
    error = math.sqrt(float((rest * rest).sum()) / (n - 1) / n) / (total / n)
    half = t_quantile((1 + level) / 2, n - 1) * error
    return max(0.0, ratio - half), ratio + half


def deviation_interval(values: Floats, level: float = 0.95) -> Interval | None:
    """Interval of a population standard deviation by the jackknife, not below 0; (n,), no NaN.

    None for fewer than three values: with two, leaving one out leaves no deviation at all.

    >>> import numpy as np
    >>> [round(end, 4) for end in deviation_interval(np.array([0.0, 0.0, 0.0, 1.0]))]
    [0.0, 1.5582]
    >>> deviation_interval(np.array([0.0, 1.0])) is None
    True
    """
    n = values.size
    if n < 3:
        return None
    apart = values - values.mean()
    squares = float((apart * apart).sum())
    # Leaving x out takes (x - mean)² · n/(n-1) from the sum of squares.
    without = ((squares - apart * apart * n / (n - 1)).clip(min=0.0) / (n - 1)) ** 0.5
    spread = without - without.mean()
    error = math.sqrt((n - 1) / n * float((spread * spread).sum()))
    half = t_quantile((1 + level) / 2, n - 1) * error
    middle = math.sqrt(squares / n)
    return max(0.0, middle - half), middle + half
