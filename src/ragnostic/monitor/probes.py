"""Pairs of rerankings into RCS and RBO (METRICS 8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.metrics.consistency import rank_biased_overlap, rerank_consistency
from ragnostic.metrics.inputs import Floats
from ragnostic.monitor.live_metrics import RBO, RCS, RCS_DEPTH
from ragnostic.stats import mean_interval

PROBE_SCHEMA = pa.schema(
    [
        ("query_id", pa.string()),
        ("query", pa.string()),
        ("ts", pa.timestamp("us", tz="UTC")),
        ("day", pa.string()),
        ("perturbation", pa.string()),
        ("first", pa.list_(pa.string())),
        ("second", pa.list_(pa.string())),
        ("seed", pa.int64()),
        ("reranker", pa.string()),
    ]
)
"""A row a pair: two rerankings of the same candidates of one query, the second of them after
``perturbation``.
"""

_BY_CONSTRUCTION = f"every pair holds no more than {RCS_DEPTH} candidates in all, or none"


def probe_summary(probes: pa.Table) -> dict[str, Any]:
    """RCS and RBO over all pairs, and by perturbation; None with a reason where undefined.

    A mean is over queries: several pairs of one query are averaged first. ``n`` counts queries,
    ``unscored`` those without a value, as their lists are empty or so short that RCS would be 1
    by construction.

    >>> rows = {"query_id": ["q"], "perturbation": ["seed"], "reranker": ["bge"]}
    >>> table = pa.table({**rows, "first": [["a", "b"]], "second": [["b", "c"]]})
    >>> found = probe_summary(table)
    >>> found["pairs"], round(found["metrics"]["RCS@10"]["mean"], 4)
    (1, 0.3333)
    """
    queries = probes["query_id"].combine_chunks()
    pairs = list(zip(probes["first"].to_pylist(), probes["second"].to_pylist(), strict=True))
    pairs = [(first or [], second or []) for first, second in pairs]
    values = {
        RCS: rerank_consistency(pairs, k=RCS_DEPTH).value,
        RBO: rank_biased_overlap(pairs, k=RCS_DEPTH).value,
    }
    names = np.array(probes["perturbation"].to_pylist(), dtype=object)
    kinds = sorted({str(name) for name in names})
    rerankers = pc.unique(probes["reranker"]).drop_null()
    return {
        "pairs": len(pairs),
        "rerankers": sorted(rerankers.to_pylist()),
        "metrics": _metrics(queries, values),
        "perturbations": {
            kind: _metrics(
                queries.filter(pa.array(names == kind)),
                {name: column[names == kind] for name, column in values.items()},
            )
            for kind in kinds
        },
    }


def _metrics(queries: pa.Array, values: Mapping[str, Floats]) -> dict[str, Any]:
    return {name: _mean(queries, column) for name, column in values.items()}


def _mean(queries: pa.Array, values: Floats) -> dict[str, Any]:
    coded = queries.dictionary_encode()
    codes = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    known = ~np.isnan(values)
    size = len(coded.dictionary)
    counts = np.bincount(codes[known], minlength=size)
    sums = np.bincount(codes[known], weights=values[known], minlength=size)
    means = sums[counts > 0] / counts[counts > 0]
    low, high = mean_interval(means, (0.0, 1.0)) or (None, None)
    found: dict[str, Any] = {
        "mean": float(means.mean()) if means.size else None,
        "n": int(means.size),
        "missing": 0,
        "unscored": size - int(means.size),
        "failed": 0,
        "low": low,
        "high": high,
    }
    if not means.size:
        found["reason"] = _BY_CONSTRUCTION if len(values) else "no pair of rerankings was probed"
    return found
