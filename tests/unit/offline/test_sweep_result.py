"""The table of a sweep: order, family of tests, Pareto front, budget."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.metrics import Metric
from ragnostic.offline.run_source import memory_source
from ragnostic.offline.sweep_result import _compared, _front, _Measured, _unspent
from ragnostic.records import CHUNK_SCHEMA, record_schema
from ragnostic.report.run import RunData
from ragnostic.report.sweep_view import SweepMean, SweepRow
from ragnostic.stats.sides import side_from_values


def _measured(name: str, values: list[float], metric: str = "RR@5") -> _Measured:
    mean = sum(values) / len(values) if values else None
    row = SweepRow(name, name, {metric: SweepMean(mean, len(values))}, p50_ms=1.0)
    by_query = {f"q{n}": value for n, value in enumerate(values)}
    return _Measured(row, side_from_values(name, {metric: by_query}))


def test_p_is_corrected_over_the_combinations_and_the_rows_are_best_first():
    """Two clear gains and one tie: each of the three tests is one of three."""
    base = _measured("base", [0.0] * 12)
    runs = [base, _measured("up", [1.0] * 12), _measured("same", [0.0] * 12)]
    runs.append(_measured("half", [1.0] * 9 + [0.0] * 3))
    rows = {row.name: row for row in _compared(runs, base, "RR@5")}
    assert list(rows) == ["up", "half", "base", "same"]
    assert rows["up"].finding == rows["half"].finding == "better"
    assert rows["same"].finding == "same"
    assert rows["base"].difference is rows["base"].finding is None
    assert rows["up"].difference.p_holm == pytest.approx(3 * rows["up"].difference.p)
    assert rows["half"].difference.p_holm == pytest.approx(2 * rows["half"].difference.p)
    assert rows["up"].best
    assert rows["up"].against_best is None
    assert rows["half"].against_best == "cannot_tell"
    assert rows["base"].against_best == "worse"


def test_where_lower_is_better_the_lowest_is_best():
    """And what is lower is better than the baseline."""
    metric = "FalseRetrieval@5"
    base = _measured("base", [1.0] * 12, metric)
    rows = _compared([base, _measured("low", [0.0] * 12, metric)], base, metric)
    assert [row.name for row in rows] == ["low", "base"]
    assert rows[0].finding == "better"
    assert rows[0].pareto
    assert not rows[1].pareto


def test_a_combination_without_a_mean_stands_last_and_is_never_best():
    """Nor is anything told apart from it."""
    none, some = _measured("none", []), _measured("some", [0.5, 0.5])
    rows = _compared([none, some], some, "RR@5")
    assert [row.name for row in rows] == ["some", "none"]
    assert [row.best for row in rows] == [True, False]
    assert rows[1].finding is None
    assert not any(row.best for row in _compared([none], none, "RR@5"))


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=12))
def test_the_front_is_what_no_other_beats(points):
    """Against the definition, written out."""
    rows = [
        SweepRow(str(n), "", {"AP": SweepMean(float(good), 1)}, p50_ms=float(slow))
        for n, (good, slow) in enumerate(points)
    ]
    beaten = {
        str(n)
        for n, (good, slow) in enumerate(points)
        if any(g >= good and s <= slow and (g, s) != (good, slow) for g, s in points)
    }
    assert _front(rows, "AP", upward=True) == {row.name for row in rows} - beaten


def test_a_run_without_times_is_on_no_front():
    """Nothing is known of its speed."""
    row = SweepRow("a", "", {"AP": SweepMean(0.5, 1)})
    assert _front([row], "AP", upward=True) == set()


def test_a_ranking_cut_by_top_k_leaves_the_budget_unspent():
    """A list that ended by itself, a failed one, and one that fills the budget do not."""
    rows = [
        {"query_id": "cut", "retrieve": {"ids": ["a", "b"], "top_k": 2}},
        {"query_id": "ended", "retrieve": {"ids": ["a"], "top_k": 2}},
        {"query_id": "full", "retrieve": {"ids": ["a", "big"], "top_k": 2}},
        {"query_id": "none", "retrieve": None},
    ]
    records = pa.Table.from_pylist(rows, schema=record_schema(["retrieve"]))
    tokens = [{"id": id_, "tokens": size} for id_, size in (("a", 10), ("b", 10), ("big", 1990))]
    chunks = pa.Table.from_pylist(tokens, schema=CHUNK_SCHEMA)
    source = memory_source(RunData({}, records, chunks, pa.table({})), "run")
    assert _unspent(source, Metric.parse("R(budget=2000)")) == 1
    assert _unspent(source, Metric.parse("TokenPrecision")) == 1
    assert _unspent(source, Metric.parse("R@5")) == 0
