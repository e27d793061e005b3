"""A window of scores summed up: the same numbers as offline, null with a reason, never mixed."""

from __future__ import annotations

import json
import runpy
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from ragnostic.errors import UsageError
from ragnostic.metrics import Metric
from ragnostic.monitor.aggregate import aggregate
from ragnostic.monitor.aggregate_rows import aggregate_rows
from ragnostic.monitor.live_metrics import DEFAULT_METRICS, Selection
from ragnostic.monitor.probes import PROBE_SCHEMA
from ragnostic.monitor.signals import score_records
from ragnostic.records import JUDGED_TYPE
from ragnostic.scoring import Plan, Scored, score
from ragnostic.stats import curve_summary, summarise

ROWS = runpy.run_path(str(Path(__file__).parent / "live_rows.py"))
record, records, judgment = ROWS["record"], ROWS["records"], ROWS["judgment"]
judgments, corpus, MemoryStore, NOON = (
    ROWS[name] for name in ("judgments", "corpus", "MemoryStore", "NOON")
)
ALL = (datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC))


def summed(rows, said, window=ALL, by=(), metrics=None, **options):
    """The aggregate of records and their judgments."""
    table = score_records(records(*rows), judgments(*said), **options)
    return aggregate(MemoryStore(scores=table), *window, by=by, metrics=metrics)


def whole(found, stage="retrieve"):
    """The cell of the whole window."""
    return found.groups[0].stages[stage]


def test_the_numbers_are_those_of_the_offline_summary():
    """Means, counts, intervals and the recall curve of two stages, to 1e-9."""
    given, judged = ROWS["many"](400)
    found = aggregate(MemoryStore(scores=score_records(given, judged)), *ALL)
    members = [
        pa.nulls(400, f.type) if f.name == "facets" else judged[f.name].combine_chunks()
        for f in JUDGED_TYPE
    ]
    joined = given.set_column(
        given.schema.get_field_index("judged"),
        given.schema.field("judged"),
        pa.StructArray.from_arrays(members, fields=list(JUDGED_TYPE)),
    )
    for stage in ("retrieve", "rerank"):
        plan = Plan(DEFAULT_METRICS, stage, curve_depth=12)
        offline = score(joined.filter(joined[stage].is_valid()), plan)
        cell = whole(found, stage)
        for name, summary in summarise(offline.table, DEFAULT_METRICS).items():
            mine = {k: v for k, v in cell["metrics"][name].items() if k != "mean_with_refusals"}
            reason, _, advice = mine.get("reason", "").partition("; ")
            if advice:
                assert advice.startswith("name R@12 in [score] metrics")
                mine["reason"] = reason
            assert mine == pytest.approx(summary.as_json(), abs=1e-9), name
        curve = curve_summary(Scored(plan, offline.table, [], {}))
        for key, value in curve.items():
            assert cell["curve"][key] == pytest.approx(value, abs=1e-9), key


def test_the_order_of_the_rows_changes_nothing():
    """Files may be merged and read in any order: the same bytes come out."""
    given, judged = ROWS["many"](200)
    table = score_records(given, judged, snapshot=corpus({f"c{i}": [i, 1] for i in range(30)}))
    shuffled = table.take(np.random.default_rng(0).permutation(table.num_rows))
    first, second = (
        json.dumps(aggregate(MemoryStore(scores=part), *ALL, by=("service", "traffic")).as_json())
        for part in (table, shuffled)
    )
    assert first == second


def test_a_window_is_half_open():
    """Its first instant is in it, its last is not."""
    times = [NOON, NOON + timedelta(hours=1)]
    rows = [record(f"r{i}", ["a"], ts=when) for i, when in enumerate(times)]
    said = [judgment(row["record_id"], ["a"]) for row in rows]
    assert summed(rows, said, window=(times[0], times[1])).records == 1
    assert summed(rows, said, window=(times[0], times[1] + timedelta(microseconds=1))).records == 2


def test_only_days_that_hold_rows_are_read():
    """A year costs no more than the day that is there."""
    table = score_records(records(record("r", ["a"])), judgments(judgment("r", ["a"])))
    store = MemoryStore(scores=table)
    aggregate(store, *ALL)
    assert len([kind for kind, _, _ in store.reads if kind == "scores"]) == 3


def test_no_data_is_not_zero():
    """No group, no probes, no records; the window is told all the same."""
    found = aggregate(MemoryStore(), *ALL)
    assert found.as_json() == {
        "from": "2026-01-01T08:00:00+08:00",
        "to": "2027-01-01T08:00:00+08:00",
        "zone": "Asia/Shanghai",
        "by": [],
        "records": 0,
        "groups": [],
        "probes": None,
    }
    assert aggregate_rows(found).num_rows == 0


def test_undefined_values_are_null_and_say_why():
    """Nobody judged: nothing is 0, and the JSON is strict."""
    cell = whole(summed([record("r", ["a"])], []))
    for name in ("RR@5", "QER@5", "RDS", "RDS(norm=random)"):
        found = cell["metrics"][name]
        assert found.get("mean", found.get("value")) is None
        assert found["reason"]
    assert cell["curve"] is None
    assert cell["coverage"] == {"share": None, "n": 0, "low": None, "high": None}
    assert cell["tail_decay"] is None
    json.dumps(cell, allow_nan=False)


def test_refusals_stand_beside_the_mean():
    """Left out of it, and counted as 0 next to it."""
    rows = [record(f"r{i}", ["a"]) for i in range(4)]
    said = [judgment("r0", ["a"]), judgment("r1", ["a"])]
    said += [judgment(f"r{i}", status="refused") for i in (2, 3)]
    cell = whole(summed(rows, said))
    assert cell["statuses"] == {"ok": 2, "refused": 2}
    found = cell["metrics"]["RR@5"]
    assert (found["mean"], found["n"], found["mean_with_refusals"]) == (1.0, 2, 0.5)
    only = whole(summed(rows[2:], said[2:]))["metrics"]["RR@5"]
    assert (only["mean"], only["mean_with_refusals"]) == (None, 0.0)


def test_recall_below_the_logged_depth_is_not_measurable():
    """Where top_k is not logged, the deepest ranking is the logged depth."""
    row = record("r", ["a", "b"], stage={"top_k": None})
    metrics = whole(summed([row], [judgment("r", ["a", "z"])]))["metrics"]
    assert metrics["R@1"]["mean"] == 0.5
    assert metrics["R@10"]["mean"] is None
    assert "not measurable" in metrics["R@10"]["reason"]
    assert metrics["RR@5"]["mean"] == 1.0


def test_recall_is_measurable_row_by_row():
    """What others logged tells nothing of a row without top_k, refused or not."""
    rows = [
        record("deep", ["a"], stage={"top_k": 100}),
        record("short", ["b", "c"], stage={"top_k": None}),
        record("refused", ["b"], stage={"top_k": None}),
    ]
    said = [
        judgment("deep", ["a"]),
        judgment("short", ["z"]),
        judgment("refused", status="refused"),
    ]
    metrics = whole(summed(rows, said))["metrics"]
    found = metrics["R@100"]
    assert (found["mean"], found["n"], found["unscored"]) == (1.0, 1, 1)
    assert found["mean_with_refusals"] == 1.0
    assert (metrics["R@1"]["mean"], metrics["R@1"]["n"]) == (0.5, 2)


def test_the_rarest_queries_are_the_tail_however_many_they_are():
    """Two fifths of the traffic are queries that are asked once."""
    asked = ["often"] * 6 + [f"once {i}" for i in range(4)]
    rows = [record(f"r{i}", ["a"], query=text) for i, text in enumerate(asked)]
    said = [judgment(f"r{i}", ["a"] if i < 6 else ["a", "z"]) for i in range(10)]
    decay = whole(summed(rows, said))["tail_decay"]
    assert (decay["value"], decay["head"], decay["tail"]) == (0.5, 6, 4)


def test_a_window_of_millennia_is_read_as_quickly_as_its_data():
    """Only days near data are looked at; the numbers are those of the day."""
    rows, said = [record("r", ["a"])], [judgment("r", ["a"])]
    ends = datetime(1000, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)
    store = MemoryStore(scores=score_records(records(*rows), judgments(*said)))
    assert aggregate(store, *ends).records == 1
    assert len(store.reads) < 10


def test_no_curve_is_drawn_below_its_depth():
    """However much was asked for; half-life and plateau are those of the drawn part."""
    row = record("r", ["x", "a"], stage={"top_k": 1_000_000})
    curve = whole(summed([row], [judgment("r", ["a"])]))["curve"]
    assert (curve["depth"][-1], curve["recall"][:3], curve["recall"][-1]) == (100, [0, 1, 1], 1.0)
    assert (curve["half_life"], curve["carried_share"]) == (2, 1.0)


def test_qer_without_time_says_so():
    """No duration at all, or none but 0."""
    rows = [record("r", ["a"], stage={"took_ms": took}) for took in (None, 0.0)]
    for row, reason in zip(rows, ("no duration was logged", "took time"), strict=True):
        found = whole(summed([row], [judgment("r", ["a"])]))["metrics"]["QER@5"]
        assert found["value"] is None
        assert reason in found["reason"]


def test_a_metric_that_was_not_scored_says_so():
    """It may be asked for all the same; signals are picked too."""
    selection = Selection.parse("P@5,RR@5,QER@5")
    metrics = whole(summed([record("r", ["a"])], [judgment("r", ["a"])], metrics=selection))
    assert list(metrics["metrics"]) == ["P@5", "RR@5", "QER@5"]
    assert "not among" in metrics["metrics"]["P@5"]["reason"]


def test_judges_are_never_mixed():
    """Each has its groups; versions are told."""
    rows = [record("r", ["a", "b"]), record("s", ["a"])]
    said = [
        judgment("r", ["a"]),
        judgment("r", ["b"], judge="gold", version="2"),
        judgment("s", ["a"], version="9"),
    ]
    found = summed(rows, said, by=("judge",))
    shown = [(g.by, g.judge, g.versions, whole_mean(g)) for g in found.groups]
    assert shown == [
        ({}, "answer_span", ("1", "9"), 1.0),
        ({"judge": "answer_span"}, "answer_span", ("1", "9"), 1.0),
        ({}, "gold", ("2",), 0.5),
        ({"judge": "gold"}, "gold", ("2",), 0.5),
    ]
    assert found.records == 2


def whole_mean(group):
    """MRR@5 of a group."""
    return group.stages["retrieve"]["metrics"]["RR@5"]["mean"]


def test_every_slice_that_occurs_is_a_group():
    """In order: lengths by length, numbers by number, nothing last; null is a value."""
    texts = ["a b c d e", "a", " ".join("abcdefghijklmn")]
    rows = [
        record(f"r{i}", ["a"], query=text, ts=NOON + timedelta(hours=i), category=kind)
        for i, (text, kind) in enumerate(zip(texts, ("x", None, "x"), strict=True))
    ]
    said = [judgment(row["record_id"], ["a"]) for row in rows]
    found = summed(rows, said, by=("length", "hour"))
    assert [group.by for group in found.groups[1:]] == [
        {"length": "≤3", "hour": 13},
        {"length": "4–11", "hour": 12},
        {"length": "≥12", "hour": 14},
    ]
    kinds = summed(rows, said, by=("category", "weekday")).groups[1:]
    assert [(g.by, g.stages["retrieve"]["rows"]) for g in kinds] == [
        ({"category": "x", "weekday": 1}, 2),
        ({"category": None, "weekday": 1}, 1),
    ]


def test_slices_by_stage_hold_one_stage():
    """In the order of the pipeline within the whole."""
    given, judged = ROWS["many"](30)
    found = aggregate(MemoryStore(scores=score_records(given, judged)), *ALL, by=["stage"])
    assert list(found.groups[0].stages) == ["retrieve", "rerank"]
    assert [(g.by["stage"], list(g.stages)) for g in found.groups[1:]] == [
        ("rerank", ["rerank"]),
        ("retrieve", ["retrieve"]),
    ]


def test_an_unknown_slice_is_refused():
    """With the nearest name."""
    with pytest.raises(UsageError, match="did you mean service"):
        aggregate(MemoryStore(), *ALL, by=["servise"])
    with pytest.raises(UsageError, match="slices: service"):
        aggregate(MemoryStore(), *ALL, by=["zzz"])


def test_tail_decay_compares_frequent_and_rare_queries():
    """The tail is what the least frequent fifth of the traffic asks."""
    asked = ["often"] * 8 + ["rare", "seldom"]
    rows = [record(f"r{i}", ["a"], query=text) for i, text in enumerate(asked)]
    said = [judgment(f"r{i}", ["a"] if i < 8 else ["a", "z"]) for i in range(10)]
    found = summed(rows, said, by=("traffic",))
    decay = whole(found)["tail_decay"]
    assert (decay["value"], decay["head"], decay["tail"]) == (0.5, 8, 2)
    assert decay["metric"] == "R@10"
    assert [group.by["traffic"] for group in found.groups[1:]] == ["head", "tail"]
    one = whole(summed(rows[:8], said[:8]))["tail_decay"]
    assert (one["value"], one["reason"]) == (
        None,
        "all queries are asked equally often, so that none is tail",
    )


def test_queries_without_a_text_have_no_traffic():
    """Nor a length."""
    row = record("r", ["a"], query=None)
    found = summed([row], [judgment("r", ["a"])], by=("traffic",))
    assert found.groups[1].by == {"traffic": None}
    assert whole(found)["length"] is None


def test_faults_are_counted():
    """Durations, vectors, repeated ids, unknown contexts."""
    rows = [
        record("r", ["a", "a", "other"], stage={"took_ms": -5.0}, context_ids=["a", "?"]),
        record("s", ["a"], stage={"took_ms": None}, latency_ms=None),
        record("t", ["a"], stage={"took_ms": None}, latency_ms=300.0),
    ]
    said = [judgment(name, ["a", "zero"]) for name in "rst"]
    cell = whole(summed(rows, said, snapshot=corpus({"a": [1, 0], "zero": [0, 0]})))
    assert cell["faults"] == {
        "negative_duration": 1,
        "missing_duration": 1,
        "zero_vector": 3,
        "duplicate_retrieved": 1,
        "unknown_retrieved": 1,
        "unresolved_context": 1,
    }
    qer = cell["metrics"]["QER@5"]
    assert (qer["n"], qer["unscored"], qer["whole_request"], qer["context_logged"]) == (1, 2, 1, 0)
    assert qer["latency_ms"] == {"p50": 300.0, "p95": 300.0, "p99": 300.0, "n": 1}


def shared_case(shared, name):
    """A case's ``given`` and ``expect``."""
    case = json.loads((shared / "cases" / f"{name}.json").read_text(encoding="utf-8"))
    return case["given"], case["expect"]


def timed(name, used, latency_s, fanout=None, **values):
    """A record with so many useful chunks, and its judgment."""
    ids = [f"c{i}" for i in range(5)]
    row = record(name, ids, stage={"took_ms": latency_s * 1000}, fanout=fanout, **values)
    return {**row, "context_ids": ids[:used]}, judgment(name, ids)


@pytest.mark.shared
def test_the_case_of_a_ratio_of_sums(shared):
    """QER through records, scores and aggregate; a value a query for drill-down."""
    given, expect = shared_case(shared, "metric-qer-ratio-of-sums")
    pairs = [timed(r["query"], r["used"], r["latency_s"], r.get("fanout")) for r in given["rows"]]
    rows, said = zip(*pairs, strict=True)
    qer = whole(summed(rows, said))["metrics"]["QER@5"]
    assert qer["value"] == pytest.approx(expect["value"]["QER"])
    assert qer["low"] < qer["value"] < qer["high"]
    table = score_records(records(*rows), judgments(*said))
    for row in table.to_pylist():
        wanted = expect["per_query"][row["query_id"]]["QER"]
        assert row["QER@5"] == pytest.approx(wanted, abs=1e-4)


@pytest.mark.shared
def test_the_case_of_percentiles_over_rows(shared):
    """P95 of the day is that of its rows, not of its hours; QER beside it over the same rows."""
    given, expect = shared_case(shared, "alert-percentile-not-averaged")
    rows, said, left = [], [], given["used_total"]
    for part in given["rows"]:
        for _ in range(part["count"]):
            used = min(5, left)
            left -= used
            name = f"r{len(rows)}"
            when = NOON + timedelta(hours=part["hour"])
            row, judged = timed(name, used, part["latency_s"], ts=when)
            rows.append(row)
            said.append(judged)
    found = summed(rows, said, by=("hour",))
    qer = whole(found)["metrics"]["QER@5"]
    assert qer["value"] == pytest.approx(expect["QER"], abs=1e-6)
    for percent in given["percentiles"]:
        wanted = expect[f"P{percent}"] * 1000
        assert qer["latency_ms"][f"p{percent}"] == pytest.approx(wanted)
        assert whole(found)["latency_ms"][f"p{percent}"] == pytest.approx(wanted)
    assert len(found.groups) == 3


@pytest.mark.shared
def test_the_case_of_vectors_without_direction(shared):
    """RDS over the queries whose chunks have vectors with a direction."""
    given, expect = shared_case(shared, "metric-cosine-faults")
    rows, said, vectors = [], [], {}
    for query, found in given["relevant_vectors"].items():
        # Vectors of one snapshot have one dimension; a mismatch is refused when it is made.
        kept = [vector for vector in found if len(vector) == 2]
        names = [f"{query}-{place}" for place in range(len(kept))]
        vectors |= dict(zip(names, kept, strict=True))
        rows.append(record(query, ["x"]))
        said.append(judgment(query, names))
    cell = whole(summed(rows, said, snapshot=corpus(vectors)))
    rds = cell["metrics"]["RDS"]
    assert rds["value"] == pytest.approx(expect["value"]["RDS"])
    assert rds["mean_spread"] == pytest.approx(expect["value"]["mean_spread"])
    assert (rds["n"], rds["unscored"]) == (expect["value"]["n"], 3)
    assert cell["faults"]["zero_vector"] == 1
    norm = cell["metrics"]["RDS(norm=random)"]
    assert norm["value"] > 0


@pytest.mark.shared
def test_the_case_of_negative_durations(shared):
    """Neither they nor missing ones enter percentiles or QER; the rows stay."""
    given, expect = shared_case(shared, "input-negative-duration")
    rows = []
    for row in given["rows"]:
        took = (row["end_ns"] - row["start_ns"]) / 1e6 if row["end_ns"] else None
        rows.append(record(row["query"], ["a"], stage={"took_ms": took}))
    said = [judgment(row["record_id"], ["a"]) for row in rows]
    table = score_records(records(*rows), judgments(*said))
    seconds = dict(zip(table["query_id"].to_pylist(), table["latency_s"].to_pylist(), strict=True))
    assert seconds == pytest.approx(expect["latency_s"])
    cell = whole(summed(rows, said))
    assert cell["rows"] == expect["rows_kept"]
    assert cell["latency_ms"]["p99"] == pytest.approx(expect["max_latency_s"] * 1000)
    assert cell["metrics"]["QER@5"]["value"] == pytest.approx(2 / 0.5)
    assert cell["faults"]["negative_duration"] == cell["faults"]["missing_duration"] == 1


@pytest.mark.shared
def test_the_case_of_day_boundaries(shared):
    """Rows belong to the local day, and a window of dates holds exactly that day's rows."""
    given, expect = shared_case(shared, "input-day-boundary")
    times = [datetime.fromisoformat(text) for text in given["rows"]]
    rows = [record(f"r{i}", ["a"], ts=when) for i, when in enumerate(times)]
    table = score_records(records(*rows), judgments(), zone=given["zone"])
    days = table["day"].to_pylist()
    assert {day: days.count(day) for day in days} == expect["local_day"]
    midnight = datetime.fromisoformat("2026-03-02T00:00:00+08:00")
    found = aggregate(MemoryStore(scores=table), midnight, midnight + timedelta(days=1))
    assert found.records == expect["local_day"]["2026-03-02"]


def probes(*rows):
    """Pairs of rerankings of one reranker."""
    base = {"ts": NOON, "day": "2026-03-02", "seed": 0, "reranker": "bge", "query": "?"}
    return pa.Table.from_pylist([{**base, **row} for row in rows], PROBE_SCHEMA)


def test_probes_of_the_window_are_summed_up():
    """RCS and RBO over queries, by perturbation too; without scores as well."""
    table = probes(
        {"query_id": "q", "perturbation": "seed", "first": ["a", "b"], "second": ["a", "b"]},
        {"query_id": "q", "perturbation": "mask", "first": ["a", "b"], "second": ["a", "c"]},
    )
    found = aggregate(MemoryStore(probes=table), *ALL).probes
    assert (found["pairs"], found["rerankers"]) == (2, ["bge"])
    assert found["metrics"]["RCS@10"]["mean"] == pytest.approx(1 / 3)
    seed = found["perturbations"]["seed"]
    assert seed["RCS@10"]["mean"] is None
    assert "no more than 10" in seed["RCS@10"]["reason"]
    assert seed["RBO(p=0.9)@10"]["mean"] == pytest.approx(1.0)
    only = aggregate(MemoryStore(probes=table), *ALL, metrics=Selection.parse("RCS@10")).probes
    assert list(only["metrics"]) == ["RCS@10"]
    assert list(only["perturbations"]["mask"]) == ["RCS@10"]


def test_rows_for_files_hold_every_number():
    """A row a group, stage and number; slices as text, nothing twice."""
    given, judged = ROWS["many"](60)
    store = MemoryStore(
        scores=score_records(given, judged),
        probes=probes(
            {"query_id": "q", "perturbation": "seed", "first": ["a"], "second": ["b"]},
        ),
    )
    found = aggregate(store, *ALL, by=("service", "judge"))
    table = aggregate_rows(found)
    assert table.column_names[:6] == ["from", "to", "service", "judge", "stage", "metric"]
    rows = table.to_pylist()
    keys = [(r["service"], r["judge"], r["stage"], r["metric"]) for r in rows]
    cell = whole(found)
    first = next(r for r in rows if r["metric"] == "RR@5")
    assert (first["value"], first["n"]) == (
        cell["metrics"]["RR@5"]["mean"],
        cell["metrics"]["RR@5"]["n"],
    )
    assert rows[-2]["metric"] == "RCS@10"
    assert rows[-2]["value"] == 0.0
    assert len(keys) > len(set(keys)) - 1
    p95 = next(r for r in rows if r["metric"] == "latency_ms.p95")
    assert p95["value"] == cell["latency_ms"]["p95"]


def test_every_default_metric_has_an_entry():
    """And the JSON holds no NaN."""
    found = summed([record("r", ["a"])], [judgment("r", ["a"])])
    metrics = whole(found)["metrics"]
    assert set(map(str, DEFAULT_METRICS)) < set(metrics)
    assert str(Metric.parse("RR(weight=soft)@5")) == next(iter(metrics))
    json.dumps(found.as_json(), allow_nan=False)
