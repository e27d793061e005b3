"""Means that a bound can be judged by."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from ragnostic.metrics import Metric
from ragnostic.metrics.unanswerable import contributions, placements
from ragnostic.stats.auroc import delong_interval
from ragnostic.stats.estimates import estimate, mean_estimate, wilson_interval
from ragnostic.stats.intervals import mean_interval
from ragnostic.stats.sides import Side
from ragnostic.stats.summary import summarise


def side(metric, values, statuses=None):
    """One stage, one metric."""
    ids = pa.array([f"q{at}" for at in range(len(values))])
    status = pa.array(statuses or ["ok"] * len(values))
    column = np.asarray(values, dtype=np.float64)
    return Side("run", ids, ("retrieve",), {("retrieve", metric): column}, {"retrieve": status})


def test_a_mean_has_students_interval_cut_at_its_range():
    """NaN rows are left out; the level is what is asked for."""
    found = estimate(side("RR@5", [1.0, 0.5, np.nan, 0.25]), "retrieve", "RR@5", level=0.9)
    wanted = mean_interval(np.array([1.0, 0.5, 0.25]), (0.0, 1.0), 0.9)
    assert (found.value, found.n, (found.low, found.high)) == (pytest.approx(1.75 / 3), 3, wanted)


def test_a_share_has_wilsons_interval():
    """Also where all agree; averaged repeats of 0 and 1 are no shares any more."""
    found = estimate(side("Success@5", [1.0] * 10), "retrieve", "Success@5")
    assert (found.low, found.high) == wilson_interval(1.0, 10)
    assert found.low < 0.75
    averaged = estimate(side("Success@5", [1.0, 0.5, 0.0]), "retrieve", "Success@5")
    assert averaged.high == 1.0
    assert averaged.low == 0.0


def test_values_at_one_end_of_the_range_are_not_certain():
    """Whatever the metric; anywhere else no variance is a point."""
    found = estimate(side("RR@5", [0.0] * 4), "retrieve", "RR@5")
    assert (found.low, found.high) == wilson_interval(0.0, 4)
    mixed = estimate(side("RR@5", [0.0, 1.0, 1.0]), "retrieve", "RR@5")
    assert (mixed.low, mixed.high) == mean_interval(np.array([0.0, 1.0, 1.0]), (0.0, 1.0))
    same = estimate(side("RR@5", [0.5] * 4), "retrieve", "RR@5")
    assert (same.low, same.high) == (0.5, 0.5)


@pytest.mark.parametrize(
    "values", [[1.0, 1.0, np.nan], [0.0, 0.5, 1.0], [0.5], [np.nan, np.nan], [1.0, 0.0, 1.0, 1.0]]
)
@pytest.mark.parametrize("metric", ["Success@5", "RR@5"])
def test_a_mean_for_a_table_has_the_interval_of_the_main_table(metric, values):
    """Whatever the values; a gate is more careful."""
    found = mean_estimate(side(metric, values), "retrieve", metric)
    table = pa.table({"query_id": list(map(str, values)), "status": ["ok"] * len(values)})
    column = pa.array(values, mask=np.isnan(values))
    whole = summarise(table.append_column(metric, column), [Metric.parse(metric)])[metric]
    assert (found.value, found.n, found.low, found.high) == (
        whole.mean,
        whole.n,
        whole.low,
        whole.high,
    )


def test_an_auroc_for_a_table_has_delongs_interval():
    """Of kinds that are wholly apart the point, as there."""
    found = mean_estimate(side("AUROC", contributions(BEST, MARKS), STATUSES), "retrieve", "AUROC")
    low, high = delong_interval(placements(BEST, MARKS), MARKS)
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))
    assert found.value == pytest.approx(10 / 12)


def test_rows_restrict_the_estimate():
    """And none of them gives no value."""
    given = side("RR@5", [1.0, 0.5, 0.0])
    found = estimate(given, "retrieve", "RR@5", rows=np.array([True, True, False]))
    assert (found.value, found.n) == (0.75, 2)
    nothing = estimate(given, "retrieve", "RR@5", rows=np.zeros(3, dtype=bool))
    assert (nothing.value, nothing.n, nothing.low) == (None, 0, None)


BEST = np.array([0.9, 0.8, 0.7, 0.4, 0.75, 0.3, 0.2])
MARKS = np.array([False] * 4 + [True] * 3)
STATUSES = ["ok"] * 4 + ["unanswerable"] * 3


def test_auroc_has_delongs_interval():
    """From the contributions that its column holds."""
    found = estimate(
        side("AUROC", contributions(BEST, MARKS), STATUSES), "retrieve", "AUROC", level=0.9
    )
    assert found.value == pytest.approx(10 / 12)
    low, high = delong_interval(placements(BEST, MARKS), MARKS, level=0.9)
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))
    assert found.n == 7


def test_kinds_that_are_wholly_apart_are_not_certain():
    """The interval is that of as many trials as the rarer kind has."""
    best = np.array([0.9, 0.8, 0.7, 0.1, 0.2])
    marks = np.array([False] * 3 + [True] * 2)
    values = contributions(best, marks)
    found = estimate(side("AUROC", values, ["ok"] * 3 + ["unanswerable"] * 2), "retrieve", "AUROC")
    assert found.value == 1.0
    assert (found.low, found.high) == wilson_interval(1.0, 2)
    alone = estimate(side("AUROC", [1.0, 1.0]), "retrieve", "AUROC")
    assert (alone.value, alone.low) == (1.0, None)


def test_a_slice_of_one_kind_is_its_share_of_right_pairs():
    """Against all queries of the other kind, so that it stays in [0, 1]."""
    given = side("AUROC", contributions(BEST, MARKS), STATUSES)
    rows = np.array([True, True, False, False, False, False, False])
    found = estimate(given, "retrieve", "AUROC", rows=rows)
    assert found.value == pytest.approx(1.0)


def test_what_the_side_does_not_have_is_a_key_error():
    """Callers check first, with names."""
    with pytest.raises(KeyError):
        estimate(side("RR@5", [1.0]), "rerank", "RR@5")
