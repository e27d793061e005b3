"""A metric's mean on one side with an interval that a bound can be judged by (METRICS 11)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc

from ragnostic.metrics import Metric
from ragnostic.metrics.inputs import Floats
from ragnostic.metrics.unanswerable import Bools, placements_of
from ragnostic.stats.auroc import delong_interval
from ragnostic.stats.intervals import mean_interval, wilson_interval
from ragnostic.stats.sides import Side

__all__ = ["Estimate", "estimate", "wilson_interval"]

_SHARES = frozenset({"Success", "FalseRetrieval"})
"""Metrics whose values are 0 or 1, so that their mean is a share of the queries."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over ``n`` queries. ``low``, ``high`` are None where ``n`` is too small to tell."""

    value: float | None
    n: int
    low: float | None
    high: float | None


def mean_estimate(side: Side, stage: str, metric: str, *, rows: Bools | None = None) -> Estimate:
    """Mean of a metric with the 95 % interval of the main table (:mod:`ragnostic.stats.summary`).

    Student's, cut at the metric's range; DeLong's for AUROC. No variance gives the point as its
    interval. The arguments are those of :func:`estimate`.

    >>> import pyarrow as pa
    >>> ids, values = pa.array(["a", "b"]), {("retrieve", "Success@5"): np.array([1.0, 1.0])}
    >>> side = Side("base", ids, ("retrieve",), values, {"retrieve": pa.array(["ok", "ok"])})
    >>> mean_estimate(side, "retrieve", "Success@5")
    Estimate(value=1.0, n=2, low=1.0, high=1.0)
    """
    parsed, known = Metric.parse(metric), _known(side, stage, metric, rows)
    values = side.values[stage, metric]
    if not known.any():
        return Estimate(None, 0, None, None)
    if parsed.name == "AUROC":
        unanswerable = _unanswerable(side, stage)
        defined = placements_of(values, unanswerable)[known]
        interval = delong_interval(defined, unanswerable[known])
    else:
        defined = values[known]
        interval = mean_interval(defined, parsed.definition.range)
    low, high = interval or (None, None)
    return Estimate(float(defined.mean()), defined.size, low, high)


def estimate(
    side: Side, stage: str, metric: str, *, level: float = 0.95, rows: Bools | None = None
) -> Estimate:
    """Mean of a metric over the queries of a side, or over those of ``rows`` (n,), for a bound.

    The interval is Student's, cut at the metric's range; Wilson's for a share of queries, and
    where all values lie at one end of [0, 1]: three perfect queries are no proof of a perfect
    mean; DeLong's for AUROC. Raises KeyError for a stage and metric that the side does not have.

    >>> import pyarrow as pa
    >>> ids, values = pa.array(["a", "b"]), {("retrieve", "Success@5"): np.array([1.0, 1.0])}
    >>> side = Side("base", ids, ("retrieve",), values, {"retrieve": pa.array(["ok", "ok"])})
    >>> found = estimate(side, "retrieve", "Success@5")
    >>> found.value, found.n, round(found.low, 3), found.high
    (1.0, 2, 0.342, 1.0)
    """
    values = side.values[stage, metric]
    parsed, known = Metric.parse(metric), _known(side, stage, metric, rows)
    defined = values[known]
    if not defined.size:
        return Estimate(None, 0, None, None)
    if parsed.name == "AUROC":
        unanswerable = _unanswerable(side, stage)
        return _auroc(placements_of(values, unanswerable)[known], unanswerable[known], level)
    middle = float(defined.mean())
    interval = mean_interval(defined, parsed.definition.range, level)
    share = parsed.name in _SHARES and bool(np.isin(defined, (0.0, 1.0)).all())
    if share or _at_an_end(defined, parsed.definition.range):
        interval = wilson_interval(middle, defined.size, level=level)
    low, high = interval or (None, None)
    return Estimate(middle, defined.size, low, high)


def _known(side: Side, stage: str, metric: str, rows: Bools | None) -> Bools:
    known: Bools = ~np.isnan(side.values[stage, metric])
    return known if rows is None else known & rows


def _unanswerable(side: Side, stage: str) -> Bools:
    status = pc.equal(side.statuses[stage], "unanswerable")
    return np.asarray(status.to_numpy(zero_copy_only=False), dtype=np.bool_)


def _at_an_end(values: Floats, bounds: tuple[float, float] | None) -> bool:
    """Whether all values are the lowest, or all the highest, that a share-like metric can have."""
    return bounds == (0.0, 1.0) and bool((values == 0.0).all() or (values == 1.0).all())


def _auroc(placements: Floats, unanswerable: Bools, level: float) -> Estimate:
    middle, n = float(placements.mean()), placements.size
    if placements.min() == placements.max():
        # Kinds that are wholly apart: no more is known than from as many trials as the rarer kind.
        trials = min(int(unanswerable.sum()), int((~unanswerable).sum()))
        interval = wilson_interval(middle, trials, level=level) if trials else None
    else:
        interval = delong_interval(placements, unanswerable, level=level)
    low, high = interval or (None, None)
    return Estimate(middle, n, low, high)
