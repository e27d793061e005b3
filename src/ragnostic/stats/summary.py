"""A metric over queries: its mean, always with n, what is missing, and an interval."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.metrics import Columns, Metric, reduce
from ragnostic.scoring.plan import wants
from ragnostic.stats.auroc import contributed_interval
from ragnostic.stats.intervals import mean_interval

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Summary:
    """``mean`` over ``n`` queries, the ``missing`` ones (scored 0) included (METRICS 1.2).

    ``unscored`` have no value by definition (nothing relevant is judged, or the stage was not
    asked deep enough), ``failed`` were not retrieved; both are left out of the mean. ``low``,
    ``high``: 95 % interval, None for n < 2. ``reason`` says why ``mean`` is None.
    """

    mean: float | None
    n: int
    missing: int = 0
    unscored: int = 0
    failed: int = 0
    low: float | None = None
    high: float | None = None
    reason: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The JSON object of INTERFACES; ``reason`` only where there is one.

        >>> Summary(0.5, 2).as_json()["mean"]
        0.5
        """
        names = ("mean", "n", "missing", "unscored", "failed", "low", "high")
        found = {name: getattr(self, name) for name in names}
        return found | ({"reason": self.reason} if self.reason else {})


def summarise(table: pa.Table, metrics: Iterable[Metric]) -> dict[str, Summary]:
    """Summary of each metric's column of a scored table.

    >>> table = pa.table({"query_id": ["a", "b"], "status": ["ok", "missing"], "RR@5": [1.0, 0.0]})
    >>> summarise(table, [Metric.parse("RR@5")])["RR@5"].mean
    0.5
    """
    status = {name: _rows(table, name) for name in _STATUSES}
    return {str(metric): _summary(table, status, metric) for metric in metrics}


_STATUSES = ("ok", "missing", "unscored", "failed", "unanswerable")


def _rows(table: pa.Table, status: str) -> Bools:
    return np.asarray(pc.equal(table["status"], status).to_numpy(), dtype=np.bool_)


def _summary(table: pa.Table, status: Mapping[str, Bools], metric: Metric) -> Summary:
    values = values_of(table, metric)
    known = ~np.isnan(values)
    counted, failed = _counted(table, status, metric, known)
    defined = values[known]
    if metric.definition.finish is not None:
        interval = contributed_interval(defined, status["unanswerable"][known])
    else:
        interval = mean_interval(defined, metric.definition.range)
    low, high = interval or (None, None)
    return Summary(
        mean=reduce(metric, Columns(defined)),
        n=int(known.sum()),
        missing=int((status["missing"] & known).sum()),
        unscored=int((counted & ~known).sum()),
        failed=int(failed.sum()),
        low=low,
        high=high,
        reason=None if defined.size else _reason(table, status, metric),
    )


def _counted(
    table: pa.Table, status: Mapping[str, Bools], metric: Metric, known: Bools
) -> tuple[Bools, Bools]:
    """The rows that should have a value, and those that have none as their retrieval failed."""
    answerable = status["ok"] | status["missing"] | status["unscored"]
    queries = metric.definition.on
    if queries == "answerable":
        return answerable, status["failed"]
    # An empty result has a value here, so without results and value the retrieval failed.
    failed = status["unanswerable"] & ~known & (_numbers(table, "results") == 0)
    unanswerable = status["unanswerable"] & ~failed
    if queries == "unanswerable":
        return unanswerable, failed
    return answerable | unanswerable, status["failed"] | failed


def _reason(table: pa.Table, status: Mapping[str, Bools], metric: Metric) -> str:
    if not table.num_rows:
        return "there are no queries"
    deepest = pc.max(table["top_k"]).as_py() if "top_k" in table.column_names else None
    if metric.cutoff and deepest is not None and deepest < metric.cutoff:
        return f"the stage was asked for top_k {int(deepest)}, which is less than {metric.cutoff}"
    if metric.definition.on != "answerable":
        return _reason_of_unanswerable(table, status, metric)
    if wants((metric,), "tokens") and status["ok"].any():
        return "the data holds no token counts"
    if "facets" in metric.definition.needs and status["ok"].any():
        return "no judgment names a facet"
    return "no query has a relevant judgment"


def _reason_of_unanswerable(table: pa.Table, status: Mapping[str, Bools], metric: Metric) -> str:
    if not status["unanswerable"].any():
        return "no query is marked unanswerable"
    if metric.definition.on == "both" and status["unanswerable"].all():
        return "every query is marked unanswerable"
    if (_numbers(table, "results")[status["unanswerable"]] > 0).any():
        return "the scores only encode a rank"
    return "no unanswerable query was retrieved for"


def _numbers(table: pa.Table, name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    if name not in table.column_names:
        return np.full(table.num_rows, np.nan)
    return np.asarray(table[name].cast(pa.float64()).to_numpy(), dtype=np.float64)


def values_of(table: pa.Table, metric: Metric) -> np.ndarray[Any, np.dtype[np.float64]]:
    """A metric's column as float64 with NaN for null; (n,)."""
    column = table[str(metric)].cast(pa.float64()).fill_null(float("nan"))
    return np.asarray(column.to_numpy(), dtype=np.float64)
