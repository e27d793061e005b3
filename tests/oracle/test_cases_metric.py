"""Every ``metric`` case of the shared cases, and the ``input`` cases about qrels, runs and logs.

The cases are faults that users of other tools met. Nothing here knows a single case's ids; a case
is run by what its ``given`` holds.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ragnostic.corpus.strict_json import RowError
from ragnostic.evalset.qrels import load_qrels
from ragnostic.evalset.record_files import read_records
from ragnostic.evalset.record_values import duration_s, instant, local_day
from ragnostic.evalset.runs import Run
from ragnostic.judges.gold import GoldJudge
from ragnostic.metrics import Columns, Metric
from ragnostic.metrics.consistency import rerank_consistency
from ragnostic.metrics.efficiency import query_efficiency, ratio_of_sums
from ragnostic.metrics.inputs import results
from ragnostic.metrics.registry import mean
from ragnostic.metrics.spread import relevance_spread, skew
from ragnostic.metrics.unanswerable import false_retrieval
from ragnostic.offline.evaluation import Evaluation, evaluate, evaluate_records
from ragnostic.records import EvalQuery, GoldSpan, Hits, hits_row, record_schema
from ragnostic.scoring import Plan

FOLDER = Path(__file__).resolve().parents[3] / "shared/cases"


def cases(*kinds: str) -> list[dict[str, Any]]:
    """All shared cases of the given kinds; none where the folder is absent."""
    found = [json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))]
    return [case for case in found if case["kind"] in kinds]


def run_by(case: dict[str, Any]) -> str:
    """Which runner a case needs, by the keys of its ``given``."""
    given, text = case["given"], json.dumps(case["given"])
    keyed = ("records", "relevant_vectors", "rerankings", "per_query_values", "gold_groups")
    signs = {key: key in given for key in keyed} | {
        "distance": "score_kind" in given,
        "document": given.get("gold_level") == "document",
        "timings": case["kind"] == "metric" and "rows" in given,
        "durations": "start_ns" in text,
        "days": "rows" in given,
        "log": any(name.endswith(".jsonl") for name in names(given)) and '\\"ts\\"' in text,
        "other": not {"response", "corpus_ids", "mapping"}.isdisjoint(given),
        "evaluate": "gold" in given or any("qrels" in name for name in names(given)),
    }
    return next((kind for kind, found in signs.items() if found), "other")


def names(given: dict[str, Any]) -> list[str]:
    """Names of a case's files."""
    return [file["name"] for file in given.get("files", ())]


def write_files(given: dict[str, Any], folder: Path) -> dict[str, Path]:
    """The case's files on disk, by name."""
    found = {}
    for file in given.get("files", ()):
        data = base64.b64decode(file["base64"]) if "base64" in file else file["text"].encode()
        found[file["name"]] = folder / file["name"]
        found[file["name"]].write_bytes(data)
    return found


METRIC_CASES = [case for case in cases("metric", "input") if run_by(case) == "evaluate"]


def by_id(items: list[dict[str, Any]]) -> dict[str, Any]:
    """Parameters of cases, named by id."""
    return {"argvalues": items, "ids": [case["id"] for case in items]}


def check_values(expected: dict[str, dict[str, Any]], result: Evaluation) -> None:
    """Per-query values to 1e-4; null is no value."""
    rows = {row["query_id"]: row for row in result.per_query.to_pylist()}
    for query, values in expected.items():
        for name, value in values.items():
            found = rows[query][str(Metric.parse(name))]
            assert found == (None if value is None else pytest.approx(value, abs=1e-4)), (
                query,
                name,
            )


def check(expect: dict[str, Any], result: Evaluation) -> None:
    """Everything an ``expect`` may hold for a scored run."""
    check_values(expect.get("per_query", {}), result)
    for name, value in expect.get("mean", {}).items():
        assert result[name].mean == pytest.approx(value, abs=1e-4), name
    counts = expect.get("n", {})
    for summary in result.metrics.values():
        assert summary.n == counts.get("in_mean", summary.n)
        for name in ("missing", "unscored", "failed"):
            assert getattr(summary, name) == counts.get(name, getattr(summary, name))
    texts = [str(fault) for fault in result.warnings]
    for fault in expect.get("faults", ()):
        hits = [t for t in texts if all(word in t for word in fault["must_name"])]
        assert hits, (fault, texts)
    for kind, key in (("missing_query", "missing"), ("unjudged_query", "unjudged")):
        if key in expect:
            listed = [id_ for f in result.warnings if f.kind == kind for id_ in f.ids]
            assert listed == expect[key]
    for word in expect.get("must_name", ()):
        assert any(word in text for text in texts), (word, texts)
    if "quarantined" in expect:
        check_quarantined(expect["quarantined"], result.warnings, expect.get("each_names", ()))
    status = dict(
        zip(*(result.scored.table[c].to_pylist() for c in ("query_id", "status")), strict=True)
    )
    for query in expect.get("unscored", ()):
        assert status[query] == "unscored"
    json.dumps(result.as_json(), allow_nan=False)


def check_quarantined(expected: dict[str, Any], faults: Any, each: Any) -> None:
    """Rows set aside: how many, on which physical lines, each naming file and line."""
    bad = [fault for fault in faults if fault.kind == "quarantined"]
    assert sum(fault.count for fault in bad) == expected["count"]
    if "lines" in expected:
        assert [int(fault.where.rpartition(":")[2]) for fault in bad] == expected["lines"]
    for word in each:
        assert all(word in str(fault) for fault in bad)


@pytest.mark.shared
@pytest.mark.parametrize("case", **by_id(METRIC_CASES))
def test_a_case_of_gold_and_rankings(case, tmp_path):
    """Gold and a run, given inline or as files, score as the case says."""
    given, expect = case["given"], case["expect"]
    files = write_files(given, tmp_path)
    qrels = next((p for n, p in files.items() if "qrels" in n), given.get("gold"))
    run_file = next((p for n, p in files.items() if n.startswith("run")), None)
    runs = {"": run_file if run_file is not None else given.get("run")}
    if "scores" in given:
        runs = {**given["scores"], **given.get("run", {})}
    for name, run in runs.items():
        if run is None:
            continue
        result = evaluate(qrels, run, given.get("metrics", ["R@5"]))
        check(expect, result)
        check_values(
            dict.fromkeys(given["gold"], expect["per_run"][name]) if "per_run" in expect else {},
            result,
        )
    if "rows" in expect and isinstance(qrels, Path):
        loaded = load_qrels(qrels)
        assert loaded.rows == expect["rows"]
    if "ids" in expect:
        table = Run(run_file).table()
        assert [i for row in table["retrieve"].to_pylist() for i in row["ids"]] == expect["ids"]
    if "gold_ids" in expect:
        judged = load_qrels(qrels).table["judged"].to_pylist()
        assert [i for row in judged for i in row["ids"]] == expect["gold_ids"]
    texts = "".join(f.message for f in result.warnings if f.kind == "near_match")
    for pair in expect.get("listed_near_matches", ()):
        assert all(repr(spelling) in texts for spelling in pair)
    for name in expect.get("not_listed", ()):
        assert repr(name) not in texts
    for word in expect.get("must_not_contain", ()):
        assert word not in json.dumps(result.as_json(), ensure_ascii=False)


@pytest.mark.shared
@pytest.mark.parametrize("case", **by_id([c for c in cases("metric") if "repeat" in c["given"]]))
def test_a_case_gives_the_same_bytes_for_every_hash_seed(case, tmp_path):
    """Five processes with five hash seeds print the same JSON."""
    given = case["given"]
    program = (
        "import json, sys; from ragnostic.offline.evaluation import evaluate; "
        "g = json.loads(sys.argv[1]); "
        "print(json.dumps(evaluate(g['gold'], g['run'], g['metrics']).as_json()))"
    )
    outputs = set()
    for seed in given["repeat"]["hash_seeds"]:
        command = [sys.executable, "-c", program, json.dumps(given)]
        environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
        outputs.add(
            subprocess.run(command, env=environment, capture_output=True, check=True).stdout
        )
    assert len(outputs) == 1


def selected(kind: str) -> list[dict[str, Any]]:
    """Cases that need one runner."""
    kinds = ("metric", "input", "report") if kind == "per_query_values" else ("metric", "input")
    return [case for case in cases(*kinds) if run_by(case) == kind]


@pytest.mark.shared
@pytest.mark.parametrize("case", **by_id(selected("gold_groups")))
def test_a_case_of_groups(case):
    """Each inner list is one item, its members alternatives."""
    given = case["given"]
    check(case["expect"], evaluate(given["gold_groups"], given["run"], given["metrics"]))


@pytest.mark.shared
@pytest.mark.parametrize("case", **by_id(selected("document")))
def test_a_case_of_document_gold(case):
    """Gold names documents, results are chunks of them; the gold judge resolves it."""
    given = case["given"]
    rows = []
    for query, hits in given["run"].items():
        gold = tuple((GoldSpan(doc_id=document),) for document in given["gold"][query])
        found = Hits(
            ids=tuple(hit["chunk"] for hit in hits), doc_ids=tuple(hit["doc"] for hit in hits)
        )
        asked = EvalQuery(query, "", gold)
        judged = GoldJudge.build([asked], None).judge(asked, {"retrieve": found})
        rows.append({"query_id": query, "retrieve": hits_row(found), "judged": judged})
    table = pa.Table.from_pylist(rows, record_schema(["retrieve"]))
    plan = Plan(tuple(Metric.parse(name) for name in given["metrics"]))
    check(case["expect"], evaluate_records(table.to_batches(), plan))


@pytest.mark.shared
@pytest.mark.parametrize("case", **by_id(selected("records")))
def test_a_case_of_records(case):
    """Records with stages of their own depth, or with more results than were asked for."""
    given, expect = case["given"], case["expect"]
    rows, stages = [], []
    for record in given["records"]:
        found = record.get("stages") or {
            "retrieve": {"ids": record["retrieved"], "top_k": record["top_k"]}
        }
        stages = list(found)
        gold = given["gold"][record["query_id"]]
        rows.append({"query_id": record["query_id"], "judged": {"ids": gold}, **found})
    table = pa.Table.from_pylist(rows, record_schema(stages))
    metrics = tuple(Metric.parse(name) for name in given["metrics"])
    for stage in stages:
        result = evaluate_records(table.to_batches(), Plan(metrics, stage=stage))
        known = expect.get("per_stage", {}).get(stage)
        check_values(
            dict.fromkeys((row["query_id"] for row in rows), known) if known else {}, result
        )
        check({k: v for k, v in expect.items() if k != "per_stage"}, result)
        if expect.get("faults") == []:
            assert not result.warnings


@pytest.mark.shared
@pytest.mark.parametrize("case", **by_id(selected("per_query_values")))
def test_a_case_of_broken_values(case):
    """A value that is no number is left out of the mean and named, and no NaN is written."""
    expect = case["expect"]
    for name, values in case["given"]["per_query_values"].items():
        numbers = np.array([float(value) for value in values.values()])
        failed = [q for q, number in zip(values, numbers, strict=True) if np.isnan(number)]
        assert mean(Columns(numbers)) == pytest.approx(expect["mean"][name])
        assert failed == expect["failed"]
        assert len(numbers) - len(failed) == expect["n"]["in_mean"]


@pytest.mark.shared
@pytest.mark.parametrize("case", **by_id(selected("relevant_vectors")))
def test_a_case_of_vectors(case):
    """RDS of relevant chunks, zero vectors and mixed dimensions named."""
    expect = case["expect"]
    columns, faults = relevance_spread(case["given"]["relevant_vectors"])
    values = columns.value[~np.isnan(columns.value)]
    assert skew(columns) == pytest.approx(expect["value"]["RDS"])
    assert values.mean() == pytest.approx(expect["value"]["mean_spread"])
    assert values.size == expect["value"]["n"]
    for known in expect["faults"]:
        fault = next(f for f in faults if f.kind == known["type"])
        assert all(word in fault.message for word in known["must_name"])


@pytest.mark.shared
@pytest.mark.parametrize("case", **by_id(selected("rerankings")))
def test_a_case_of_two_rerankings(case):
    """Short and empty lists are compared as they are."""
    expect, given = case["expect"], case["given"]["rerankings"]
    columns = rerank_consistency([(pair["A"], pair["B"]) for pair in given.values()], k=10)
    for query, value in zip(given, columns.value, strict=True):
        known = expect["per_query"][query]["RCS@10"]
        assert np.isnan(value) if known is None else value == pytest.approx(known)
    assert mean(columns) == pytest.approx(expect["mean"]["RCS@10"])


@pytest.mark.shared
@pytest.mark.parametrize("case", **by_id(selected("timings")))
def test_a_case_of_query_efficiency(case):
    """QER is a ratio of sums."""
    rows, expect = case["given"]["rows"], case["expect"]
    columns = query_efficiency(
        *(
            np.array([row.get(k, np.nan) for row in rows], float)
            for k in ("used", "latency_s", "fanout")
        )
    )
    assert ratio_of_sums(columns) == pytest.approx(expect["value"]["QER"])
    for row, value in zip(rows, columns.value, strict=True):
        assert value == pytest.approx(expect["per_query"][row["query"]]["QER"], abs=1e-4)


@pytest.mark.shared
@pytest.mark.parametrize("case", **by_id(selected("distance")))
def test_a_case_of_distances(case):
    """Lower is nearer: order, metrics and false retrievals."""
    given, expect = case["given"], case["expect"]
    for run in given["scores"].values():
        result = evaluate(given["gold"], run, ["RR@3", "nDCG@3"], score_order="distance")
        check({"per_query": expect["per_query"]}, result)
        # In records a distance is negated, so that higher is better everywhere.
        scores = results([[-s for s in run[query].values()] for query in given["unanswerable"]])
        columns = false_retrieval(scores, k=3, t=-given["threshold"])
        assert mean(columns) == expect["value"]["FalseRetrieval@3"]


@pytest.mark.shared
@pytest.mark.parametrize("case", **by_id(selected("durations")))
def test_a_case_of_durations(case):
    """A span that ends before it starts, or never, has no duration; the row stays."""
    expect = case["expect"]
    found: dict[str, float | None] = {}
    reasons: dict[str, str] = {}
    for row in case["given"]["rows"]:
        try:
            found[row["query"]] = duration_s(row["start_ns"], row["end_ns"])
        except RowError as error:
            found[row["query"]], reasons[row["query"]] = None, str(error)
    assert found == pytest.approx(expect["latency_s"])
    assert len(found) == expect["rows_kept"]
    assert sorted(reasons) == sorted(f["must_name"][0] for f in expect["faults"])
    known = [value for value in found.values() if value is not None]
    assert np.mean(known) == pytest.approx(expect["mean_latency_s"])
    assert max(known) == pytest.approx(expect["max_latency_s"])


@pytest.mark.shared
@pytest.mark.parametrize("case", **by_id(selected("days")))
def test_a_case_of_day_boundaries(case):
    """Days are cut in the configured zone."""
    given, days = case["given"], {}
    for row in given["rows"]:
        day = local_day(instant(row), given["zone"]).isoformat()
        days[day] = days.get(day, 0) + 1
    assert days == case["expect"]["local_day"]


@pytest.mark.shared
@pytest.mark.parametrize("case", **by_id(selected("log")))
def test_a_case_of_times_in_a_log(case, tmp_path):
    """Seconds to nanoseconds and ISO text name the same instants; nonsense is quarantined."""
    given, expect, faults = case["given"], case["expect"], []
    (path,) = write_files(given, tmp_path).values()
    rows = [row for batch in read_records(path, [], faults) for row in batch.to_pylist()]
    assert {r["query_id"]: r["ts"] for r in rows} == {
        query: instant(text) for query, text in expect["instant"].items()
    }
    check_quarantined(expect["quarantined"], faults, ())


def test_every_shared_case_of_these_kinds_has_a_runner():
    """No case falls through: what this file does not run, the evaluation-set tests do."""
    rest = {case["id"] for case in cases("metric", "input") if run_by(case) == "other"}
    elsewhere = {
        "input-csv-bom-crlf",
        "input-csv-gbk",
        "input-jsonl-broken-lines",
        "input-dangling-gold",
        "input-near-match-ids",
        "input-rerank-indices",
    }
    assert rest <= elsewhere


def test_qrels_of_the_caller_are_not_changed():
    """The inputs are read, never written."""
    gold, run = {"q": {"a": 1, "b": -1}}, {"q": {"a": 0.5}}
    before = json.dumps([gold, run])
    evaluate(gold, run, ["nDCG@5"])
    assert json.dumps([gold, run]) == before
