"""Metrics: arrays → columns a query → value. Numpy only, no I/O (METRICS, end of section 1)."""

from ragnostic.metrics.compute import per_query, reduce
from ragnostic.metrics.inputs import UNJUDGED, Columns, Gains
from ragnostic.metrics.naming import Metric, parse_list
from ragnostic.metrics.recall import depth_slope, half_life, plateau, tail_decay
from ragnostic.metrics.registry import definitions, signals

__all__ = [
    "UNJUDGED",
    "Columns",
    "Gains",
    "Metric",
    "definitions",
    "depth_slope",
    "half_life",
    "parse_list",
    "per_query",
    "plateau",
    "reduce",
    "signals",
    "tail_decay",
]
