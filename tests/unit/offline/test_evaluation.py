"""``ragnostic.evaluate``."""

from __future__ import annotations

import json

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragnostic.errors import DataError, Fault, UsageError
from ragnostic.metrics import Metric
from ragnostic.offline.evaluation import DEFAULT_METRICS, evaluate, evaluate_records
from ragnostic.records import record_schema
from ragnostic.scoring import Plan

QRELS = {"q1": {"d1": 2, "d2": 1}, "q2": {"d9": 1}}
RUN = {"q1": ["d3", "d1"], "q2": {"d9": 0.4, "d8": 0.7}}


def test_the_example_of_the_documentation():
    """Ordered ids and scores together; values by hand."""
    result = evaluate(qrels=QRELS, run=RUN, metrics=["nDCG@10", "RR@5", "R@20"])
    assert result["RR@5"].mean == 0.5
    assert result["R@20"].mean == 0.75
    dcg, ideal = 2 / 1.58496250, 2 + 1 / 1.58496250
    assert result["nDCG@10"].mean == pytest.approx((dcg / ideal + 1 / 1.58496250) / 2)
    assert [row["query_id"] for row in result.per_query.to_pylist()] == ["q1", "q2"]


def test_a_metric_may_be_asked_for_by_any_name():
    """Text, alias, Metric; a comma-separated list; each once."""
    result = evaluate(QRELS, RUN, "mrr@5, RR@5,hit_rate@1")
    assert list(result.metrics) == ["RR@5", "Success@1"]
    assert result["mrr@5"] == result[Metric.parse("RR@5")] == result["RR@5"]
    assert list(evaluate(QRELS, RUN, [Metric.parse("AP"), "map"]).metrics) == ["AP"]
    assert list(evaluate(QRELS, RUN).metrics) == DEFAULT_METRICS.split(",")


@pytest.mark.parametrize("metrics", [[], "", ["RecallCurve@5"], ["nope"]])
def test_metrics_that_have_no_mean_are_refused(metrics):
    """None at all, a curve, an unknown one."""
    with pytest.raises(UsageError):
        evaluate(QRELS, RUN, metrics)


def test_rows_come_in_the_order_of_the_qrels():
    """Unjudged queries behind them."""
    run = {"q9": ["x"], "q2": ["d9"]}
    result = evaluate(QRELS, run, ["RR@5"])
    rows = [(r["query_id"], r["status"]) for r in result.scored.table.to_pylist()]
    assert rows == [("q1", "missing"), ("q2", "ok"), ("q9", "unjudged")]
    assert result["RR@5"].mean == 0.5
    assert evaluate(QRELS, run, ["RR@5"], missing="skip")["RR@5"].mean == 1


def test_the_json_is_what_the_command_prints():
    """Strict JSON with warnings as text."""
    found = evaluate(QRELS, {"q1": ["d1", "d1"]}, ["RR@5"]).as_json()
    json.dumps(found, allow_nan=False)
    assert found["duplicates"] == 1
    assert any("missing" in line for line in found["warnings"])
    assert any("q1 (id d1)" in line for line in found["warnings"])


def test_no_overlap_at_all_is_a_loud_warning():
    """Documents here, chunks there."""
    kinds = [f.kind for f in evaluate({"q": ["doc"]}, {"q": ["doc#1"]}, ["RR@5"]).warnings]
    assert "no_overlap" in kinds
    one_found = evaluate({"q": ["a"], "r": ["b"]}, {"q": ["x"], "r": ["b"]}, ["RR@5"])
    assert "no_overlap" not in [f.kind for f in one_found.warnings]
    nothing = evaluate({"q": ["a"]}, {"q": []}, ["RR@5"])
    assert "no_overlap" not in [f.kind for f in nothing.warnings]


def test_nothing_to_score_has_a_reason():
    """Empty qrels, an empty run, or both."""
    assert evaluate({}, {}, ["RR@5"])["RR@5"].reason == "there are no queries"
    unjudged = evaluate({}, {"q": ["a"]}, ["RR@5"])
    assert unjudged["RR@5"].mean is None
    assert evaluate(QRELS, {}, ["RR@5"])["RR@5"].missing == 2
    json.dumps(evaluate({}, {}, ["RR@5"]).as_json(), allow_nan=False)


def test_dangling_gold_stays_in_r():
    """A gold id that is nowhere counts (METRICS 1.6)."""
    assert evaluate({"q": ["a", "gone"]}, {"q": ["a"]}, ["R@5"])["R@5"].mean == 0.5


def test_ids_are_text():
    """007 is not 7."""
    assert evaluate({"q": ["007"]}, {"q": ["7"]}, ["RR@5"])["RR@5"].mean == 0
    with pytest.raises(DataError, match="007 is not 7"):
        evaluate({"q": ["7"]}, {"q": [7]}, ["RR@5"])


def test_groups_are_one_item_each():
    """(a or b) and c: the second alternative gains nothing."""
    result = evaluate({"q": [["a", "b"], ["c"]]}, {"q": ["b", "a", "x"]}, ["R@3", "P@3", "AP"])
    assert result["R@3"].mean == 0.5
    assert result["P@3"].mean == pytest.approx(2 / 3)
    assert result["AP"].mean == 0.5


def test_records_are_scored_with_the_readers_faults_first():
    """Then those of the rankings, then the overlap."""
    rows = [{"query_id": "q", "retrieve": {"ids": ["x", "x"]}, "judged": {"ids": ["a"]}}]
    table = pa.Table.from_pylist(rows, record_schema(["retrieve"]))
    plan = Plan((Metric.parse("RR@5"),))
    result = evaluate_records(table.to_batches(), plan, [Fault("quarantined", "bad")])
    kinds = [fault.kind for fault in result.warnings]
    assert kinds == ["quarantined", "duplicate_retrieved", "no_overlap"]
    assert result.ties == 0


def test_a_notebook_shows_a_table():
    """HTML with the metric's name."""
    assert "MRR@5" in evaluate(QRELS, RUN, ["RR@5"])._repr_html_()


@settings(deadline=None, max_examples=40)
@given(st.permutations(["q1", "q2", "q3"]), st.permutations(["q1", "q2", "q3"]))
def test_the_order_of_queries_changes_no_value(first, second):
    """Nor that of the run."""
    qrels = {"q1": {"a": 1}, "q2": {"b": 2, "c": 1}, "q3": {"d": 1}}
    run = {"q1": ["x", "a"], "q2": ["c", "b"], "q3": ["d"]}
    found = evaluate({q: qrels[q] for q in first}, {q: run[q] for q in second})
    rows = {row["query_id"]: row for row in found.per_query.to_pylist()}
    expected = {row["query_id"]: row for row in evaluate(qrels, run).per_query.to_pylist()}
    assert rows == expected
    assert [row["query_id"] for row in found.per_query.to_pylist()] == list(first)


@pytest.mark.parametrize(
    "options",
    [{"missing": "drop"}, {"score_order": "dist"}, {"score_precision": "f16"}, {"grades": "any"}],
)
def test_an_option_that_does_not_exist_is_refused(options):
    """Never a silent default; the words that exist are named."""
    (name,) = options
    with pytest.raises(UsageError, match=f"evaluate: {name} is .*; it must be '"):
        evaluate({"q": ["a"]}, {"q": ["a"]}, "RR@5", **options)


def test_negative_and_large_grades_are_told_whatever_they_came_in(tmp_path):
    """From a dict as from a file."""
    (tmp_path / "qrels.txt").write_text("q 0 a -1\nq 0 b 4\n")
    for qrels in ({"q": {"a": -1, "b": 4}}, tmp_path / "qrels.txt"):
        kinds = [fault.kind for fault in evaluate(qrels, {"q": ["a"]}, "RR@5").warnings]
        assert kinds == ["negative_grade", "large_grade"]


def test_whole_number_ids_of_a_table_are_announced():
    """007 would have been lost in them."""
    gold = pa.table({"query_id": [1], "doc_id": [7], "grade": [1]})
    run = pa.table({"query_id": [1], "doc_id": [7], "score": [1.0]})
    found = evaluate(gold, run, "RR@5")
    assert found["RR@5"].mean == 1.0
    assert [fault.kind for fault in found.warnings] == ["number_ids", "number_ids"]


def test_a_single_column_is_no_table():
    """A pandas Series speaks Arrow too, but names no queries."""
    with pytest.raises(DataError, match="qrels: cannot read a Series"):
        evaluate(pd.Series([1, 2]), {"q": ["a"]}, "RR@5")


def test_a_result_prints_as_a_short_table():
    """Names, means and counts, and the first warnings."""
    shown = repr(evaluate({"q": ["a"], "r": ["b"]}, {"q": ["a"]}, "RR@5,Success@1"))
    assert shown.splitlines()[1].split() == ["RR@5", "0.5000", "2", "1", "0", "0"]
    assert "warning: 1 judged query is missing from the run: r" in shown


def test_coverage_without_facets_says_so():
    """Judgments are there, facets are not."""
    assert evaluate({"q": ["a"]}, {"q": ["a"]}, "coverage@5")["coverage@5"].reason == (
        "no judgment names a facet"
    )
