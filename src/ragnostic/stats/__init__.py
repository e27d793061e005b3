"""Statistics: summaries with n and interval, paired comparisons. No I/O, no scipy."""

from ragnostic.stats.comparison import (
    Comparison,
    Finding,
    MetricComparison,
    QueryChange,
    changes,
    compare_sides,
)
from ragnostic.stats.intervals import (
    difference_interval,
    mean_interval,
    nearest_rank,
    t_quantile,
)
from ragnostic.stats.paired import (
    Difference,
    difference_interval_at,
    holm,
    paired_differences,
)
from ragnostic.stats.sides import Side, average_sides, side_from_scores, side_from_values
from ragnostic.stats.slice_comparison import SliceComparison
from ragnostic.stats.stage import curve_summary, stage_summary, tail_summary
from ragnostic.stats.summary import Summary, summarise, values_of

__all__ = [
    "Comparison",
    "Difference",
    "Finding",
    "MetricComparison",
    "QueryChange",
    "Side",
    "SliceComparison",
    "Summary",
    "average_sides",
    "changes",
    "compare_sides",
    "curve_summary",
    "difference_interval",
    "difference_interval_at",
    "holm",
    "mean_interval",
    "nearest_rank",
    "paired_differences",
    "side_from_scores",
    "side_from_values",
    "stage_summary",
    "summarise",
    "t_quantile",
    "tail_summary",
    "values_of",
]
