"""Whether two windows differ by more than chance: from their n, values and intervals.

A roll-up keeps n, Σ and Σ² of a window, and these give a value with Student's 95 % interval. The
interval gives the standard error back, so that two windows can be compared without their rows, for
a mean, a ratio of sums (QER) and a deviation (RDS) alike (METRICS 11, 13).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ragnostic.stats.intervals import t_quantile

_LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Measured:
    """A value over ``n`` rows and its 95 % interval, which may have been cut at an end of the
    metric's range.
    """

    value: float
    n: int
    low: float
    high: float

    def variance(self) -> float:
        """The squared standard error of the value; taken from the wider side, which is the one
        that was not cut.

        >>> round(Measured(0.5, 1000, 0.48038, 0.51962).variance(), 7)
        0.0001
        """
        half = max(self.value - self.low, self.high - self.value)
        return (half / t_quantile((1 + _LEVEL) / 2, max(1, self.n - 1))) ** 2


def window_difference(first: Measured, second: Measured) -> tuple[float, float]:
    """Welch's 95 % interval of ``first`` − ``second``, two independent windows.

    For means it is exactly that of their rows; for shares, whose intervals are Wilson's, a little
    wider. Where 0 is outside of it the two differ significantly.

    >>> apart = window_difference(Measured(0.7, 500, 0.66, 0.74), Measured(0.8, 500, 0.76, 0.84))
    >>> [round(end, 4) for end in apart]
    [-0.1565, -0.0435]
    """
    middle = first.value - second.value
    parts = [side.variance() for side in (first, second)]
    whole = sum(parts)
    if whole <= 0:
        return middle, middle
    degrees = whole**2 / sum(
        part**2 / max(1, side.n - 1) for part, side in zip(parts, (first, second), strict=True)
    )
    # Rounding the degrees down errs on the wide side.
    half = t_quantile((1 + _LEVEL) / 2, max(1, int(degrees))) * math.sqrt(whole)
    return middle - half, middle + half
