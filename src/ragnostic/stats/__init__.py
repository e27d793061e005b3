"""Statistics: summaries with n and interval, percentiles. No I/O, no scipy."""

from ragnostic.stats.intervals import (
    difference_interval,
    mean_interval,
    nearest_rank,
    t_quantile,
)
from ragnostic.stats.stage import curve_summary, stage_summary, tail_summary
from ragnostic.stats.summary import Summary, summarise, values_of

__all__ = [
    "Summary",
    "curve_summary",
    "difference_interval",
    "mean_interval",
    "nearest_rank",
    "stage_summary",
    "summarise",
    "t_quantile",
    "tail_summary",
    "values_of",
]
