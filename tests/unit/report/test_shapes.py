"""Curves, buckets and slices."""

from __future__ import annotations

import pytest

from ragnostic.report.model import build_page
from ragnostic.report.shapes import MAX_SLICES, SCORE_BUCKETS, SMALL_SLICE, curves


def test_every_query_is_in_one_bucket(page):
    """The bars of a stage add up to its queries."""
    for bars in (page.scores, page.ranks):
        assert bars is not None
        for stage, counts in bars.series:
            assert sum(counts) == (56 if bars is page.scores and stage == "retrieve" else 55)


@pytest.mark.parametrize(
    ("value", "bucket"),
    [(0.0, "0"), (0.1, "0–.2"), (0.2, ".2–.4"), (0.6, ".6–.8"), (0.999, ".8–1"), (1.0, "1")],
)
def test_exact_zero_and_one_stand_alone(make_run, value, bucket):
    """A lost query is not the same as a bad one."""
    bars = build_page(make_run([{"id": "q"}], scores=[("q", "retrieve", "P@5", value)])).scores
    assert bars is not None
    assert bars.series[0][1][SCORE_BUCKETS.index(bucket)] == 1


def test_ranks_past_twenty_get_a_bucket_only_when_there_are_some(make_run):
    """A depth of 20 has no empty bar for 21+."""
    ids = [f"x{at}" for at in range(24)]
    shallow = build_page(make_run([{"id": "q", "gold": {"x3": 1}, "retrieve": ids}])).ranks
    deep = build_page(make_run([{"id": "q", "gold": {"x22": 1}, "retrieve": ids}])).ranks
    assert shallow is not None
    assert deep is not None
    assert "21+" not in shallow.buckets
    assert dict(zip(deep.buckets, deep.series[0][1], strict=True))["21+"] == 1


def test_the_curve_says_where_it_reaches_ninety_percent(make_run):
    """METRICS 3: .2, .3, .3, .3, .5, …, .6 at 10: K90 = K95 = 10, half-life 2."""
    recall = [0.2, 0.3, 0.3, 0.3, 0.5, 0.5, 0.5, 0.5, 0.5, 0.6]
    meta = {"depth": list(range(1, 11)), "recall": recall, "half_life": 2, "plateau": 0}
    (curve,) = curves(make_run(meta={"stages": {"retrieve": {"curve": meta}}}))
    assert (curve.k90, curve.k95, curve.half_life, curve.plateau) == (10, 10, 2, 0)


@pytest.mark.parametrize(
    "meta", [{}, {"depth": 3, "recall": []}, {"depth": [1], "recall": [None]}, {"depth": [1]}]
)
def test_a_curve_without_points_is_absent(make_run, meta):
    """Nothing is drawn for it."""
    assert curves(make_run(meta={"stages": {"retrieve": {"curve": meta}}})) == ()


def test_a_curve_of_zeros_reaches_nothing(make_run):
    """No K90 of a recall that is 0 everywhere."""
    meta = {"stages": {"retrieve": {"curve": {"depth": [1, 2], "recall": [0.0, 0.0]}}}}
    (curve,) = curves(make_run(meta=meta))
    assert (curve.k90, curve.k95) == (None, None)


def test_slices_are_worst_first_and_small_ones_last(page):
    """Each row's mean is over its own queries; the tables are those that the records know."""
    assert [table.column for table in page.slices] == ["category", "language", "length"]
    for table in page.slices:
        keys = [(row.n < SMALL_SLICE, row.means[0]) for row in table.rows]
        assert keys == sorted(keys)
        assert sum(row.n for row in table.rows) == 55


def test_one_value_is_no_slice_and_many_are_cut(make_run):
    """A column that says the same everywhere is not shown; a long one is cut and counted."""
    queries = [{"id": f"q{at}", "category": f"c{at}", "language": "zh"} for at in range(25)]
    scores = [(f"q{at}", "retrieve", "P@5", at / 25) for at in range(24)]
    (table,) = build_page(make_run(queries, scores=scores)).slices
    assert len(table.rows) == MAX_SLICES
    assert table.left_out == 5
