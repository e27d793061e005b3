"""Query efficiency: useful chunks per retrieval-second (METRICS 6)."""

from __future__ import annotations

import math

import numpy as np

from ragnostic.metrics.inputs import Columns, Floats, divide
from ragnostic.metrics.registry import signal


@signal(
    "QER",
    section="6",
    formula="Σ used ÷ Σ (seconds · fanout)",
    purpose="useful chunks per second of retrieval: quality and speed in one",
    needs="durations of the stages; context_ids, else the relevant chunks count as used",
    write="QER@5",
    range=(0.0, math.inf),
)
def query_efficiency(used: Floats, seconds: Floats, fanout: Floats) -> Columns:
    """QER of each query: used ÷ (seconds · fanout), in useful chunks per retrieval-second.

    All arrays (n,): relevant chunks of the top k that the generator was given; duration of the
    retrieval in seconds, NaN where unknown; parallel requests the query cost, NaN for 1. A negative
    or unknown duration has no value. Range [0, ∞). Reduce with :func:`ratio_of_sums`.

    >>> found = query_efficiency(
    ...     np.array([3.0, 0.0]), np.array([0.2, 0.8]), np.array([1.0, np.nan])
    ... )
    >>> found.value.round(6).tolist(), ratio_of_sums(found)
    ([15.0, 0.0], 3.0)
    """
    cost = np.where(seconds >= 0, seconds, np.nan) * np.where(np.isnan(fanout), 1.0, fanout)
    known = ~np.isnan(cost) & ~np.isnan(used)
    parts = {"used": np.where(known, used, np.nan), "cost": np.where(known, cost, np.nan)}
    return Columns(divide(parts["used"], parts["cost"]), parts)


def ratio_of_sums(columns: Columns) -> float | None:
    """Sum of ``used`` ÷ sum of ``cost``: never a mean of ratios. None without any cost."""
    cost = float(np.nansum(columns.parts["cost"]))
    return float(np.nansum(columns.parts["used"])) / cost if cost > 0 else None
