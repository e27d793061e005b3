"""How far several graders agree: shares of equal grades, and Krippendorff's alpha."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np


@dataclass(frozen=True, slots=True)
class Agreement:
    """Over the ``items`` that at least two graders graded, all ``pairs`` of their grades.

    ``equal`` and ``near`` are the shares of pairs with the same grade and with grades at most 1
    apart. ``alpha`` is 1 for full agreement and 0 for that of chance; None where all grades are
    the same, so that agreement says nothing.
    """

    items: int
    pairs: int
    equal: float | None
    near: float | None
    alpha: float | None


def agreement(grades: Sequence[Sequence[float]]) -> Agreement:
    """Agreement on items, each with the grades that it was given (one of them says nothing).

    Alpha with squared differences (interval data). Source: Krippendorff 2011, Computing
    Krippendorff's Alpha-Reliability.

    >>> found = agreement([[3, 3], [0, 1], [2, 2], [1]])
    >>> found.items, round(found.equal, 4), found.near, round(found.alpha, 4)
    (3, 0.6667, 1.0, 0.878)
    """
    shared = [np.asarray(item, dtype=np.float64) for item in grades if len(item) > 1]
    if not shared:
        return Agreement(0, 0, None, None, None)
    apart = np.array([abs(a - b) for item in shared for a, b in combinations(item, 2)])
    everything = np.concatenate(shared)
    within = sum(2 * float(item.var()) * item.size**2 / (item.size - 1) for item in shared)
    among = 2 * float(everything.var()) * everything.size**2 / (everything.size - 1)
    alpha = None if everything.min() == everything.max() else 1 - within / among
    return Agreement(
        len(shared), apart.size, float((apart == 0).mean()), float((apart <= 1).mean()), alpha
    )
