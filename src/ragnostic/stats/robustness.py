"""Robustness: what another wording, or another length, of a query changes (METRICS 10)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.metrics import Metric
from ragnostic.metrics.inputs import Floats
from ragnostic.scoring import Scored
from ragnostic.stats.intervals import mean_interval, wilson_interval
from ragnostic.stats.slices import LENGTHS, bucket
from ragnostic.stats.summary import values_of

_TOLERANCE = 1e-9
_NAMED = 50
"""Groups that a summary names; its counts and means are over all."""


@dataclass(frozen=True, slots=True)
class ParaphraseGroup:
    """One need in ``n`` >= 2 wordings that have a value. ``sd`` is the population's.

    ``worst`` is the row of the lowest value (the first of equals), ``low`` that value.
    """

    group: str
    n: int
    mean: float
    spread: float
    sd: float
    worst: int
    low: float


def paraphrase_groups(groups: pa.Array, values: Floats) -> list[ParaphraseGroup]:
    """Every group with at least two members that have a value, the widest spread first.

    ``groups``: (n,) strings, null for a query of no group. ``values``: (n,), NaN where undefined;
    higher is better. Source: METRICS 10.

    >>> [found] = paraphrase_groups(pa.array(["a", "a", "b", None]), np.array([1.0, 0.5, 1.0, 0.0]))
    >>> found.group, found.mean, found.spread, found.sd, found.worst
    ('a', 0.75, 0.5, 0.25, 1)
    """
    found = []
    for name, rows in _members(groups, values):
        members = values[rows]
        found.append(
            ParaphraseGroup(
                group=name,
                n=rows.size,
                mean=float(members.mean()),
                spread=float(members.max() - members.min()),
                sd=float(members.std()),
                worst=int(rows[members.argmin()]),
                low=float(members.min()),
            )
        )
    return sorted(found, key=lambda one: (-one.spread, one.group))


def flips(groups: pa.Array, success: Floats) -> Floats:
    """For each group with at least two members: 1 where Success differs between them, else 0.

    The mean is ``Flip@k``. ``success``: (n,) of 0, 1 and NaN. Source: METRICS 10.

    >>> flips(pa.array(["a", "a", "b", "b", "c"]), np.array([1.0, 0.0, 1.0, 1.0, 0.0])).tolist()
    [1.0, 0.0]
    """
    members = (success[rows] for _, rows in _members(groups, success))
    return np.array([float(one.min() + _TOLERANCE < one.max()) for one in members])


def _members(
    groups: pa.Array, values: Floats, least: int = 2
) -> list[tuple[str, np.ndarray[Any, np.dtype[np.int64]]]]:
    """Name and rows of each group with ``least`` members that have a value, by first appearance."""
    coded = groups.dictionary_encode()
    codes = pc.fill_null(coded.indices.cast(pa.int64()), -1).to_numpy(zero_copy_only=False)
    rows = np.flatnonzero((codes >= 0) & ~np.isnan(values))
    rows = rows[np.argsort(codes[rows], kind="stable")]
    cuts = np.flatnonzero(np.diff(codes[rows])) + 1
    names = coded.dictionary.to_pylist()
    parts = np.split(rows, cuts) if rows.size else []
    return [(str(names[codes[part[0]]]), part) for part in parts if part.size >= least]


def spearman(first: Floats, second: Floats) -> float | None:
    """Spearman's rank correlation, ties at their mean rank; None where a side is constant.

    >>> spearman(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 3.0, 2.0, 4.0]))
    0.8
    """
    if first.size < 2:
        return None
    x, y = _ranks(first), _ranks(second)
    x, y = x - x.mean(), y - y.mean()
    scale = math.sqrt(float((x * x).sum()) * float((y * y).sum()))
    return max(-1.0, min(1.0, float((x * y).sum()) / scale)) if scale > 0 else None


def spearman_interval(rho: float, n: int, level: float = 0.95) -> tuple[float, float] | None:
    """Interval by Fisher's z with Bonett and Wright's standard error; None for n < 4.

    A correlation of exactly 1 or -1 gives the point. Source: Bonett & Wright 2000.

    >>> [round(end, 3) for end in spearman_interval(0.5, 30)]
    [0.148, 0.74]
    """
    if n < 4:
        return None
    if abs(rho) >= 1:
        return rho, rho
    error = math.sqrt((1 + rho * rho / 2) / (n - 3))
    half = NormalDist().inv_cdf((1 + level) / 2) * error
    middle = math.atanh(rho)
    return math.tanh(middle - half), math.tanh(middle + half)


def _ranks(values: Floats) -> Floats:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[place], dtype=np.float64)


def main_metric(metrics: Sequence[Metric]) -> Metric | None:
    """The metric that wordings and lengths are compared by: the first that is no 0 or 1.

    Success says little of one query, and has ``Flip@k``; it is taken where there is no other.

    >>> str(main_metric([Metric.parse("Success@1"), Metric.parse("RR@5")]))
    'RR@5'
    """
    graded = [metric for metric in metrics if metric.graded]
    return next((m for m in graded if m.name != "Success"), graded[0] if graded else None)


def paraphrase_summary(scored: Scored, groups: pa.Array) -> dict[str, Any] | None:
    """What run.json says of a stage's paraphrase groups; None where no query has a group.

    ``groups`` counts those with two members or more that have a value, ``alone`` the others.
    """
    metric = main_metric(scored.plan.metrics)
    if metric is None or groups.null_count == len(groups):
        return None
    values = values_of(scored.table, metric)
    found = paraphrase_groups(groups, values)
    names = scored.table["query_id"]
    total = pc.count_distinct(groups).as_py()
    return {
        "metric": str(metric),
        "groups": len(found),
        "alone": total - len(found),
        "mean": _mean([one.mean for one in found]),
        "worst": _mean([one.low for one in found]),
        "spread": _mean([one.spread for one in found]),
        "sd": _mean([one.sd for one in found]),
        "flips": {
            f"Flip@{success.cutoff}": _flip_row(flips(groups, values_of(scored.table, success)))
            for success in scored.plan.metrics
            if success.name == "Success" and not success.params
        },
        "widest": [
            {
                "group": one.group,
                "n": one.n,
                "mean": one.mean,
                "spread": one.spread,
                "sd": one.sd,
                "worst": names[one.worst].as_py(),
                "low": one.low,
            }
            for one in found[:_NAMED]
            if one.spread > _TOLERANCE
        ],
    }


def _flip_row(flipped: Floats) -> dict[str, Any]:
    if not flipped.size:
        return {"share": None, "groups": 0, "low": None, "high": None}
    share = float(flipped.mean())
    low, high = wilson_interval(share, flipped.size)
    return {"share": share, "groups": flipped.size, "low": low, "high": high}


def length_summary(scored: Scored, lengths: Floats) -> dict[str, Any] | None:
    """What run.json says of a stage's sensitivity to query length; None without query texts.

    ``lengths`` (n,): tokens of each query, NaN where unknown. ``buckets``: mean, n and interval
    of the main metric; ``rho``: Spearman's correlation with the length, with its interval.
    """
    metric = main_metric(scored.plan.metrics)
    if metric is None or np.isnan(lengths).all():
        return None
    values = values_of(scored.table, metric)
    known = ~np.isnan(values) & ~np.isnan(lengths)
    values, lengths = values[known], lengths[known]
    rho = spearman(lengths, values)
    interval = None if rho is None else spearman_interval(rho, values.size)
    names = np.array([bucket(length) for length in lengths.tolist()], dtype=object)
    low, high = interval or (None, None)
    return {
        "metric": str(metric),
        "n": int(values.size),
        "rho": rho,
        "low": low,
        "high": high,
        "buckets": [_bucket_row(name, values[names == name], metric) for name in LENGTHS],
    }


def _bucket_row(name: str, values: Floats, metric: Metric) -> dict[str, Any]:
    low, high = mean_interval(values, metric.definition.range) or (None, None)
    mean = float(values.mean()) if values.size else None
    return {"bucket": name, "n": int(values.size), "mean": mean, "low": low, "high": high}


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None
