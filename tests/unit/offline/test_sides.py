"""Sides of a comparison from runs and evaluations."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np

from ragnostic import evaluate
from ragnostic.offline.sides import columns_of, side_of_evaluation, side_of_run

MADE = runpy.run_path(str(Path(__file__).parent / "compared_run.py"))


def test_a_run_gives_all_stages_metrics_and_slices():
    """What stands beside the metrics too; or only what is named."""
    rankings, gold = MADE["planted"](4, [2])
    columns = {"category": {"q0000": "hr"}, "frequency": {"q0001": 9, "q0002": 1}}
    run = MADE["compared_run"]("r1", rankings, gold, stages=("retrieve", "rerank"), columns=columns)
    side = side_of_run(run)
    assert (side.name, side.stages) == ("r1", ("retrieve", "rerank"))
    assert {"RR@10", "R@10", "Judged@10"} <= set(side.metrics_of("retrieve"))
    np.testing.assert_allclose(side.values["rerank", "RR@10"], [1, 1, 1 / 6, 1])
    assert side.columns["category"].to_pylist() == ["hr", None, None, None]
    assert set(side.columns) == {"category", "length", "traffic"}
    assert side_of_run(run, ["RR@10"]).metrics_of("rerank") == ["RR@10"]


def test_labels_are_columns_too():
    """Where any query has one."""
    rankings, gold = MADE["planted"](2)
    labels = {"labels": {"q0001": [("team", "a")]}}
    side = side_of_run(MADE["compared_run"]("r", rankings, gold, columns=labels))
    assert side.columns["labels.team"].to_pylist() == [None, "a"]
    bare = MADE["compared_run"]("r", rankings, gold).records
    assert set(columns_of(bare)) == {"query_id", "length"}


def test_an_evaluation_is_a_side_of_one_stage():
    """Missing queries count, unscored ones have no value."""
    found = evaluate({"a": ["x"], "b": ["y"], "c": []}, {"a": ["x"], "c": ["z"]}, ["RR@5", "R@5"])
    side = side_of_evaluation("mine", found)
    assert side.stages == ("retrieve",)
    assert side.query_ids.to_pylist() == ["a", "b", "c"]
    assert side.statuses["retrieve"].to_pylist() == ["ok", "missing", "unscored"]
    np.testing.assert_allclose(side.values["retrieve", "R@5"], [1, 0, np.nan])
