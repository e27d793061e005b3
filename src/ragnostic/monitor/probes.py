"""Pairs of rerankings into RCS and RBO (METRICS 8), and apart from them pairs of retrievals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.metrics.consistency import rank_biased_overlap, rerank_consistency
from ragnostic.metrics.inputs import Floats
from ragnostic.metrics.retrieval_change import retrieval_overlap, retrieval_rank_overlap
from ragnostic.monitor.live_metrics import OVERLAP, OVERLAP_RBO, RBO, RCS, RCS_DEPTH
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
``perturbation``. Where that is :data:`RETRIEVAL` it is no pair of rerankings: ``first`` is what
retrieval found the day before (null: it was not asked then), ``second`` what it found now, and
``reranker`` names the retriever.
"""
RETRIEVAL = "retrieval"

_BY_CONSTRUCTION = f"every pair holds no more than {RCS_DEPTH} candidates in all, or none"
_NO_PAIR = "no pair of rerankings was probed"
_NOT_BEFORE = "no query was asked by an earlier run, or nothing was found by both"


def of_rerankers(probes: pa.Table) -> pa.Table:
    """The rows that are pairs of rerankings.

    >>> of_rerankers(pa.table({"perturbation": ["seed", "retrieval", None]})).num_rows
    2
    """
    return probes.filter(pc.invert(_is_retrieval(probes)))


def of_retrieval(probes: pa.Table) -> pa.Table:
    """The rows that are rankings of retrieval at two times.

    >>> of_retrieval(pa.table({"perturbation": ["seed", "retrieval", None]})).num_rows
    1
    """
    return probes.filter(_is_retrieval(probes))


def _is_retrieval(probes: pa.Table) -> pa.ChunkedArray:
    return pc.equal(probes["perturbation"], RETRIEVAL).fill_null(fill_value=False)


def probe_summary(probes: pa.Table) -> dict[str, Any]:
    """RCS and RBO over all pairs of rerankings, and by perturbation; None with a reason where
    undefined. ``retrieval`` is :func:`retrieval_summary` of the other rows, None without any.

    A mean is over queries: several pairs of one query are averaged first. ``n`` counts queries,
    ``unscored`` those without a value, as their lists are empty or so short that RCS would be 1
    by construction.

    >>> rows = {"query_id": ["q"], "perturbation": ["seed"], "reranker": ["bge"]}
    >>> table = pa.table({**rows, "first": [["a", "b"]], "second": [["b", "c"]]})
    >>> found = probe_summary(table)
    >>> found["pairs"], round(found["metrics"]["RCS@10"]["mean"], 4)
    (1, 0.3333)
    """
    retrieval = of_retrieval(probes)
    probes = of_rerankers(probes)
    queries = probes["query_id"].combine_chunks()
    values = consistency_values(probes)
    names = np.array(probes["perturbation"].to_pylist(), dtype=object)
    kinds = sorted({str(name) for name in names})
    rerankers = pc.unique(probes["reranker"]).drop_null()
    return {
        "pairs": probes.num_rows,
        "rerankers": sorted(rerankers.to_pylist()),
        "metrics": _metrics(queries, values),
        "perturbations": {
            kind: _metrics(
                queries.filter(pa.array(names == kind)),
                {name: column[names == kind] for name, column in values.items()},
            )
            for kind in kinds
        },
        "retrieval": retrieval_summary(retrieval) if retrieval.num_rows else None,
    }


def retrieval_summary(rows: pa.Table) -> dict[str, Any]:
    """How far retrieval gives what it gave the day before; ``rows`` as :func:`of_retrieval`.

    ``compared``: rows with a ranking of before; ``new``: those without. Means are over queries.

    >>> columns = {
    ...     "query_id": ["q", "r"],
    ...     "perturbation": [RETRIEVAL] * 2,
    ...     "reranker": ["bm25"] * 2,
    ... }
    >>> lists = {"first": [["a", "b"], None], "second": [["b", "a"], ["c"]]}
    >>> found = retrieval_summary(pa.table({**columns, **lists}))
    >>> found["compared"], found["new"], found["metrics"]["RetrievalOverlap@10"]["mean"]
    (1, 1, 1.0)
    """
    queries = rows["query_id"].combine_chunks()
    values = retrieval_values(rows)
    new = rows["first"].null_count
    return {
        "compared": rows.num_rows - new,
        "new": new,
        "retrievers": sorted(pc.unique(rows["reranker"]).drop_null().to_pylist()),
        "metrics": {
            name: _mean(queries, column, empty=_NOT_BEFORE) for name, column in values.items()
        },
    }


def retrieval_values(rows: pa.Table) -> Mapping[str, Floats]:
    """Overlap and RBO of each row of :func:`of_retrieval`, NaN where undefined."""
    now = [second or [] for second in rows["second"].to_pylist()]
    pairs = list(zip(rows["first"].to_pylist(), now, strict=True))
    return {
        OVERLAP: retrieval_overlap(pairs, k=RCS_DEPTH).value,
        OVERLAP_RBO: retrieval_rank_overlap(pairs, k=RCS_DEPTH).value,
    }


def consistency_values(rows: pa.Table) -> Mapping[str, Floats]:
    """RCS and RBO of each row of :func:`of_rerankers`, NaN where undefined."""
    both = zip(rows["first"].to_pylist(), rows["second"].to_pylist(), strict=True)
    pairs = [(first or [], second or []) for first, second in both]
    return {
        RCS: rerank_consistency(pairs, k=RCS_DEPTH).value,
        RBO: rank_biased_overlap(pairs, k=RCS_DEPTH).value,
    }


def _metrics(queries: pa.Array, values: Mapping[str, Floats]) -> dict[str, Any]:
    empty = _BY_CONSTRUCTION if len(queries) else _NO_PAIR
    return {name: _mean(queries, column, empty=empty) for name, column in values.items()}


def _mean(queries: pa.Array, values: Floats, *, empty: str) -> dict[str, Any]:
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
        found["reason"] = empty
    return found
