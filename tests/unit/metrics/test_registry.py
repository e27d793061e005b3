"""The registry, the gain matrix and its common parameters."""

from __future__ import annotations

import numpy as np
import pytest

from ragnostic.metrics import Columns, Metric, definitions, per_query, reduce
from ragnostic.metrics.inputs import divide, gains
from ragnostic.metrics.registry import lookup, mean


def test_the_catalogue_holds_these_metrics_in_the_order_of_metrics_md():
    """Section 1.9 comes last."""
    names = [d.name for d in definitions()]
    assert names == [
        "F1", "P", "Rprec", "RR", "Success", "R", "RecallCurve", "TokenPrecision", "AP",
        "coverage", "nDCG", "AUROC", "FalseRetrieval", "bpref", "Judged",
    ]  # fmt: skip


def test_every_definition_says_what_it_is():
    """Formula, purpose and section; and no name is taken twice."""
    words = [w.lower() for d in definitions() for w in (d.name, *d.aliases)]
    assert len(words) == len(set(words)) == len(lookup())
    assert all(d.formula and d.purpose and d.section and d.compute.__doc__ for d in definitions())


def test_a_mean_leaves_out_what_has_no_value():
    """And is None where nothing has one."""
    assert mean(Columns(np.array([1.0, 0.5, np.nan]))) == 0.75
    assert reduce(Metric.parse("RR@5"), Columns(np.array([np.nan]))) is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [("RR@2", 0.0), ("RR(judged_only=True)@2", 1.0), ("RR(unjudged=relevant)@2", 1.0)],
)
def test_common_parameters_are_applied_before_the_metric(name, expected):
    """Two unjudged chunks above the relevant one."""
    assert per_query(Metric.parse(name), gains([[-1, -1, 1]])).value.tolist() == [expected]


def test_division_by_nothing_is_no_value():
    """Without a warning."""
    assert str(divide(np.array([1.0, 0.0]), np.array([2.0, 0.0])).tolist()) == "[0.5, nan]"


def test_a_gain_matrix_of_fractions_is_kept():
    """0.5 is not 0."""
    assert gains([[0.5]]).matrix.tolist() == [[0.5]]
    assert len(gains([[1], []])) == 2
