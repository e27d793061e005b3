"""The sentences say what the counts say."""

from __future__ import annotations

from gettext import NullTranslations

import pytest

from ragnostic.report.catalogue import catalogue
from ragnostic.report.labels import heading, metric_label, metric_reading
from ragnostic.report.model import build_page
from ragnostic.report.page import GoldRow
from ragnostic.report.words import (
    caveats,
    dangling_sentence,
    first_look,
    gain_sentence,
    gold_path,
    headline,
    tile_note,
    worst_lead,
)

EN = NullTranslations()
TWO = ("retrieve", "rerank")


def two_stages(make_run, before, after):
    """The page of one query that a reranker moved to the top."""
    query = {"id": "q", "gold": {"a": 1}, "retrieve": ["x", "a"], "rerank": ["a", "x"]}
    scores = [("q", "retrieve", "RR@5", before), ("q", "rerank", "RR@5", after)]
    return build_page(make_run([query], stages=TWO, scores=scores))


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (0.5, 1.0, "Reranking lifts MRR@5 from 0.50 to 1.00 (+0.50)."),
        (1.0, 0.5, "Reranking lowers MRR@5 from 1.00 to 0.50 (−0.50)."),
        (0.5, 0.5, "Reranking leaves MRR@5 at 0.50."),
    ],
)
def test_the_gain_is_named_as_what_it_is(make_run, before, after, expected):
    """Lifts, lowers, leaves."""
    assert gain_sentence(two_stages(make_run, before, after), EN) == expected


def test_one_stage_has_a_mean_instead_of_a_gain(make_run):
    """And a stage with a name of its own keeps it."""
    run = make_run(
        [{"id": "q", "gold": {"a": 1}, "fusion": ["a"]}],
        stages=("fusion",),
        scores=[("q", "fusion", "nDCG@5", 0.75)],
    )
    assert gain_sentence(build_page(run), EN) == "nDCG@5 is 0.75."


def test_a_small_set_is_said_to_be_small(make_run):
    """Below 30 scored queries the reader is warned."""
    assert any("Only 1 queries" in line for line in caveats(two_stages(make_run, 0.5, 1.0), EN))


def test_no_loss_is_good_news(make_run):
    """With all gold in the top there is nothing to look for but the order."""
    assert first_look(two_stages(make_run, 0.5, 1.0), EN).startswith("No gold was lost")


def test_nothing_scored_says_so_and_why(make_run):
    """An undefined mean brings its reason."""
    summary = {"mean": None, "n": 0, "reason": "top_k 5 is below 20"}
    meta = {"stages": {"retrieve": {"metrics": {"R@20": summary}}}}
    page = build_page(make_run([{"id": "q", "retrieve": ["a"]}], meta=meta))
    assert headline(page, EN) == "No query could be scored."
    assert first_look(page, EN) == ""
    assert gain_sentence(page, EN) == ""
    assert "R@20: top_k 5 is below 20" in caveats(page, EN)


@pytest.mark.parametrize(
    ("first", "final", "expected"),
    [
        (3, 9, "rank 3 → 9"),
        (4, 4, "rank 4"),
        (None, 4, "rank 4"),
        (2, None, "rank 2 → dropped"),
        (None, None, ""),
    ],
)
def test_the_way_of_gold_is_told_by_its_ranks(first, final, expected):
    """Moved, stayed, dropped, never there."""
    assert gold_path(GoldRow(1.0, "found", first, final, ()), EN) == expected


def test_variants_of_a_metric_have_their_own_words():
    """A budget is not a cutoff; an unknown metric keeps its name and has no reading."""
    assert metric_label("R(budget=2000)", EN) == "Recall at a token budget"
    assert metric_label("RR(weight=soft)@5", EN) == "Weighted reciprocal rank"
    assert metric_label("XYZ@3", EN) == "XYZ@3"
    assert metric_reading("XYZ@3", EN) == ""
    assert "whole list" in metric_reading("P", EN)


def test_headings_without_words_are_shown_as_they_are():
    """A settings section is named, anything else keeps its name."""
    assert heading("settings.chunk", catalogue("zh")) == "设置：chunk"
    assert heading("something", catalogue("zh")) == "something"


@pytest.mark.parametrize(("share", "warned"), [(0.236, True), (0.5, False)])
def test_many_unjudged_results_are_a_warning(make_run, share, warned):
    """By the judged share at the depth nearest the cutoff."""
    meta = {"stages": {"retrieve": {"Judged@5": 0.9, "Judged@10": share}}}
    run = make_run(
        [{"id": "q", "gold": {"a": 1}, "retrieve": ["a"]}],
        scores=[("q", "retrieve", "RR@10", 1.0)],
        meta=meta,
    )
    said = [line for line in caveats(build_page(run), EN) if "have a judgment" in line]
    assert bool(said) is warned
    assert not said or said[0].startswith("Only 24% of the top 10 results have a judgment")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((1.0, 0.5), "first useful passage at about rank 1.3"),
        ((1.0, 0.0), "first useful passage at about rank 2.0"),
        ((0.5, 0.0, 0.0), ""),
    ],
)
def test_reciprocal_rank_is_read_as_a_rank_only_where_most_queries_have_one(
    make_run, values, expected
):
    """1 / 0.75; 1 / 0.5; with a hit for one query of three there is no such reading."""
    scores = [(f"q{at}", "retrieve", "RR@5", value) for at, value in enumerate(values)]
    page = build_page(make_run([{"id": "q0"}], scores=scores))
    assert tile_note(page.metrics[0].final, EN) == expected


def test_the_means_without_dangling_gold_stand_in_the_order_of_the_tables(make_run):
    """run.json sorts its keys, the settings say the order."""
    beside = {"AP": {"mean": 0.5, "n": 1}, "RR@5": {"mean": 1.0, "n": 1}, "R@5": {"mean": None}}
    meta = {
        "settings": {"score": {"metrics": ["RR@5", "AP", "R@5"]}},
        "stages": {"retrieve": {"metrics": {"AP": {}, "R@5": {}, "RR@5": {}}}},
    }
    assert dangling_sentence(build_page(make_run([{"id": "q"}], meta=meta)).losses, EN) == ""
    meta["stages"]["retrieve"]["without_dangling"] = beside
    found = dangling_sentence(build_page(make_run([{"id": "q"}], meta=meta)).losses, EN)
    assert found == "Without gold that is not in the corpus: MRR@5 1.0000, MAP 0.5000"


def test_how_many_queries_are_not_shown_is_said(sample):
    """And where their values are; nothing of it when all are there."""
    page = build_page(sample, 3)
    assert f"shown: 3 of {page.worst.imperfect}." in worst_lead(page.worst, EN)
    assert worst_lead(page.worst, EN).endswith("ragnostic score --per-query.")
    assert "per-query" not in worst_lead(build_page(sample, 200).worst, EN)
