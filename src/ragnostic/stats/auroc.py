"""The interval of an AUROC (METRICS 9)."""

from __future__ import annotations

import math
from statistics import NormalDist

from ragnostic.metrics.inputs import Floats
from ragnostic.metrics.unanswerable import Bools, placements_of


def delong_interval(
    placements: Floats, unanswerable: Bools, *, level: float = 0.95
) -> tuple[float, float] | None:
    """DeLong's interval of an AUROC from its placements, cut at [0, 1]; (n,) without NaN.

    None where a kind of query has fewer than two. Source: DeLong, DeLong & Clarke-Pearson 1988;
    placements as :func:`ragnostic.metrics.unanswerable.placements` gives them.

    >>> import numpy as np
    >>> sides = np.array([1.0, 1.0, 0.5, 0.25, 1.0, 1.0, 0.75, 0.0])
    >>> found = delong_interval(sides, np.array([0, 0, 0, 0, 1, 1, 1, 1]) > 0)
    >>> [round(end, 3) for end in found]
    [0.096, 1.0]
    """
    kinds = placements[~unanswerable], placements[unanswerable]
    if min(kind.size for kind in kinds) < 2:
        return None
    middle = float(kinds[1].mean())
    error = math.sqrt(sum(float(kind.var(ddof=1)) / kind.size for kind in kinds))
    half = NormalDist().inv_cdf((1 + level) / 2) * error
    return max(0.0, middle - half), min(1.0, middle + half)


def contributed_interval(values: Floats, unanswerable: Bools) -> tuple[float, float] | None:
    """DeLong's interval from the values a query that an AUROC's column holds; (n,) without NaN.

    They are made by :func:`ragnostic.metrics.unanswerable.contributions`.

    >>> import numpy as np
    >>> contributed_interval(np.array([1.0]), np.array([True])) is None
    True
    """
    return delong_interval(placements_of(values, unanswerable), unanswerable)
