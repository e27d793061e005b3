"""Under which name and labels a figure of the roll-ups is exported, for all who ask for it."""

from __future__ import annotations

from typing import NamedTuple

from ragnostic.monitor.live_metrics import OVERLAP, OVERLAP_RBO, QER, RBO, RCS, RDS, RDS_NORM
from ragnostic.monitor.rollups.rows import COVERAGE, DEPTH, EMPTY, FAILED, LATENCY

RELEVANCE = "ragnostic_relevance_ratio"
RELEVANCE_ROWS = "ragnostic_relevance_queries"
SIGNAL_ROWS = "ragnostic_signal_rows"
EFFICIENCY = "ragnostic_query_efficiency_chunks_per_second"
SKEW = "ragnostic_relevance_skew_ratio"
CONSISTENCY = "ragnostic_rerank_consistency_ratio"
RETRIEVAL = "ragnostic_retrieval_overlap_ratio"
LATENCIES = "ragnostic_retrieval_latency_seconds"
STAGE_PLACE = "ragnostic_stage_place"
WINDOW_END = "ragnostic_window_end_timestamp_seconds"

PERCENTILES = tuple(f"{LATENCY}:p{percent}" for percent in (50, 90, 95, 99))
"""Of the durations of a window; others are not exported."""
_BY_METRIC = {
    RDS: SKEW,
    RDS_NORM: SKEW,
    RCS: CONSISTENCY,
    RBO: CONSISTENCY,
    OVERLAP: RETRIEVAL,
    OVERLAP_RBO: RETRIEVAL,
    **dict.fromkeys(PERCENTILES, LATENCIES),
}
_ALONE = {
    QER: EFFICIENCY,
    **{name: f"ragnostic_{name}_ratio" for name in (COVERAGE, EMPTY, FAILED)},
}


class Exported(NamedTuple):
    """``labelled``: whether the figure stands in the label ``metric``. ``rows``: the family that
    says how many rows it is over, and ``rows_metric`` what stands there in ``metric``.
    """

    family: str
    labelled: bool
    rows: str
    rows_metric: str


def exported_as(figure: str) -> Exported | None:
    """Where a figure stands; None for one that is not exported.

    >>> exported_as("RR@5").family, exported_as("latency:p95").rows_metric
    ('ragnostic_relevance_ratio', 'latency')
    >>> exported_as("latency:p97") is None
    True
    """
    if figure in _ALONE:
        return Exported(_ALONE[figure], labelled=False, rows=SIGNAL_ROWS, rows_metric=figure)
    if figure in _BY_METRIC:
        kept = figure.partition(":")[0]
        return Exported(_BY_METRIC[figure], labelled=True, rows=SIGNAL_ROWS, rows_metric=kept)
    if figure == DEPTH or figure.partition(":")[0] == LATENCY:
        return None
    return Exported(RELEVANCE, labelled=True, rows=RELEVANCE_ROWS, rows_metric=figure)
