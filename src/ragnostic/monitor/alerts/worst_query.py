"""The worst example of a window: the one query that shows best what an alert is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.monitor.cells import numbers
from ragnostic.monitor.live_metrics import (
    OVERLAP,
    OVERLAP_RBO,
    RBO,
    RCS,
    RCS_DEPTH,
    RDS,
    RDS_NORM,
)
from ragnostic.monitor.probes import of_rerankers, of_retrieval, retrieval_values
from ragnostic.ports import RecordStore
from ragnostic.report.visible import excerpt

_LONGEST = 300
"""Characters of a query in a message."""
_SPREAD = "spread"
_SECONDS = "latency_s"


def worst_query(
    store: RecordStore,
    metric: str,
    start: datetime,
    end: datetime,
    *,
    stage: str = "",
    judge: str = "",
    labels: Mapping[str, str] | None = None,
) -> str:
    """The text of the worst query in [start, end); empty where none can be named.

    For a metric of rankings and for QER the one with the lowest value, for latencies the slowest,
    for RDS the one whose relevant chunks scatter most, for RCS and RBO the one whose reranking
    changed most, and likewise for retrieval against the day before. Of several that are equally
    bad the first one.
    """
    if metric in {RCS, RBO, OVERLAP, OVERLAP_RBO}:
        return _worst_pair(store.read("probes", start=start, end=end), metric)
    rows = store.read("scores", start=start, end=end)
    if not rows.num_rows:
        return ""
    for column, value in (("stage", stage), ("judge", judge), *(labels or {}).items()):
        if value and column in rows.column_names:
            rows = rows.filter(pc.equal(rows[column].cast(pa.string()), value))
    badness = _badness(rows, metric)
    if badness is None or np.isnan(badness).all():
        return ""
    place = int(np.nanargmax(badness))
    return _text(store, start, end, rows["record_id"][place].as_py())


def _badness(rows: pa.Table, metric: str) -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
    """How bad each row is, more being worse; NaN where undefined, None where nothing says so."""
    if not rows.num_rows:
        return None
    family = metric.partition(":")[0]
    if family == "latency":
        return numbers(rows, _SECONDS)
    if metric in {RDS, RDS_NORM}:
        return numbers(rows, _SPREAD)
    if family in {"empty", "failed"}:
        bad = {"empty": ("results", 0), "failed": ("status", "failed")}[family]
        hit = pc.fill_null(pc.equal(rows[bad[0]], bad[1]), fill_value=False).to_numpy()
        return np.where(hit, 1.0, np.nan)
    if family == "coverage":
        hit = pc.fill_null(pc.equal(rows["any_relevant"], pa.scalar(value=False)), fill_value=False)
        return np.where(hit.to_numpy(), 1.0, np.nan)
    return -numbers(rows, metric) if metric in rows.column_names else None


def _worst_pair(probes: pa.Table, metric: str) -> str:
    """The query whose two rankings have least in common."""
    if metric in {OVERLAP, OVERLAP_RBO}:
        rows = of_retrieval(probes)
        shared = retrieval_values(rows)[metric]
        if np.isnan(shared).all():
            return ""
    else:
        rows = of_rerankers(probes)
        both = zip(rows["first"].to_pylist(), rows["second"].to_pylist(), strict=True)
        shared = np.array([_common(first, second) for first, second in both], dtype=np.float64)
        if not rows.num_rows:
            return ""
    worst = rows.slice(int(np.nanargmin(shared)), 1).to_pylist()[0]
    return excerpt(worst.get("query") or worst["query_id"] or "", _LONGEST)


def _common(first: Sequence[str] | None, second: Sequence[str] | None) -> int:
    return len({*(first or ())[:RCS_DEPTH]} & {*(second or ())[:RCS_DEPTH]})


def _text(store: RecordStore, start: datetime, end: datetime, record_id: str) -> str:
    found = store.read("records", start=start, end=end, columns=["record_id", "query"])
    found = found.filter(pc.equal(found["record_id"], record_id))
    text = found["query"][0].as_py() if found.num_rows else None
    return excerpt(text or "", _LONGEST)
