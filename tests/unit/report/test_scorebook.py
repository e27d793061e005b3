"""Scores are found by stage and metric, and metrics are put in order."""

from __future__ import annotations

import pyarrow as pa

from ragnostic.report.model import RunData
from ragnostic.report.scorebook import MetricName, ScoreBook


def test_a_name_of_another_shape_is_all_family():
    """Nothing is refused: an unknown metric is shown by its name."""
    assert MetricName.of("p95 of something") == MetricName("p95 of something", "p95 of something")
    assert MetricName.of("R(budget=2000)").cutoff is None


def test_metrics_come_as_the_settings_list_them(make_run):
    """The settings' order first, then what else the run has; strangers are left out."""
    meta = {
        "settings": {"score": {"metrics": ["RR@5", "gone@1"]}},
        "stages": {"retrieve": {"metrics": {"P@5": {}, "RR@5": {}}}},
    }
    assert ScoreBook(make_run(meta=meta)).metrics() == ("RR@5", "P@5")


def test_metrics_of_a_run_without_summaries_come_from_the_scores(make_run):
    """The score table alone is enough."""
    run = make_run([{"id": "q"}], scores=[("q", "retrieve", "P@5", 0.4)])
    assert ScoreBook(run).metrics() == ("P@5",)


def test_undefined_and_infinite_values_are_absent(make_run):
    """Null, NaN and infinity are no values."""
    scores = [
        ("a", "retrieve", "P@5", None),
        ("b", "retrieve", "P@5", float("nan")),
        ("c", "retrieve", "P@5", 0.2),
    ]
    book = ScoreBook(make_run([{"id": "a"}], scores=scores))
    assert book.values("retrieve", "P@5") == {"c": 0.2}
    assert book.values("rerank", "P@5") == {}


def test_the_metric_that_spreads_comes_first(make_run):
    """NDCG tells most, unless it is the same for every query."""
    rows = [("a", 1.0, 0.5), ("b", 1.0, 0.25)]
    scores = [
        (query, "retrieve", metric, value)
        for query, ndcg, rr in rows
        for metric, value in (("Success@1", ndcg), ("nDCG@5", ndcg), ("RR@5", rr))
    ]
    book = ScoreBook(make_run([{"id": "a"}, {"id": "b"}], scores=scores))
    assert book.telling("retrieve") == ("RR@5", "nDCG@5", "Success@1")


def test_scores_without_record_ids_or_status_are_keyed_by_query(make_run):
    """A judged run file has no records of its own."""
    run = make_run([{"id": "q"}])
    table = pa.table({"query_id": ["q"], "stage": ["retrieve"], "metric": ["P@5"], "value": [0.5]})
    book = ScoreBook(RunData({}, run.records, run.chunks, table))
    assert book.values("retrieve", "P@5") == {"q": 0.5}
    assert book.statuses("retrieve") == {"q": "ok"}


def test_a_table_of_other_columns_holds_no_scores(make_run):
    """It is not an error: the page has no metrics then."""
    run = make_run([{"id": "q"}])
    book = ScoreBook(RunData({}, run.records, run.chunks, pa.table({"x": [1]})))
    assert book.metrics() == ()
    assert book.values("retrieve", "P@5") == {}
