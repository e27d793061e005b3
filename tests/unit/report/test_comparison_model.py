"""From a comparison to its page."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path

import pytest

from ragnostic.report.comparison_model import build_comparison
from ragnostic.report.comparison_ranks import first_ranks, slopes
from ragnostic.stats.comparison import QueryChange

VIEWS = runpy.run_path(str(Path(__file__).parent / "comparison_sample.py"))


@pytest.fixture(scope="module")
def view():
    """Two sample runs compared."""
    return VIEWS["sample_view"]()


@pytest.fixture(scope="module")
def page(view):
    """Their page."""
    return build_comparison(view)


def test_the_first_metric_is_the_main_one(page):
    """It decides the verdict, the cutoff and the list."""
    assert page.main.name == "RR@5"
    assert page.cutoff == 5
    assert [row.name for row in page.metrics.rows] == ["RR@5", "nDCG@5", "Success@5", "R@20"]


def test_every_interval_lies_on_the_axis(page):
    """All spans are shares."""
    for table in (page.metrics, *page.slices):
        for row in table.rows:
            assert 0 <= row.span.low <= row.span.at <= row.span.high <= 1


def test_secrets_are_not_shown(page):
    """A setting that looks like a key by its name."""
    assert ("retrieve.http.api_key", "•••", "•••") in page.settings
    assert ("rerank.use", "–", "embedding") in page.settings


def test_a_listed_query_has_both_rankings_and_its_ranks(page, view):
    """First ranks are those of the rankings at the final stage."""
    assert len(page.queries) == len(view.changes)
    for query in page.queries:
        for side, rank in zip(query.rankings, query.first, strict=True):
            gold = [hit.rank for hit in (*side.top, *side.rest) if hit.relevant]
            assert (min(gold) if gold else None) == rank
        assert query.query
        assert query.opens


def test_a_hit_of_the_candidate_says_where_it_stood_in_the_base(page):
    """Not where it stood at its own first stage."""
    for query in page.queries:
        base, candidate = query.rankings
        known = {hit.passage.id: hit.rank for hit in (*base.top, *base.rest)}
        assert all(hit.before is None for hit in base.top)
        for hit in candidate.top:
            assert hit.before == known.get(hit.passage.id, hit.before)


def test_slopes_count_every_changed_query(page, view):
    """Those that moved, those that stayed, those on paths that are not drawn."""
    moved = sum(count for *_, count in page.slopes.paths)
    assert moved + page.slopes.still + page.slopes.hidden == page.slopes.read == len(view.changes)


def test_values_alone_make_a_page():
    """Numbers and a list without rankings."""
    found = build_comparison(VIEWS["values_view"]({"q1": 1.0, "q2": 0.5}, {"q1": 0.0, "q3": 1.0}))
    assert found.slopes is None
    assert [query.opens for query in found.queries] == [False]
    assert found.only_base.items == ("q2",)
    assert found.only_candidate.items == ("q3",)


def test_one_run_is_enough_for_its_rankings(view):
    """The other side says that there is none."""
    found = build_comparison(VIEWS["sample_view"](base_run=None))
    assert found.slopes is None
    assert found.queries[0].rankings[0] is None
    assert found.queries[0].rankings[1] is not None


def test_a_stage_that_a_run_lacks_gives_no_ranks(view):
    """Only the values then."""
    assert first_ranks(view.base_run, "fusion", ["q001"]) == {}


def test_a_query_without_gold_has_no_first_rank(view):
    """It is not even listed as not found."""
    assert "q018" not in first_ranks(view.base_run, "rerank", ["q018", "q001"])
    assert "q001" in first_ranks(view.base_run, "rerank", ["q018", "q001"])


def test_ranks_that_do_not_move_make_no_slopes(view):
    """A run against itself."""
    same = VIEWS["sample_view"](candidate_run=view.base_run)
    ids = [QueryChange(f"q{number:03}", 0.0, 1.0) for number in range(9)]
    assert slopes(same, ids, 9) is None


def test_the_first_of_repeated_records_is_shown(make_run):
    """A query that was asked twice has one line."""
    run = make_run(
        [
            {"id": "q1", "gold": {"a": 1.0}, "retrieve": ["a"]},
            {"id": "q1", "gold": {"a": 1.0}, "retrieve": ["x", "a"]},
        ]
    )
    assert first_ranks(run, "retrieve", ["q1"]) == {"q1": 1}


def test_long_lists_of_ids_are_cut_and_counted():
    """The first fifty, and how many there are in all."""
    base = {f"q{number:03}": 1.0 for number in range(80)}
    found = build_comparison(VIEWS["values_view"](base, {"q000": 0.5})).only_base
    assert (len(found.items), found.total, found.more) == (50, 79, 29)


def test_where_lower_is_better_a_rise_is_worse():
    """The list and the histogram turn."""
    found = build_comparison(
        VIEWS["values_view"]({"q1": 0.0, "q2": 0.0}, {"q1": 1.0, "q2": 0.0}, "FalseRetrieval@5")
    )
    assert found.queries[0].kinds == ("worse",)
    assert found.histogram.turned
    assert [one.kind for one in found.filters] == ["all", "worse", "better"]


def test_a_column_with_one_value_is_no_slice_table(page, view):
    """It would repeat the mean; categories and languages have several."""
    assert [table.column for table in page.slices] == ["category", "language"]
    assert page.slices[0].small == 1
    slices = view.comparison.slices
    alone = replace(view.comparison, slices={"source": slices["language"][:1]} | slices)
    found = build_comparison(replace(view, comparison=alone))
    assert [table.column for table in found.slices] == ["category", "language"]
