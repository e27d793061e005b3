"""One cell of an aggregate: everything that is said of one stage, judge and slice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.metrics import Columns, Metric
from ragnostic.metrics.efficiency import query_efficiency, ratio_of_sums
from ragnostic.metrics.inputs import Floats
from ragnostic.metrics.spread import skew
from ragnostic.monitor.curves import curve_summary
from ragnostic.monitor.durations import MISSING, NEGATIVE, REQUEST
from ragnostic.monitor.estimators import deviation_interval, ratio_interval
from ragnostic.monitor.live_metrics import CURVE, QER, RDS, RDS_NORM, USED, Selection
from ragnostic.monitor.measurable import Depth, with_measurable
from ragnostic.scoring import Plan, Scored
from ragnostic.stats import difference_interval, nearest_rank, summarise, values_of
from ragnostic.stats.estimates import wilson_interval
from ragnostic.stats.robustness import length_summary
from ragnostic.stats.summary import Summary

PERCENTILES = (50, 95, 99)
_SCORED = ("ok", "missing", "unscored")

Json = dict[str, Any]


def stage_cell(rows: pa.Table, selection: Selection) -> Json:
    """Everything said of these rows, which are of one stage and judge; None where undefined.

    The keys are described in docs/aggregate.md.
    """
    status = {str(row["values"]): row["counts"].as_py() for row in pc.value_counts(rows["status"])}
    top_k, results = numbers(rows, "top_k"), numbers(rows, "results")
    signals = {name: found for name, found in _signals(rows).items() if name in selection.signals}
    known = tuple(m for m in selection.metrics if str(m) in rows.column_names)
    depth = Depth.of(top_k, results)
    rows = with_measurable(rows, known, depth)
    means = _means(rows, known, depth)
    lengths = length_summary(Scored(Plan(known), rows, [], {}), numbers(rows, "tokens"))
    return {
        "rows": rows.num_rows,
        "statuses": dict(sorted(status.items())),
        "metrics": {
            **{str(m): means.get(str(m), _not_scored()) for m in selection.metrics},
            **signals,
        },
        "curve": curve_summary(rows, top_k, results) if CURVE in rows.column_names else None,
        "latency_ms": _latency(numbers(rows, "latency_s")),
        "coverage": _coverage(rows),
        "context_logged": _share(rows["context_logged"]),
        "tail_decay": _tail_decay(rows, known),
        "length": lengths,
        "faults": _faults(rows),
    }


def _means(rows: pa.Table, metrics: tuple[Metric, ...], depth: Depth) -> Mapping[str, Json]:
    refused = np.asarray(pc.equal(rows["status"], "refused").to_numpy(), dtype=np.bool_)
    found: dict[str, Json] = {}
    for metric, summary in zip(metrics, summarise(rows, metrics).values(), strict=True):
        unknowable = depth.unknowable(metric)
        shallow = ~depth.unlogged & (depth.asked < (metric.cutoff or 0))
        asked = int((refused & ~unknowable & ~shallow).sum())
        said = _explained(summary, depth.logged) if unknowable.any() else summary
        if shallow.all() and said.reason:
            said = replace(said, reason=f"{said.reason}; {_nearer(metric, depth)}")
        found[str(metric)] = {**said.as_json(), "mean_with_refusals": _with_zeros(said, asked)}
    return found


def _not_scored() -> Json:
    reason = "it was not among the metrics when these records were scored"
    return {**Summary(None, 0, reason=reason).as_json(), "mean_with_refusals": None}


def _nearer(metric: Metric, depth: Depth) -> str:
    """What to do where nothing was retrieved as deep as a metric looks."""
    asked = max(1, int(depth.asked.max(initial=0)))
    name = str(metric).replace(f"@{metric.cutoff}", f"@{asked}")
    return f"name {name} in [score] metrics, then ragnostic work --rejudge"


def _explained(summary: Summary, logged: int) -> Summary:
    if summary.n:
        return summary
    reason = f"not measurable: top_k is not logged, and no ranking is deeper than {logged}"
    return replace(summary, reason=reason)


def _with_zeros(summary: Summary, zeros: int) -> float | None:
    count = summary.n + zeros
    return (summary.mean or 0.0) * summary.n / count if count else None


def _signals(rows: pa.Table) -> Mapping[str, Json]:
    scored = np.asarray(pc.is_in(rows["status"], pa.array(_SCORED)).to_numpy(), dtype=np.bool_)
    failed = int(pc.sum(pc.equal(rows["status"], "failed")).as_py() or 0)
    spread = numbers(rows, "spread")
    return {
        QER: _qer(rows, scored, failed),
        RDS: _rds(spread, None, scored, failed),
        RDS_NORM: _rds(spread, numbers(rows, "random_distance"), scored, failed),
    }


def _qer(rows: pa.Table, scored: Any, failed: int) -> Json:
    used, seconds = numbers(rows, USED), numbers(rows, "latency_s")
    columns = query_efficiency(used, seconds, numbers(rows, "fanout"))
    known = ~np.isnan(columns.parts["used"])
    parts = {name: part[known] for name, part in columns.parts.items()}
    missing = np.asarray(pc.equal(rows["status"], "missing").to_numpy(), dtype=np.bool_)
    low, high = ratio_interval(parts["used"], parts["cost"]) or (None, None)
    found: Json = {
        "value": ratio_of_sums(columns),
        "n": int(known.sum()),
        "missing": int((missing & known).sum()),
        "unscored": int((scored & ~known).sum()),
        "failed": failed,
        "low": low,
        "high": high,
        "latency_ms": _latency(seconds[known]),
        "context_logged": _share(rows["context_logged"].filter(pa.array(known))),
        "whole_request": int(pc.sum(pc.equal(rows["latency_from"], REQUEST)).as_py() or 0),
    }
    if found["value"] is None:
        found["reason"] = _no_qer(used, seconds)
    return found


def _no_qer(used: Floats, seconds: Floats) -> str:
    if np.isnan(used).all():
        return "no query has a relevant judgment"
    return "no duration was logged" if np.isnan(seconds).all() else "no scored query took time"


def _rds(spread: Floats, random: Floats | None, scored: Any, failed: int) -> Json:
    known = ~np.isnan(spread) if random is None else ~np.isnan(spread) & ~np.isnan(random)
    values = spread[known]
    scale = 1.0 if random is None or not values.size else float(random[known].mean())
    value = skew(Columns(values)) if scale > 0 else None
    interval = deviation_interval(values) if value is not None else None
    low, high = (None, None) if interval is None else (end / scale for end in interval)
    found: Json = {
        "value": None if value is None else value / scale,
        "n": int(known.sum()),
        "missing": 0,
        "unscored": int((scored & ~known).sum()),
        "failed": failed,
        "low": low,
        "high": high,
        "mean_spread": float(values.mean()) / scale if value is not None else None,
    }
    if value is None:
        found["reason"] = "no query has two relevant chunks with vectors in the corpus snapshot"
    return found


def _latency(seconds: Floats) -> Json | None:
    known = np.sort(seconds[~np.isnan(seconds)]) * 1000
    if not known.size:
        return None
    return {**{f"p{p}": nearest_rank(known, p) for p in PERCENTILES}, "n": known.size}


def _coverage(rows: pa.Table) -> Json:
    """Share of the queries for which the judge found any relevant chunk (METRICS 12)."""
    looked = rows["any_relevant"].drop_null()
    n = len(looked)
    share = _share(looked)
    low, high = (None, None) if share is None else wilson_interval(share, n)
    return {"share": share, "n": n, "low": low, "high": high}


def _tail_decay(rows: pa.Table, metrics: tuple[Metric, ...]) -> Json | None:
    """Recall on head queries minus that on tail queries, at the deepest cutoff with values."""
    deep = sorted((m for m in metrics if m.name == "R" and not m.params and m.cutoff), key=_cutoff)
    known = [m for m in deep if rows[str(m)].null_count < len(rows)]
    if not known:
        return None
    values = values_of(rows, known[-1])
    sides = []
    for side in ("head", "tail"):
        chosen = pc.fill_null(pc.equal(rows["traffic"], side), fill_value=False).to_numpy()
        sides.append(values[np.asarray(chosen, dtype=np.bool_) & ~np.isnan(values)])
    head, tail = sides
    low, high = difference_interval(head, tail) or (None, None)
    found: Json = {
        "metric": str(known[-1]),
        "value": float(head.mean() - tail.mean()) if head.size and tail.size else None,
        "low": low,
        "high": high,
        "head": head.size,
        "tail": tail.size,
    }
    if found["value"] is None:
        names = pc.unique(rows["traffic"]).to_pylist()
        lacking = "tail" if head.size else "head"
        found["reason"] = (
            f"no {lacking} query has a value"
            if lacking in names
            else "all queries are asked equally often, so that none is tail"
        )
    return found


def _cutoff(metric: Metric) -> int:
    return metric.cutoff or 0


def _faults(rows: pa.Table) -> dict[str, int]:
    """How many rows, ids or chunks each fault concerns; all kinds, 0 where there is none."""
    origin = rows["latency_from"]
    return {
        "negative_duration": int(pc.sum(pc.equal(origin, NEGATIVE)).as_py() or 0),
        "missing_duration": int(pc.sum(pc.equal(origin, MISSING)).as_py() or 0),
        "zero_vector": int(pc.sum(rows["zero_vector"]).as_py() or 0),
        "duplicate_retrieved": int(pc.sum(rows["duplicates"]).as_py() or 0),
        "unknown_retrieved": _unknown(rows),
        "unresolved_context": int(pc.sum(rows["context_unresolved"]).as_py() or 0),
    }


def _unknown(rows: pa.Table) -> int:
    if "unknown" not in rows.column_names:  # scored by an older version
        return 0
    return int(pc.sum(rows["unknown"]).as_py() or 0)


def _share(column: pa.ChunkedArray) -> float | None:
    return float(pc.mean(column).as_py()) if len(column) > column.null_count else None


def numbers(rows: pa.Table, name: str) -> Floats:
    """A column as float64, NaN for null."""
    column = rows[name].cast(pa.float64()).fill_null(float("nan"))
    return np.asarray(column.to_numpy(), dtype=np.float64)
