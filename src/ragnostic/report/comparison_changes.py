"""The queries that differ: what became of each, which are listed, and how they are spread."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ragnostic.report.axis import round_up
from ragnostic.report.comparison_page import Filter, Histogram, Kind
from ragnostic.report.scorebook import MetricName

if TYPE_CHECKING:
    from ragnostic.stats.comparison import QueryChange

SHOWN = 200
"""Queries of the list: with both rankings of each it stays below 5 MB."""

_SAME = 1e-9
_HALF_BARS = 8
# Families whose value is above 0 exactly where something relevant is within the cutoff.
_FINDING = ("Success", "P", "F1", "RR", "R", "AP", "nDCG")


def kinds_of(change: QueryChange, metric: str, *, turned: bool) -> tuple[Kind, ...]:
    """Worse or better; lost or found where the value says that the top k lost all or won some."""
    better = (change.after > change.before) != turned
    kind: Kind = "better" if better else "worse"
    if not _tells_finding(metric):
        return (kind,)
    if change.after <= _SAME < change.before:
        return (kind, "lost")
    if change.before <= _SAME < change.after:
        return (kind, "found")
    return (kind,)


def _tells_finding(metric: str) -> bool:
    return MetricName.of(metric).family in _FINDING


def by_size(changes: Sequence[QueryChange]) -> list[QueryChange]:
    """The largest changes first, whichever way they go; ties by query id."""
    return sorted(
        changes,
        key=lambda change: (-round(abs(change.after - change.before), 9), change.query_id),
    )


def choose(ordered: Sequence[QueryChange], *, turned: bool = False) -> list[QueryChange]:
    """The queries to list: the largest losses, then the largest gains, half of each where both
    abound. ``ordered`` has the largest changes first.
    """
    losses = [change for change in ordered if (change.after < change.before) != turned]
    gains = [change for change in ordered if (change.after < change.before) == turned]
    shown = losses[: max(SHOWN // 2, SHOWN - len(gains))]
    return [*shown, *gains[: SHOWN - len(shown)]]


def filters(
    changes: Sequence[QueryChange],
    chosen: Sequence[QueryChange],
    kinds: Mapping[str, tuple[Kind, ...]],
    metric: str,
) -> tuple[Filter, ...]:
    """Counts a filter; lost and found only where the metric can tell them."""
    names: tuple[Kind, ...] = ("worse", "better", "lost", "found")
    told = names if _tells_finding(metric) else names[:2]
    everything = Filter("all", len(changes), len(chosen))
    return (
        everything,
        *(
            Filter(
                kind,
                sum(kind in entry for entry in kinds.values()),
                sum(kind in kinds[change.query_id] for change in chosen),
            )
            for kind in told
        ),
    )


def histogram(
    changes: Sequence[QueryChange], metric: str, equal: int, *, turned: bool
) -> Histogram | None:
    """Counts of the changed queries in at most eight buckets on each side of 0."""
    differences = [change.after - change.before for change in changes]
    if not differences:
        return None
    width = round_up(max(map(abs, differences)) / _HALF_BARS)
    counts: dict[int, int] = {}
    for value in differences:
        at = max(math.ceil(abs(value) / width - _SAME), 1)
        signed = at if value > 0 else -at
        counts[signed] = counts.get(signed, 0) + 1
    bars = tuple((*_edges(at, width), counts[at]) for at in sorted(counts))
    return Histogram(metric, bars, equal, turned)


def _edges(at: int, width: float) -> tuple[float, float]:
    """From and to of bucket 1, 2, … right of 0, or -1, -2, … left of it."""
    inner, outer = (at - 1, at) if at > 0 else (at + 1, at)
    low, high = sorted((round(inner * width, 12), round(outer * width, 12)))
    return low, high
