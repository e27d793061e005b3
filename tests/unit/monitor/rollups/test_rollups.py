"""Roll-ups: what the hours hold gives what the rows give."""

from __future__ import annotations

import runpy
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragnostic.errors import UsageError
from ragnostic.monitor.aggregate import aggregate
from ragnostic.monitor.probes import PROBE_SCHEMA, RETRIEVAL
from ragnostic.monitor.rollups.estimates import Sums, estimate
from ragnostic.monitor.rollups.rows import MOST_VALUES, OTHER, ROLLUP_SCHEMA, rolled
from ragnostic.monitor.rollups.series import canonical, read_series, windows_of
from ragnostic.monitor.signals import score_records
from ragnostic.stats import mean_interval
from ragnostic.store.lake import ParquetLake

ROWS = runpy.run_path(str(Path(__file__).parents[1] / "live_rows.py"))
ZONE = "Asia/Shanghai"
START = datetime(2026, 3, 1, 16, tzinfo=UTC)
"""Midnight of 2 March in Shanghai."""
FIGURES = ("RR(weight=soft)@5", "RR@5", "AP@10", "nDCG@10", "R@10", "QER@5", "RDS", "RCS@10")


@pytest.fixture
def lake(tmp_path):
    """Two days of scores of two stages, with vectors, and probes of two hours, rolled up."""
    lake = ParquetLake(tmp_path, ZONE)
    vectors = {f"c{n}": [1.0, n / 7, (n * n % 5) / 3] for n in range(30)}
    scores = score_records(*ROWS["many"](900), snapshot=ROWS["corpus"](vectors))
    lake.write("scores", scores, name="part-0")
    pairs = [
        {
            "query_id": f"q{n % 5}",
            "query": "q",
            "ts": START + timedelta(hours=9 + n % 2),
            "perturbation": ["mask", "case"][n % 3 == 0],
            "first": [f"a{k}" for k in range(12)],
            "second": [f"a{(k + n) % 14}" for k in range(12)],
            "reranker": "bge",
            "seed": n,
        }
        for n in range(20)
    ]
    lake.write("probes", pa.Table.from_pylist(pairs, PROBE_SCHEMA).drop_columns("day"), name="p")
    lake.write("rollups", rolled(lake.read("scores"), lake.read("probes"), ZONE), name="rollup")
    return lake


def of(lake, figure, size, **asked):
    """The points of the one series."""
    found = read_series(
        lake, figure, window=size, start=START, end=START + timedelta(days=2), zone=ZONE, **asked
    )
    (points,) = found.values()
    return points


@pytest.mark.parametrize("size", ["hour", "day"])
@pytest.mark.parametrize("figure", FIGURES[:-1])
def test_a_window_has_the_value_that_its_rows_have(lake, figure, size):
    """Value, n and interval, as ``aggregate`` gives them; RDS has an interval of its own kind."""
    for point in of(lake, figure, size):
        found = aggregate(lake, point.start, point.end, zone=ZONE)
        if not found.groups:
            assert (point.value, point.n, point.reason) == (None, 0, "no data")
            continue
        cell = found.groups[0].stages["rerank"]["metrics"][figure]
        value = cell["mean"] if "mean" in cell else cell["value"]
        assert point.n == cell["n"]
        assert point.value == (None if value is None else pytest.approx(value, abs=1e-9))
        if figure != "RDS" and cell["low"] is not None:
            assert (point.low, point.high) == pytest.approx((cell["low"], cell["high"]), abs=1e-9)


def test_consistency_is_over_queries(lake):
    """Several pairs of one query count once, in the whole and by perturbation."""
    for point in of(lake, "rcs", "hour"):
        probes = aggregate(lake, point.start, point.end, zone=ZONE).probes
        assert point.n == (probes["metrics"]["RCS@10"]["n"] if probes else 0)
        if probes:
            assert point.value == pytest.approx(probes["metrics"]["RCS@10"]["mean"], abs=1e-9)
    by_kind = read_series(
        lake,
        "rcs",
        window="day",
        start=START,
        end=START + timedelta(days=1),
        zone=ZONE,
        slice_="perturbation",
    )
    assert [key.value for key in by_kind] == ["case", "mask"]


def test_percentiles_are_within_one_percent(lake):
    """Of a day, merged from its hours."""
    for point in of(lake, "latency:p95", "day"):
        cell = aggregate(lake, point.start, point.end, zone=ZONE).groups[0].stages["rerank"]
        assert point.value * 1000 == pytest.approx(cell["latency_ms"]["p95"], rel=0.01)


def test_a_slice_has_a_series_a_value(lake):
    """Rows without a value are in the whole only; the stage before the last one can be asked."""
    day = {"window": "day", "start": START, "end": START + timedelta(days=1), "zone": ZONE}
    found = read_series(lake, "R@10", slice_="service", stage="retrieve", **day)
    assert [(key.value, key.stage) for key in found] == [("a", "retrieve"), ("b", "retrieve")]
    group = {
        one.by["service"]: one.stages["retrieve"]["metrics"]["R@10"]["n"]
        for one in aggregate(lake, day["start"], day["end"], by=["service"], zone=ZONE).groups[1:]
    }
    assert {key.value: points[0].n for key, points in found.items()} == {
        name: n for name, n in group.items() if name
    }


def test_recall_below_the_logged_depth_is_not_measurable(tmp_path):
    """It is not low, and the reason says so: on the second day nobody logged top_k."""
    lake = ParquetLake(tmp_path, ZONE)
    made = ROWS["record"]
    rows = [
        made("r1", ["b", "a"], ts=START + timedelta(hours=1), stage={"top_k": 100}),
        made("r2", ["b", "c"], ts=START + timedelta(hours=25), stage={"top_k": None}),
    ]
    said = [ROWS["judgment"]("r1", ["a"]), ROWS["judgment"]("r2", ["z"])]
    scores = score_records(ROWS["records"](*rows), ROWS["judgments"](*said))
    for number in (0, 1):
        day = scores.slice(number, 1)
        table = rolled(day, PROBE_SCHEMA.empty_table(), ZONE)
        lake.write("rollups", table, name=f"rollup-{number}")
    first, second = of(lake, "R@50", "day")
    assert (first.value, first.n) == (1.0, 1)
    assert (second.value, second.n) == (None, 0)
    assert second.reason == "not measurable: the logged depth is 2"
    assert of(lake, "R@1", "day")[1].value == 0.0


def test_many_values_become_the_most_frequent_and_other():
    """10,000 categories are 201 series."""
    count = 3 * MOST_VALUES
    rows = [
        ROWS["record"](f"r{n}", ["a"], category=f"c{min(n, MOST_VALUES + 50)}")
        for n in range(count)
    ]
    said = [ROWS["judgment"](f"r{n}", ["a"]) for n in range(count)]
    scores = score_records(ROWS["records"](*rows), ROWS["judgments"](*said))
    table = rolled(scores, PROBE_SCHEMA.empty_table(), ZONE)
    values = {
        row["value"]
        for row in table.to_pylist()
        if (row["slice"], row["metric"]) == ("category", "RR@5")
    }
    assert len(values) == MOST_VALUES + 1
    assert OTHER in values
    assert f"c{MOST_VALUES + 50}" in values


def test_an_empty_day_rolls_up_to_nothing(lake):
    """No rows, under the schema."""
    nothing = lake.read("scores").slice(0, 0)
    table = rolled(nothing, PROBE_SCHEMA.empty_table(), ZONE)
    assert (table.num_rows, table.schema) == (0, ROLLUP_SCHEMA)


@settings(max_examples=60)
@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=40),
    st.lists(st.integers(0, 40), max_size=3),
)
def test_merged_sums_give_what_the_whole_gives(values, cuts):
    """However the rows are split into windows."""
    parts = np.split(np.array(values), sorted(min(cut, len(values)) for cut in cuts))
    sums = Sums()
    for part in parts:
        sums += Sums(part.size, float(part.sum()), float((part * part).sum()))
    found = estimate("RR@5", sums)
    assert found.value == pytest.approx(np.mean(values), abs=1e-9)
    interval = mean_interval(np.array(values), (0.0, 1.0))
    if interval is None:
        assert found.low is None
    else:
        assert (found.low, found.high) == pytest.approx(interval, abs=1e-6)


def test_windows_are_those_of_the_zone():
    """A day that is an hour shorter, and hours of a zone that is half an hour off."""
    start, end = datetime(2026, 3, 28, 23, tzinfo=UTC), datetime(2026, 3, 30, 22, tzinfo=UTC)
    lengths = [
        (e - b).total_seconds() / 3600 for b, e in windows_of("day", start, end, "Europe/Berlin")
    ]
    assert lengths == [23.0, 24.0]
    (first, *_) = windows_of("hour", start, end, "Asia/Kolkata")
    assert first[0].minute == 30


@pytest.mark.parametrize("wrong", ["nothing", "RecallCurve", "latency:q95x"])
def test_a_figure_that_nobody_knows_is_refused(wrong):
    """By the name that was given."""
    with pytest.raises(UsageError):
        canonical(wrong)


def test_retrieval_against_the_run_before_has_figures_of_its_own(lake):
    """At stage retrieve, and RCS stays what it was."""
    rcs = of(lake, "rcs", "hour")
    rows = [
        {
            "query_id": f"q{n}",
            "query": "q",
            "ts": START + timedelta(hours=9),
            "perturbation": RETRIEVAL,
            "first": None if n == 3 else ["a", "b"],
            "second": ["a", "b", "c"][: 2 + n % 2],
            "reranker": "bm25",
            "seed": 0,
        }
        for n in range(4)
    ]
    lake.write("probes", pa.Table.from_pylist(rows, PROBE_SCHEMA).drop_columns("day"), name="r")
    lake.write("rollups", rolled(lake.read("scores"), lake.read("probes"), ZONE), name="rollup")
    assert of(lake, "rcs", "hour") == rcs
    point = of(lake, "overlap@10", "hour")[9]
    found = aggregate(lake, point.start, point.end, zone=ZONE).probes["retrieval"]
    overlap = found["metrics"]["RetrievalOverlap@10"]
    assert (point.n, point.value) == (3, pytest.approx((1 + 2 / 3 + 1) / 3))
    assert (overlap["n"], overlap["mean"]) == (3, pytest.approx(point.value))
    assert (point.low, point.high) == pytest.approx((overlap["low"], overlap["high"]))
    end = START + timedelta(days=1)
    keys = read_series(lake, "overlap", window="day", start=START, end=end, zone=ZONE)
    assert [(key.metric, key.stage) for key in keys] == [("RetrievalOverlap@10", "retrieve")]
