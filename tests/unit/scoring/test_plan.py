"""What a plan computes beside what was asked."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ragnostic.metrics import Metric
from ragnostic.scoring import ChunkTokens, Plan
from ragnostic.scoring.lookup import IdIndex
from ragnostic.scoring.plan import view_of, wants


def metrics(*names):
    """Parsed names."""
    return tuple(Metric.parse(name) for name in names)


def test_judged_stands_beside_every_cutoff_of_a_graded_metric():
    """Once each, and not twice where it was asked for."""
    plan = Plan(metrics("nDCG@10", "RR@5", "P@5", "AP", "Judged@5"))
    assert [str(m) for m in plan.companions] == ["Judged@10"]
    assert [str(m) for m in plan.columns][-1] == "Judged@10"


def test_the_curve_is_the_last_column():
    """Unless no depth is given, or it is among the metrics."""
    assert Plan(metrics("RR")).curve is None
    assert str(Plan(metrics("RR"), curve_depth=7).columns[-1]) == "RecallCurve@7"
    named = Plan(metrics("RecallCurve@7"), curve_depth=7)
    assert [str(m) for m in named.columns].count("RecallCurve@7") == 1


def test_metrics_name_the_judgments_they_read():
    """Overall, a facet, or all facets."""
    found = [view_of(m) for m in metrics("nDCG@5", "nDCG(facet=basis)@5", "coverage@5", "Judged@5")]
    assert found == ["", "basis", "*", ""]


def test_optional_columns_are_built_only_where_read():
    """Tokens for budgets, weights for soft relevance."""
    assert wants(metrics("RR", "R(budget=9)"), "tokens")
    assert wants(metrics("TokenPrecision"), "tokens")
    assert not wants(metrics("R@5"), "tokens")
    assert wants(metrics("RR(weight=soft)"), "weights")
    assert not wants(metrics("RR", "TokenPrecision"), "weights")


def test_tokens_of_unknown_chunks_are_nan():
    """Not nought, which would fit into any budget."""
    tokens = ChunkTokens(IdIndex.of(pa.array(["a", "b"])), np.array([1.0, 2.0]))
    found = tokens.of(pa.array(["b", "x", None, "a"]))
    assert str(found.tolist()) == "[2.0, nan, nan, 1.0]"
