"""Means, gains and the counts behind the verdict."""

from __future__ import annotations

import pytest

from ragnostic.report.measures import gain, page_cutoff, stage_facts
from ragnostic.report.model import build_page
from ragnostic.report.scorebook import ScoreBook

TWO = ("retrieve", "rerank")


def test_a_gain_is_paired_over_queries_with_both_values(make_run):
    """a: .2 → .6, b: .5 → .5, c: 1 → .4, d only before: mean −1/15, one win, tie and loss."""
    before = {"a": 0.2, "b": 0.5, "c": 1.0, "d": 0.9}
    after = {"a": 0.6, "b": 0.5, "c": 0.4, "d": None}
    scores = [(query, "retrieve", "RR@5", value) for query, value in before.items()]
    scores += [(query, "rerank", "RR@5", value) for query, value in after.items()]
    found = gain(ScoreBook(make_run(stages=TWO, scores=scores)), TWO, "RR@5")
    assert found is not None
    assert (found.n, found.wins, found.ties, found.losses) == (3, 1, 1, 1)
    assert found.difference == pytest.approx(-0.2 / 3)


def test_there_is_no_gain_without_pairs(make_run):
    """One stage, or no query with both values."""
    book = ScoreBook(make_run(stages=TWO, scores=[("a", "retrieve", "RR@5", 0.2)]))
    assert gain(book, ("retrieve",), "RR@5") is None
    assert gain(book, TWO, "RR@5") is None


def test_a_run_without_summaries_gets_its_means_from_the_scores(make_run):
    """Mean .5 over two queries, one unscored, and no interval."""
    scores = [("a", "retrieve", "P@5", 0.2), ("b", "retrieve", "P@5", 0.8)]
    run = make_run([{"id": "a"}], scores=[*scores, ("c", "retrieve", "P@5", None)])
    tile = build_page(run).metrics[0].final
    assert (tile.mean, tile.n, tile.unscored) == (0.5, 2, 1)
    assert (tile.low, tile.high) == (None, None)


def test_shown_means_differ_by_the_gain(page):
    """First and final means of a row are over the same queries."""
    for row in page.metrics:
        assert row.gain is not None
        assert row.means[-1] - row.means[0] == pytest.approx(row.gain.difference)


def test_the_cutoff_is_that_of_the_telling_metric_else_top_n_else_ten(make_run):
    """What the reader sees decides what counts as lost."""
    scores = [("a", "retrieve", "nDCG@7", 0.5)]
    for run, expected in (
        (make_run([{"id": "a"}], scores=scores), 7),
        (make_run(meta={"settings": {"rerank": {"top_n": 3}}}), 3),
        (make_run(), 10),
    ):
        assert page_cutoff(run, ScoreBook(run)) == expected


def test_stage_facts_take_what_is_there(make_run):
    """Judged@k of any k, latencies by name, absent counts stay absent."""
    meta = {"stages": {"retrieve": {"Judged@5": 0.25, "latency_ms": {"p95": 12}, "ties": 2}}}
    (facts,) = stage_facts(make_run(meta=meta))
    assert facts.judged == (("Judged@5", 0.25),)
    assert facts.latency == (("p95", 12.0),)
    assert (facts.ties, facts.duplicates) == (2, None)


def test_the_verdict_counts_every_query_once(page):
    """Scored, unanswerable, failed and unscored queries make up the run."""
    verdict = page.verdict
    parts = (verdict.scored, verdict.unanswerable, verdict.failed, verdict.unscored)
    assert sum(parts) == page.header.queries == 60
    assert parts == (55, 3, 1, 1)


def test_the_found_share_equals_the_mean_of_success(page):
    """The headline and the tile say the same."""
    success = next(row for row in page.metrics if row.metric == "Success@5")
    assert success.final.mean == pytest.approx(page.verdict.found / page.verdict.scored)
    assert page.verdict.worst_place == "not_retrieved"


def test_n_is_that_of_the_stage_that_has_a_mean(make_run):
    """A final stage that is too short for the metric leaves the first stage's count."""
    scores = [("a", "retrieve", "R@20", 1.0), ("b", "retrieve", "R@20", 1.0)]
    (row,) = build_page(make_run([{"id": "a"}, {"id": "b"}], stages=TWO, scores=scores)).metrics
    assert (row.means, row.n) == ((1.0, None), 2)
