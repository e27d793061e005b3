"""A long score table taken apart into blocks."""

from __future__ import annotations

import pyarrow as pa

from ragnostic.stats.score_blocks import blocks_of


def test_queries_in_one_order_are_never_looked_up():
    """Row i belongs to query i in every block, also in one that ends earlier."""
    ids = ["a", "b", "c", "a", "b", "c", "a", "b"]
    metrics = ["AP"] * 3 + ["P@5"] * 3 + ["R@5"] * 2
    rows = {"query_id": ids, "metric": metrics, "stage": ["retrieve"] * 8, "status": ["ok"] * 8}
    known, blocks = blocks_of(pa.table(rows | {"value": [1.0] * 8}), ["retrieve"], None)
    assert known.to_pylist() == ["a", "b", "c"]
    assert [block.places for block in blocks] == [None, None, None]


def test_rows_that_stand_apart_are_gathered():
    """Metrics that alternate, as a table sorted by query has them, and rows without a stage."""
    rows = {
        "query_id": ["a", "a", "b", "b", "c"],
        "metric": ["AP", "P@5", "AP", "P@5", "AP"],
        "stage": ["retrieve", "retrieve", "retrieve", "retrieve", None],
        "value": [0.1, 0.2, 0.3, 0.4, 0.5],
        "status": ["ok"] * 5,
    }
    known, blocks = blocks_of(pa.table(rows), ["retrieve"], ["P@5", "AP"])
    assert known.to_pylist() == ["a", "b"]
    assert [(b.metric, b.values.tolist()) for b in blocks] == [
        ("P@5", [0.2, 0.4]),
        ("AP", [0.1, 0.3]),
    ]


def test_a_metric_of_one_stage_gives_the_other_no_block():
    """Each stage has its own metrics."""
    rows = {"query_id": ["a", "a"], "stage": ["retrieve", "rerank"], "metric": ["AP", "P@5"]}
    table = pa.table(rows | {"value": [0.1, 0.2], "status": ["ok", "ok"]})
    _, blocks = blocks_of(table, ["retrieve", "rerank"], None)
    assert [(b.stage, b.metric) for b in blocks] == [("retrieve", "AP"), ("rerank", "P@5")]
