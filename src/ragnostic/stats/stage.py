"""One stage's summary as JSON: the object that ``score --json`` and ``run.json`` hold."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from ragnostic.errors import Fault
from ragnostic.metrics import Columns, depth_slope, half_life, plateau, reduce, tail_decay
from ragnostic.metrics.inputs import Floats
from ragnostic.scoring import Scored
from ragnostic.stats.intervals import difference_interval, nearest_rank
from ragnostic.stats.summary import summarise, values_of


def stage_summary(
    scored: Scored,
    *,
    ties: int = 0,
    faults: Iterable[Fault] = (),
    took_ms: np.ndarray[Any, np.dtype[np.float64]] | None = None,
) -> dict[str, Any]:
    """Summary of a scored stage (INTERFACES, ``--json``), full precision, None where undefined.

    ``faults``: those of the readers, put before the ranking's own. ``took_ms`` (n,): durations of
    the stage, NaN where unknown.
    """
    plan = scored.plan
    found: dict[str, Any] = {
        "metrics": {
            name: summary.as_json()
            for name, summary in summarise(scored.table, plan.metrics).items()
        }
    }
    for name, summary in summarise(scored.table, plan.companions).items():
        found[name] = summary.mean
    found["ties"] = ties
    found["duplicates"] = scored.counts["duplicates"]
    found["unjudged_queries"] = scored.counts.get("unjudged", 0)
    found["warnings"] = [str(fault) for fault in (*faults, *scored.faults)]
    if plan.curve is not None:
        found["curve"] = curve_summary(scored)
    if took_ms is not None:
        known = took_ms[~np.isnan(took_ms)]
        parts = {f"p{percent}": nearest_rank(known, percent) for percent in (50, 95, 99)}
        found["latency_ms"] = parts if known.size else None
    return found


def curve_summary(scored: Scored) -> dict[str, Any] | None:
    """Recall curve with half-life and plateau; None where no query is scored (METRICS 3).

    ``carried_share``: the share of queries whose ranking ended before the last drawn depth and
    contributes its last value there.
    """
    if scored.plan.curve is None or not scored.table.num_rows:
        return None
    table, metric = scored.table, scored.plan.curve
    values = np.array(
        [
            row if row is not None else [None] * scored.plan.curve_depth
            for row in table[str(metric)].to_pylist()
        ],
        dtype=np.float64,
    )
    asked, results = _numbers(table["top_k"]), _numbers(table["results"])
    asked = np.where(np.isnan(asked), results.max(initial=0), asked)
    curve = reduce(metric, Columns(values, {"asked": asked}))
    if curve is None or not len(curve):
        return None
    scored_rows = ~np.isnan(values).any(axis=1)
    return {
        "depth": list(range(1, len(curve) + 1)),
        "recall": curve.tolist(),
        "half_life": half_life(curve),
        "plateau": plateau(curve),
        "slope": depth_slope(curve),
        "carried_share": float((results[scored_rows] < len(curve)).mean()),
    }


def tail_summary(scored: Scored, frequency: Floats) -> dict[str, Any] | None:
    """Tail decay of the deepest R@k that was computed; None without it or without frequencies.

    ``frequency`` (n,): how often each row's query is asked, NaN where unknown. ``value`` is the
    mean on head queries minus that on tail queries, with its 95 % interval (METRICS 3).
    """
    depths = [m for m in scored.plan.metrics if m.name == "R" and m.cutoff and not m.params]
    if not depths or np.isnan(frequency).all():
        return None
    metric = max(depths, key=lambda found: found.cutoff or 0)
    decay = tail_decay(values_of(scored.table, metric), frequency)
    low, high = difference_interval(decay.head, decay.tail) or (None, None)
    return {
        "metric": str(metric),
        "value": decay.value,
        "low": low,
        "high": high,
        "head": decay.head.size,
        "tail": decay.tail.size,
    }


def _numbers(column: pa.ChunkedArray) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.asarray(column.cast(pa.float64()).fill_null(float("nan")).to_numpy())
