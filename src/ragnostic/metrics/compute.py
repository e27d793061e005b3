"""One metric on one gain matrix: the common parameters applied, then the function called."""

from __future__ import annotations

from typing import Any

from ragnostic.metrics.inputs import Columns, Gains, Results
from ragnostic.metrics.naming import Metric
from ragnostic.metrics.unjudged import assume_relevant, condense


def per_query(metric: Metric, gains: Gains | Results) -> Columns:
    """The metric's columns for every query of ``gains``: of Results for a metric of METRICS 9.

    >>> from ragnostic.metrics.inputs import gains
    >>> per_query(Metric.parse("RR(judged_only=True)@5"), gains([[-1, 1]])).value.tolist()
    [1.0]
    """
    definition = metric.definition
    arguments: dict[str, Any] = {key: metric.param(key) for key in definition.params}
    judged_only = arguments.pop("judged_only", False)
    optimistic = arguments.pop("unjudged", "irrelevant") == "relevant"
    arguments.pop("facet", None)
    if isinstance(gains, Gains):
        gains = condense(gains) if judged_only else gains
        gains = assume_relevant(gains, metric.cutoff) if optimistic else gains
    if definition.cutoff != "none":
        arguments["k"] = metric.cutoff
    return definition.compute(gains, **arguments)


def reduce(metric: Metric, columns: Columns) -> Any:
    """The metric's one value over all queries (a curve for the recall curve), None if undefined.

    >>> import numpy as np
    >>> reduce(Metric.parse("RR@5"), Columns(np.array([1.0, 0.5, np.nan])))
    0.75
    """
    return metric.definition.reduce(columns)
