"""From sums to a value with its interval: the same that the rows themselves would give."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ragnostic.metrics import Metric
from ragnostic.monitor.live_metrics import OVERLAP, OVERLAP_RBO, QER, RBO, RCS, RDS, RDS_NORM
from ragnostic.monitor.rollups.rows import COVERAGE, EMPTY, FAILED, LATENCY
from ragnostic.monitor.rollups.sketches import percentile
from ragnostic.stats import t_quantile
from ragnostic.stats.estimates import wilson_interval

_SHARES = frozenset({COVERAGE, EMPTY, FAILED})


class Estimate(NamedTuple):
    """A value, None where it is undefined, and its 95 % interval."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Sums:
    """What is kept of some rows; see ROLLUP_SCHEMA. Sums of parts add up to those of the whole.

    >>> whole = Sums(2, 1.0, 1.0) + Sums(2, 1.0, 1.0)
    >>> estimate("RR@5", whole).value, [round(end, 4) for end in estimate("RR@5", whole)[1:]]
    (0.5, [0.0, 1.0])
    """

    n: int = 0
    total: float = 0.0
    squares: float = 0.0
    more: tuple[float, ...] = ()
    sketches: tuple[bytes, ...] = ()

    def __add__(self, other: Sums) -> Sums:
        longer = max(len(self.more), len(other.more))
        sides = (side + (0.0,) * (longer - len(side)) for side in (self.more, other.more))
        return Sums(
            self.n + other.n,
            self.total + other.total,
            self.squares + other.squares,
            tuple(map(sum, zip(*sides, strict=True))),
            (*self.sketches, *other.sketches),
        )


def estimate(figure: str, sums: Sums) -> Estimate:
    """The value of a figure: a mean, a ratio (QER), a deviation (RDS), or ``latency:p95``.

    Intervals: Student's t for means, the delta method for QER and RDS, Wilson's for shares; none
    for percentiles, which are within 1 %.
    """
    if not sums.n:
        return Estimate(None)
    if figure.startswith(f"{LATENCY}:p"):
        return Estimate(percentile(sums.sketches, float(figure.partition(":p")[2])))
    if figure == QER:
        return _ratio(sums)
    if figure in (RDS, RDS_NORM):
        return _deviation(sums)
    if figure in _SHARES:
        share = sums.total / sums.n
        return Estimate(share, *wilson_interval(share, sums.n))
    return _mean(sums, _range(figure))


def _range(figure: str) -> tuple[float, float] | None:
    if figure in (RCS, RBO, OVERLAP, OVERLAP_RBO):
        return 0.0, 1.0
    return None if figure in (LATENCY, "top_k") else Metric.parse(figure).definition.range


def _mean(sums: Sums, bounds: tuple[float, float] | None) -> Estimate:
    n, mean = sums.n, sums.total / sums.n
    if n < 2:
        return Estimate(mean)
    variance = max(0.0, sums.squares - n * mean * mean) / (n - 1)
    if variance <= 1e-15 * max(1.0, mean * mean):  # all alike, but for the last digits
        return Estimate(mean, mean, mean)
    half = t_quantile(0.975, n - 1) * math.sqrt(variance / n)
    return Estimate(mean, *_cut(mean - half, mean + half, bounds))


def _ratio(sums: Sums) -> Estimate:
    cost, cost_squares, products = _three(sums.more)
    if cost <= 0:
        return Estimate(None)
    ratio, n = sums.total / cost, sums.n
    if n < 2:
        return Estimate(ratio)
    rest = max(0.0, sums.squares - 2 * ratio * products + ratio * ratio * cost_squares)
    half = t_quantile(0.975, n - 1) * math.sqrt(rest / (n - 1) / n) / (cost / n)
    return Estimate(ratio, max(0.0, ratio - half), ratio + half)


def _deviation(sums: Sums) -> Estimate:
    cubes, fourths, random = _three(sums.more)
    n, mean = sums.n, sums.total / sums.n
    scale = random / n if random else 1.0
    variance = max(0.0, sums.squares / n - mean * mean)
    value = math.sqrt(variance)
    if n < 3 or value <= 0:
        return Estimate(value / scale)
    fourth = fourths / n - 4 * mean * cubes / n + 6 * mean**2 * sums.squares / n - 3 * mean**4
    error = math.sqrt(max(0.0, fourth - variance**2) / n) / (2 * value)
    half = t_quantile(0.975, n - 1) * error
    return Estimate(value / scale, max(0.0, value - half) / scale, (value + half) / scale)


def _three(more: Sequence[float]) -> tuple[float, float, float]:
    first, second, third = (*more, 0.0, 0.0, 0.0)[:3]
    return first, second, third


def _cut(low: float, high: float, bounds: tuple[float, float] | None) -> tuple[float, float]:
    return (max(low, bounds[0]), min(high, bounds[1])) if bounds else (low, high)
