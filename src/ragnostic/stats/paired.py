"""Differences of two systems over the same queries: interval, p, wins and losses (METRICS 11)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

import numpy as np

from ragnostic.metrics import Metric
from ragnostic.metrics.inputs import Floats
from ragnostic.stats.bootstrap import bca_interval, normal_interval
from ragnostic.stats.intervals import t_quantile
from ragnostic.stats.randomisation import normal_p, randomisation_p

BOOTSTRAP_LIMIT = 20_000
"""Pairs up to which values are resampled and signs flipped; above it both are normal."""
RESAMPLES = 10_000
TOLERANCE = 1e-9
"""Values that are no further apart are equal."""
POWER = 0.8

Method = Literal["bca", "normal", "point"]


@dataclass(frozen=True, slots=True)
class Difference:
    """Candidate minus base over ``n`` pairs; None, 0 and False where n is 0.

    ``base``, ``candidate``: means over the pairs. ``low``, ``high``: interval of ``value`` by
    ``method``; None for a single pair that differs, of which no interval can be known. ``p``:
    two-sided randomisation test, ``p_holm`` the same over all metrics of the comparison,
    ``exact`` where all sign patterns were counted. ``wins``: pairs where the candidate is better.
    ``detectable``: the smallest difference that this many pairs of this spread show at 80 %
    power; None where nothing differs in size, so that no spread is known.
    """

    n: int = 0
    base: float | None = None
    candidate: float | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    method: Method | None = None
    p: float | None = None
    p_holm: float | None = None
    exact: bool = False
    wins: int = 0
    ties: int = 0
    losses: int = 0
    detectable: float | None = None

    def as_json(self) -> dict[str, Any]:
        """The members of a metric in ``compare --json``, ``value`` under ``difference``.

        >>> Difference().as_json()["difference"] is None
        True
        """
        names = (
            *("base", "candidate", "value", "low", "high", "method", "p", "p_holm", "exact"),
            *("n", "wins", "ties", "losses", "detectable"),
        )
        return {"difference" if name == "value" else name: getattr(self, name) for name in names}


def paired_differences(
    base: Floats,
    candidate: Floats,
    *,
    higher_is_better: Sequence[bool] | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> list[Difference]:
    """A difference a column of two (n, m) arrays whose rows are the same queries.

    A pair with a NaN is left out of its column only. A column's result depends on nothing but its
    own values, in any order of the queries. ``higher_is_better`` (m,) turns wins and losses,
    never the sign of the difference. ``resamples`` serves bootstrap and random sign flips.

    >>> base, candidate = np.array([[0.5], [0.2], [1.0]]), np.array([[1.0], [0.2], [0.5]])
    >>> [found] = paired_differences(base, candidate)
    >>> found.value, found.p, found.wins, found.ties, found.losses
    (0.0, 1.0, 1, 1, 1)
    """
    upward = higher_is_better or [True] * base.shape[1]
    found = [
        _difference(base[:, column], candidate[:, column], level, resamples, up=up)
        for column, up in enumerate(upward)
    ]
    return with_holm(found)


def with_holm(differences: Sequence[Difference]) -> list[Difference]:
    """The same differences as one family: ``p_holm`` over all of them."""
    corrected = holm([found.p for found in differences])
    return [replace(one, p_holm=p) for one, p in zip(differences, corrected, strict=True)]


def difference_interval_at(
    differences: Floats, level: float, *, resamples: int = RESAMPLES
) -> tuple[float | None, float | None, Method | None]:
    """Interval of the mean of paired differences, at any level, and how it was made.

    ``differences``: (n,), NaN left out. ``bca`` up to 20,000 pairs, ``normal`` above and where
    the bootstrap has nothing to correct by, ``point`` where all are equal (METRICS 11). Nothing
    for no pair, nor for a single one that differs: it says nothing of the spread.

    >>> difference_interval_at(np.zeros(4), 0.95)
    (0.0, 0.0, 'point')
    >>> difference_interval_at(np.array([0.5]), 0.95)
    (None, None, None)
    """
    return _interval(_settled(differences[np.isfinite(differences)]), level, resamples)


def holm(p: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down correction of a family; None stays None and does not count.

    Source: Holm 1979; METRICS 11.

    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    known = sorted((value, place) for place, value in enumerate(p) if value is not None)
    found: list[float | None] = [None] * len(p)
    reached = 0.0
    for rank, (value, place) in enumerate(known):
        reached = max(reached, min(1.0, value * (len(known) - rank)))
        found[place] = reached
    return found


def is_upward(metric: str) -> bool:
    """Whether larger values of a metric are better.

    >>> is_upward("RR@5"), is_upward("FalseRetrieval@5")
    (True, False)
    """
    return Metric.parse(metric).definition.higher_is_better


def _difference(
    base: Floats, candidate: Floats, level: float, resamples: int, *, up: bool
) -> Difference:
    pairs = np.isfinite(base) & np.isfinite(candidate)
    base, candidate = base[pairs], candidate[pairs]
    if not base.size:
        return Difference()
    changes = _settled(candidate - base)
    low, high, method = _interval(changes, level, resamples)
    if changes.size > BOOTSTRAP_LIMIT:
        p, exact = normal_p(changes), False
    else:
        p, exact = randomisation_p(changes, resamples)
    more, fewer = int((changes > 0).sum()), int((changes < 0).sum())
    return Difference(
        n=changes.size,
        base=float(base.mean()),
        candidate=float(candidate.mean()),
        value=_mean(changes),
        low=low,
        high=high,
        method=method,
        p=p,
        exact=exact,
        wins=more if up else fewer,
        ties=changes.size - more - fewer,
        losses=fewer if up else more,
        detectable=_detectable(changes, level),
    )


def _settled(differences: Floats) -> Floats:
    """Differences in one order, those within the tolerance exactly 0."""
    return np.sort(np.where(np.abs(differences) <= TOLERANCE, 0.0, differences))


def _mean(changes: Floats) -> float:
    # A mean of equal numbers is that number; a sum of them may differ in its last bit.
    return float(changes[0] if _flat(changes) else changes.mean()) + 0.0


def _flat(changes: Floats) -> bool:
    return bool(changes[-1] - changes[0] <= TOLERANCE)


def _interval(
    changes: Floats, level: float, resamples: int
) -> tuple[float | None, float | None, Method | None]:
    if not changes.size or (changes.size == 1 and changes[0]):
        return None, None, None
    if _flat(changes):
        return _mean(changes), _mean(changes), "point"
    if changes.size <= BOOTSTRAP_LIMIT:
        resampled = bca_interval(changes, level, resamples)
        if resampled is not None:
            return *resampled, "bca"
    return *normal_interval(changes, level), "normal"


def _detectable(changes: Floats, level: float) -> float | None:
    if changes.size < 2 or _flat(changes):
        return None
    error = float(changes.std(ddof=1)) / math.sqrt(changes.size)
    return _errors_to_detect(changes.size - 1, level) * error


@cache
def _errors_to_detect(degrees: int, level: float) -> float:
    """Standard errors that a difference must have to be shown with the wanted power."""
    return t_quantile((1 + level) / 2, degrees) + t_quantile(POWER, degrees)
