"""The figures of a store for Prometheus."""

from __future__ import annotations

import runpy
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from ragnostic.exporters.prometheus import exposition
from ragnostic.exporters.samples import MOST_LABELS, Family
from ragnostic.monitor.aggregate import aggregate
from ragnostic.monitor.exported import exported
from ragnostic.monitor.probes import PROBE_SCHEMA, RETRIEVAL
from ragnostic.monitor.rollups.rolling import roll_up
from ragnostic.monitor.rollups.series import read_series

CASE = runpy.run_path(str(Path(__file__).parent / "rollups" / "test_rolling.py"))
NOW = datetime(2026, 3, 3, 1, 30, tzinfo=UTC)


@pytest.fixture
def store(tmp_path):
    """A store with nine records on three days."""
    with CASE["CASE"]["case"](tmp_path, CASE["SETTINGS"]) as opened:
        CASE["work"](opened, range(9))
        roll_up(opened)
        opened.state.add({"received": 9, "stored": 8, "duplicate": 1, "work.judged.judged": 9})
        yield opened


def values(families, name):
    """Samples of a family by their labels."""
    (family,) = [one for one in families if one.name == name]
    return {tuple(sample.labels.values()): sample.value for sample in family.samples}


def test_a_figure_is_that_of_the_last_closed_day(store):
    """The same that ``aggregate`` gives; the hour had no data, and so has no sample."""
    found = values(exported(store, NOW), "ragnostic_relevance_ratio")
    start, end = datetime(2026, 3, 2, tzinfo=UTC), datetime(2026, 3, 3, tzinfo=UTC)
    cell = aggregate(store.lake, start, end, zone="UTC").groups[0].stages["retrieve"]
    known = {
        name: one["mean"] for name, one in cell["metrics"].items() if one.get("mean") is not None
    }
    day = {
        key[0]: value
        for key, value in found.items()
        if key[1:] == ("retrieve", "answer_span", "day", "")
    }
    assert day == pytest.approx(known)
    assert not [key for key in found if key[3] == "hour"]


def test_retrieval_against_the_run_before_is_a_family_of_its_own(store):
    """It is no relevance, and no consistency of a reranker."""
    row = {"query_id": "q", "query": "q", "ts": datetime(2026, 3, 2, 9, tzinfo=UTC), "seed": 0}
    lists = {"perturbation": RETRIEVAL, "first": ["a", "b"], "second": ["b", "a"]}
    schema = PROBE_SCHEMA.remove(PROBE_SCHEMA.get_field_index("day"))
    store.lake.write("probes", pa.Table.from_pylist([{**row, **lists}], schema), name="p")
    before = exported(store, NOW)
    roll_up(store)
    after = exported(store, NOW)
    found = values(after, "ragnostic_retrieval_overlap_ratio")
    assert found["RetrievalOverlap@10", "retrieve", "", "day", ""] == 1.0
    for name in ("ragnostic_relevance_ratio", "ragnostic_rerank_consistency_ratio"):
        assert values(after, name) == values(before, name)


def test_percentiles_and_the_rows_behind_a_figure(store):
    """Percentiles of the window itself, and as many rows as the series says."""
    families = exported(store, NOW)
    place = ("retrieve", "answer_span", "day", "")
    found = values(families, "ragnostic_retrieval_wait_seconds")
    assert found["95", *place] >= found["50", *place] > 0
    rows = values(families, "ragnostic_figure_rows")
    start, end = datetime(2026, 3, 2, tzinfo=UTC), datetime(2026, 3, 3, tzinfo=UTC)
    for figure in ("latency:p95", "coverage", "QER@5", "RR@5"):
        series = read_series(
            store.lake, figure, window="day", start=start, end=end, zone="UTC", stage="retrieve"
        )
        ((point,),) = series.values()
        assert rows[figure.partition(":")[0], *place] == point.n


def test_a_window_whose_rows_are_on_their_way_is_not_the_last_one(store):
    """Ten minutes after its end a window is looked at, as a check of the alerts does."""
    family = "ragnostic_window_end_timestamp_seconds"
    midnight = datetime(2026, 3, 3, tzinfo=UTC)
    early = values(exported(store, midnight + timedelta(minutes=9)), family)
    late = values(exported(store, midnight + timedelta(minutes=10)), family)
    assert early["day",] == (midnight - timedelta(days=1)).timestamp()
    assert late["day",] == late["hour",] == midnight.timestamp()


def test_no_family_has_more_than_five_labels(store):
    """And all samples of one have the same."""
    for family in exported(store, NOW):
        if isinstance(family, Family) and family.samples:
            names = [tuple(sample.labels) for sample in family.samples]
            assert len(set(names)) == 1
            assert len(names[0]) <= MOST_LABELS


def test_no_data_is_no_sample(tmp_path):
    """An empty store exports its window ends and its backlog, and no figure."""
    with CASE["CASE"]["case"](tmp_path) as opened:
        text = exposition(exported(opened, NOW))
    named = {
        line.partition("{")[0].partition(" ")[0] for line in text.splitlines() if line[0] != "#"
    }
    assert named == {"ragnostic_window_end_timestamp_seconds", "ragnostic_queue_waiting_records"}


def test_counters_and_durations(store):
    """Rows by outcome, judgments by status, a histogram whose last bucket is everything."""
    text = exposition(exported(store, NOW))
    assert 'ragnostic_intake_rows_total{outcome="stored"} 8.0' in text
    assert 'ragnostic_judgments_total{status="judged"} 9.0' in text
    prefix = "ragnostic_retrieval_duration_seconds"
    lines = dict(line.rsplit(" ", 1) for line in text.splitlines() if line.startswith(prefix))
    assert [value for line, value in lines.items() if 'le="+Inf"' in line] == ["9.0"]
    assert [value for line, value in lines.items() if 'le="0.01"' in line] == ["9.0"]
    assert [value for line, value in lines.items() if line.startswith(f"{prefix}_count")] == ["9.0"]


@pytest.mark.skipif(shutil.which("promtool") is None, reason="system package prometheus is missing")
def test_promtool_finds_nothing_to_complain_about(store):
    """Names, units and help are as Prometheus wants them."""
    text = exposition(exported(store, NOW))
    done = subprocess.run(
        ["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
