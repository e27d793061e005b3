"""The worst queries, and those that moved."""

from __future__ import annotations

import pytest

from ragnostic.report.cases import REST, TOP
from ragnostic.report.model import build_page
from ragnostic.report.picks import MOST_SHOWN

TWO = ("retrieve", "rerank")


def test_the_worst_come_first_and_perfect_ones_not_at_all(page):
    """Ordered by the first metric; nobody with full marks is shown."""
    values = [case.values[0][1] for case in page.worst.cases]
    assert values == sorted(values)
    assert len(page.worst.cases) == 20
    assert page.worst.metrics[0] == "nDCG@5"
    assert (page.worst.unanswerable, page.worst.unscored, page.worst.failed) == (3, 1, 1)


@pytest.mark.parametrize("size", [0, -3])
def test_none_are_shown_when_none_are_asked_for(sample, size):
    """Zero and less mean none."""
    assert build_page(sample, size).worst.cases == ()


def test_ties_go_to_the_one_whose_answer_is_deepest(make_run):
    """Equal scores: not found, then rank 4, then rank 3; then the query id."""
    ids = ["x", "y", "a", "b"]
    queries = [
        {"id": "q1", "gold": {"a": 1}, "retrieve": ids},
        {"id": "q2", "gold": {"b": 1}, "retrieve": ids},
        {"id": "q4", "gold": {"z": 1}, "retrieve": ids},
        {"id": "q3", "gold": {"z": 1}, "retrieve": ids},
    ]
    scores = [(query["id"], "retrieve", "P@2", 0.0) for query in queries]
    cases = build_page(make_run(queries, scores=scores)).worst.cases
    assert [case.query_id for case in cases] == ["q3", "q4", "q2", "q1"]


def test_lists_show_the_top_the_next_ten_and_gold_below(make_run):
    """Of 40 results: 10, then 10 more and the gold one at rank 31, and 19 are only counted."""
    ids = [f"x{at}" for at in range(40)]
    run = make_run(
        [{"id": "q", "gold": {"x30": 1}, "retrieve": ids}],
        scores=[("q", "retrieve", "P@5", 0.0)],
        texts={"x0": "text"},
    )
    (ranking,) = build_page(run).worst.cases[0].rankings
    assert (len(ranking.top), len(ranking.rest), ranking.hidden) == (TOP, REST + 1, 19)
    assert ranking.rest[-1].rank == 31
    assert ranking.rest[-1].relevant
    assert ranking.top[0].passage.text == "text"
    assert ranking.top[1].passage.text is None


def test_a_later_stage_knows_where_a_chunk_came_from(make_run):
    """Rank before is that of the first stage."""
    run = make_run(
        [{"id": "q", "gold": {"a": 1}, "retrieve": ["x", "a"], "rerank": ["a", "x"]}],
        stages=TWO,
        scores=[("q", "retrieve", "RR@5", 0.5), ("q", "rerank", "RR@5", 0.9)],
    )
    page = build_page(run)
    first, final = page.worst.cases[0].rankings
    assert [hit.before for hit in final.top] == [2, 1]
    assert [hit.before for hit in first.top] == [None, None]
    assert page.changes is not None
    assert [change.case.query_id for change in page.changes.helped] == ["q"]
    assert page.changes.hurt == ()


def test_changes_hold_ten_and_count_all(page):
    """Helped most first, hurt most first."""
    changes = page.changes
    assert len(changes.helped) == 10
    assert changes.helped_total > 10
    assert changes.hurt_total == len(changes.hurt)
    gains = [change.after - change.before for change in changes.helped]
    assert gains == sorted(gains, reverse=True)
    assert all(change.after < change.before for change in changes.hurt)


def test_the_expected_answer_is_not_the_given_one(make_run):
    """The evaluation set's answer is a label or a column; ``answer`` is the generator's."""
    query = {"id": "q", "answer": "5", "labels": {"expected_answer": "7"}, "retrieve": ["x"]}
    run = make_run([{**query, "gold": {"a": 1}}], scores=[("q", "retrieve", "P@5", 0.0)])
    (case,) = build_page(run).worst.cases
    assert (case.expected, case.answer) == ("7", "5")


def test_lost_gold_stands_before_found_gold(page):
    """What is missing is seen first."""
    for case in page.worst.cases:
        found = [gold.place == "found" for gold in case.gold]
        assert found == sorted(found)


def test_a_page_shows_a_bounded_number_of_queries(make_run):
    """However many are asked for; the rest are counted."""
    queries = [
        {"id": f"q{at:03}", "gold": {"a": 1}, "retrieve": ["x"]} for at in range(MOST_SHOWN + 5)
    ]
    scores = [(query["id"], "retrieve", "RR@5", 0.0) for query in queries]
    worst = build_page(make_run(queries, scores=scores), 5000).worst
    assert (len(worst.cases), worst.imperfect) == (MOST_SHOWN, MOST_SHOWN + 5)
