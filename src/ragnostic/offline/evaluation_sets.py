"""Several evaluation sets in one run: the means of each, and the gap between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa

from ragnostic.metrics import Metric
from ragnostic.metrics.inputs import Floats
from ragnostic.offline.asked_queries import fingerprint_queries
from ragnostic.records import EvalQuery
from ragnostic.stats.estimates import mean_estimate
from ragnostic.stats.intervals import difference_interval
from ragnostic.stats.sides import Side, side_from_scores


def sets_meta(
    queries: Sequence[EvalQuery],
    sets: Mapping[str, str],
    scores: pa.Table,
    stages: Sequence[str],
    metrics: Sequence[Metric],
) -> dict[str, Any]:
    """``sets`` and ``set_gaps`` of run.json; both None where there is only one set.

    ``sets``: query id → evaluation set. ``scores``: the long table of the run. Means have the
    intervals of the main table. A gap is the mean of the first set minus
    that of another, at the final stage, with the Welch interval: the sets hold different queries,
    so nothing is paired. A metric that compares queries with each other (AUROC) has no gap.
    """
    if not sets:
        return {"sets": None, "set_gaps": None}
    names = list(dict.fromkeys(sets.values()))
    side = side_from_scores("run", scores, stages=stages)
    of = np.array([names.index(sets[query_id]) for query_id in side.query_ids.to_pylist()])
    return {
        "sets": {
            name: {
                **_sizes([one for one in queries if sets[one.query_id] == name]),
                "stages": {
                    stage: {
                        str(metric): _mean(side, stage, metric, of == index) for metric in metrics
                    }
                    for stage in stages
                },
            }
            for index, name in enumerate(names)
        },
        "set_gaps": [
            {
                "set": names[0],
                "against": other,
                "metric": str(metric),
                "stage": side.final_stage,
                **_gap(side.values[side.final_stage, str(metric)], of, index),
            }
            for index, other in enumerate(names[1:], 1)
            for metric in metrics
            if metric.definition.on != "both"
        ],
    }


def _sizes(members: Sequence[EvalQuery]) -> dict[str, Any]:
    return {
        "queries": len(members),
        "answerable": sum(one.answerable for one in members),
        "sha256": fingerprint_queries(members),
    }


def _mean(
    side: Side, stage: str, metric: Metric, rows: np.ndarray[Any, np.dtype[np.bool_]]
) -> dict[str, Any]:
    found = asdict(mean_estimate(side, stage, str(metric), rows=rows))
    return {"mean": found.pop("value"), **found}


def _gap(
    values: Floats, of: np.ndarray[Any, np.dtype[np.int64]], other: int
) -> dict[str, float | None]:
    """First set minus the other one, of the queries that have a value."""
    known = ~np.isnan(values)
    before, after = values[known & (of == 0)], values[known & (of == other)]
    low, high = difference_interval(before, after) or (None, None)
    both = before.size and after.size
    return {
        "difference": float(before.mean() - after.mean()) if both else None,
        "low": low,
        "high": high,
    }
