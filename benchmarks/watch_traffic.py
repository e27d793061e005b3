"""Thirty days of simulated hourly traffic, as the roll-ups would hold it.

Everything is drawn record by record (or as counts of records), summed up per hour, and turned into
windows by the same estimates as a store's roll-ups. A day and a week have their season: nights are
quiet, weekends are smaller and a little worse, load makes retrieval slower. Days differ by more
than their rows explain, as real ones do. Some hours are lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt

from ragnostic.monitor.rollups.estimates import Sums, estimate
from ragnostic.monitor.rollups.series import Point, Size, windows_of
from ragnostic.monitor.rollups.sketches import sketch_of

ZONE = "Asia/Shanghai"
START = datetime(2026, 3, 2, tzinfo=ZoneInfo(ZONE))
"""A Monday."""
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
DAYS = 30
BUSIEST = 650
"""Records in the busiest hour of an ordinary day."""
CATEGORIES = {"orders": 0.33, "refunds": 0.25, "accounts": 0.17, "tax": 0.12, "travel": 0.13}
_USUAL = np.array([0.82, 0.80, 0.78, 0.84, 0.79])
"""MRR@5 of each category."""
_PLACES = np.array([1.0, 1 / 2, 1 / 3, 1 / 4, 1 / 5, 0.0])
_LATER = np.array([0.35, 0.20, 0.10, 0.05, 0.30])
"""Where the first useful result stands when it is not the first."""
_RANDOM_DISTANCE = 0.62
_LOST = 0.01
"""Share of hours of which nothing arrived."""

Key = tuple[str, str, str]
"""Figure, slice, value."""
Draw = np.random.Generator
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Conditions:
    """What an hour is like, beside its season.

    ``traffic`` and ``latency`` are factors, ``mrr`` is added to every category and ``mrr_of`` to
    single ones, ``used`` is a factor on useful chunks, ``torn`` the share of queries whose relevant
    chunks were torn apart, ``steady`` the chance of one of the reranker's top ten to stay,
    ``mix`` a factor on the traffic of single categories.
    """

    traffic: float = 1.0
    latency: float = 1.0
    mrr: float = 0.0
    mrr_of: Mapping[str, float] | None = None
    used: float = 1.0
    torn: float = 0.0
    steady: float = 0.96
    mix: Mapping[str, float] | None = None


Weather = Callable[[datetime], Conditions]
"""What an hour is like, by its start."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """Hours of every figure, by slice and value; what is in none of them was lost."""

    hours: Mapping[Key, Mapping[datetime, Sums]]
    end: datetime

    def series(self, size: Size, figure: str, column: str = "") -> dict[str, list[Point]]:
        """The windows of a figure from the beginning to the end, by value of a slice."""
        windows = list(windows_of(size, START, self.end, ZONE))
        return {
            value: [_point(figure, *window, hours) for window in windows]
            for (name, slice_, value), hours in self.hours.items()
            if (name, slice_) == (figure, column)
        }


def simulated(seed: int, weather: Weather, days: int = DAYS) -> Traffic:
    """The traffic of some days; the same for the same seed."""
    draw = np.random.default_rng(seed)
    drift = draw.normal(0.0, 0.008, days)
    own = draw.normal(0.0, 0.012, (days, len(CATEGORIES)))
    hours: dict[Key, dict[datetime, Sums]] = {}
    for hour in range(24 * days):
        start = START + hour * HOUR
        if draw.random() < _LOST:
            continue
        day = hour // 24
        for key, sums in _hour(draw, start, weather(start), drift[day] + own[day]):
            hours.setdefault(key, {})[start] = sums
    return Traffic(hours, START + days * DAY)


def _point(figure: str, begin: datetime, finish: datetime, hours: Mapping[datetime, Sums]) -> Point:
    inside = (begin + place * HOUR for place in range(int((finish - begin) / HOUR)))
    whole = sum((hours[at] for at in inside if at in hours), Sums())
    value, low, high = estimate(figure, whole)
    return Point(begin, finish, value, whole.n, low, high, "" if whole.n else "no data")


def _hour(
    draw: Draw, start: datetime, now: Conditions, drift: Floats
) -> Iterable[tuple[Key, Sums]]:
    load = season(start) * now.traffic
    n = int(draw.poisson(BUSIEST * load))
    if n:
        yield from _rankings(draw, n, start, now, drift)
        yield from _timings(draw, n, load, now)
        yield ("RDS(norm=random)", "", ""), _spreads(draw, n, now)
        depth = np.where(draw.random(n) < 0.8, 1.0, draw.uniform(0.4, 1.0, n))
        yield ("R@100", "", ""), _sums(depth)
    if draw.random() > _LOST:
        probed = 1100 if start.hour == 2 else 100  # the nightly run on frequent queries
        kept = draw.binomial(10, now.steady, probed)
        yield ("RCS@10", "", ""), _sums(kept / (20 - kept))


def season(start: datetime) -> float:
    """The usual load of an hour, 1 for the busiest of a working day."""
    day = 0.55 + 0.45 * np.sin((start.hour - 9) / 24 * 2 * np.pi)
    return float((0.6 if start.weekday() >= 5 else 1.0) * (0.1 + 0.9 * day))


def _rankings(
    draw: Draw, n: int, start: datetime, now: Conditions, drift: Floats
) -> Iterable[tuple[Key, Sums]]:
    factors = [(now.mix or {}).get(name, 1.0) for name in CATEGORIES]
    shares = np.array(list(CATEGORIES.values())) * factors
    counts = draw.multinomial(n, shares / shares.sum())
    added = [(now.mrr_of or {}).get(name, 0.0) for name in CATEGORIES]
    weekend = -0.015 if start.weekday() >= 5 else 0.0
    means = _USUAL + drift + weekend + now.mrr + np.array(added)
    whole = Sums()
    for name, count, mean in zip(CATEGORIES, counts, means, strict=True):
        later = float(_LATER @ _PLACES[1:])
        first = min(1.0, max(0.0, (mean - later) / (1 - later)))
        found = draw.multinomial(count, [first, *((1 - first) * _LATER)])
        part = Sums(int(count), float(found @ _PLACES), float(found @ _PLACES**2))
        whole += part
        if count:
            yield ("RR@5", "category", name), part
    yield ("RR@5", "", ""), whole


def _timings(draw: Draw, n: int, load: float, now: Conditions) -> Iterable[tuple[Key, Sums]]:
    median = 0.11 * now.latency * (1 + 0.5 * load)
    seconds = median * np.exp(draw.normal(0.0, 0.45, n))
    used = draw.poisson(2.3 * now.used, n).clip(0, 5).astype(np.float64)
    costs = (seconds.sum(), (seconds**2).sum(), (used * seconds).sum())
    yield ("QER@5", "", ""), Sums(*_moments(used), tuple(map(float, costs)))
    yield ("latency:p95", "", ""), Sums(n, 0.0, 0.0, (), (sketch_of(seconds),))


def _spreads(draw: Draw, n: int, now: Conditions) -> Sums:
    known = int(draw.binomial(n, 0.6))  # the others have fewer than two relevant chunks
    spread = draw.normal(0.34, 0.055, known)
    spread += np.where(draw.random(known) < now.torn, 0.19, 0.0)
    powers = (float((spread**3).sum()), float((spread**4).sum()), _RANDOM_DISTANCE * known)
    return Sums(*_moments(spread), powers)


def _sums(values: Floats) -> Sums:
    return Sums(*_moments(values))


def _moments(values: Floats) -> tuple[int, float, float]:
    return values.size, float(values.sum()), float((values * values).sum())
