"""Budgets into which nothing fits."""

from __future__ import annotations

import pyarrow as pa

from ragnostic.metrics import parse_list
from ragnostic.offline.budget_faults import budget_faults
from ragnostic.records import EvalQuery, Hits

_CHUNKS = pa.table({"id": ["long", "short", "unknown"], "tokens": [3000, 10, None]})


def test_a_first_chunk_larger_than_the_budget_is_told():
    """Per stage and budget; a default budget is one too."""
    queries = [EvalQuery(name, "x") for name in ("q1", "q2", "q3", "q4")]
    rankings = [Hits(("long",)), Hits(("short", "long")), Hits(("unknown",)), None]
    metrics = parse_list("R(budget=5),TokenPrecision,R@5")
    found = list(budget_faults(metrics, {"retrieve": rankings}, _CHUNKS, queries))
    assert [(fault.kind, fault.ids) for fault in found] == [
        ("over_budget", ("q1", "q2")),
        ("over_budget", ("q1",)),
    ]
    assert "for 1 of 4 queries the first chunk alone has more than 2000 tokens" in found[1].message
    assert not list(budget_faults(parse_list("R@5"), {"retrieve": rankings}, _CHUNKS, queries))
