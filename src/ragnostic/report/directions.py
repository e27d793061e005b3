"""Which way a metric points."""

from __future__ import annotations

from ragnostic.metrics.registry import lookup
from ragnostic.report.scorebook import MetricName


def lower_is_better(metric: str) -> bool:
    """Whether a smaller value of a metric is the better one; no for a name that is not known.

    >>> lower_is_better("RR@5"), lower_is_better("FalseRetrieval@5"), lower_is_better("mine")
    (False, True, False)
    """
    definition = lookup().get(MetricName.of(metric).family.lower())
    return definition is not None and not definition.higher_is_better
