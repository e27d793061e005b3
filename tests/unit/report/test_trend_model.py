"""From the runs of one evaluation set to their page."""

from __future__ import annotations

import runpy
from dataclasses import replace
from gettext import NullTranslations
from pathlib import Path

import pytest

from ragnostic.report.trend_model import MOST_EASY, MOST_RUNS, build_trend
from ragnostic.report.trend_view import EasyQuery, TrendRun, TrendValue, TrendView, Turn
from ragnostic.report.trend_words import line_summary, trend_headline, turn_sentence

VIEW = runpy.run_path(str(Path(__file__).parent / "comparison_sample.py"))["trend_view"]()
EN = NullTranslations()


@pytest.fixture
def page():
    """The page of five runs."""
    return build_trend(VIEW)


def test_points_have_the_numbers_of_their_runs(page):
    """A run that lacks the metric leaves a gap."""
    assert [point.number for point in page.lines[1].points] == [1, 3, 4, 5]
    assert page.rows[1].values[1] is None


def test_turns_go_up_or_down(page):
    """Marked at the run that they came with, newest first in the table."""
    assert [point.turn for point in page.lines[0].points] == [0, 0, -1, 1, 0]
    assert [(row.turn.run, row.up) for row in page.turns] == [
        ("run-4", True),
        ("run-4", True),
        ("run-3", False),
    ]


def test_a_tie_with_the_best_is_no_new_best():
    """The table marks the oldest of equals, so the headline does not call the latest one best."""
    values = {"RR@5": TrendValue(0.5, 0.4, 0.6, 9)}
    runs = (TrendRun("one", values=values), TrendRun("two", values=values))
    page = build_trend(TrendView("set", ("RR@5",), runs, best={"RR@5": "one"}))
    assert trend_headline(page, EN) == "MRR@5 is 0.500, as good as the best."


def test_the_best_run_is_marked(page):
    """By metric, and in its row."""
    assert page.main.best == 4
    assert page.rows[3].best == {"RR@5", "R@20"}


def test_links_are_relative_and_quoted():
    """A folder may be called anything."""
    run = TrendRun("a", link='a "b" <c>/report.html')
    page = build_trend(TrendView("set", (), (run, TrendRun("b"))))
    assert [row.link for row in page.rows] == ["./a%20%22b%22%20%3Cc%3E/report.html", None]


def test_secrets_in_settings_are_not_shown():
    """Neither before nor after."""
    run = TrendRun("a", settings_changed=(("embed.api_key", "one", "two"),))
    assert build_trend(TrendView("set", (), (run,))).rows[0].changed == (
        ("embed.api_key", "•••", "•••"),
    )


def test_only_the_latest_runs_are_shown():
    """Older ones are counted; numbers stay."""
    runs = tuple(
        TrendRun(f"run-{number}", values={"RR@5": TrendValue(0.5, 0.4, 0.6, 9)})
        for number in range(MOST_RUNS + 7)
    )
    view = TrendView(
        "set", ("RR@5",), runs, {"RR@5": "run-0"}, (Turn("RR@5", "run-3", 0.1, 0.05, 0.2),)
    )
    page = build_trend(view)
    assert page.hidden == 7
    assert page.rows[0].number == 8
    assert page.turns[0].row is None
    assert page.main.best_point is None
    assert line_summary(page.main, EN) == "latest 0.500"
    assert trend_headline(page, EN) == "MRR@5 is 0.500, the best so far."
    assert turn_sentence(page, EN).startswith("It last turned for the better with run run-3")


def test_easy_queries_are_cut_and_counted():
    """The first hundred."""
    easy = tuple(EasyQuery(f"q{number}", None) for number in range(MOST_EASY + 5))
    page = build_trend(replace(VIEW, easy=easy))
    assert (len(page.easy), page.easy_total) == (MOST_EASY, MOST_EASY + 5)


def test_the_headline_compares_with_the_best(page):
    """In values, not names."""
    assert trend_headline(page, EN) == "MRR@5 is 0.540; it was 0.550 at its best."
    best = build_trend(replace(VIEW, best={"RR@5": "run-5"}))
    assert trend_headline(best, EN) == "MRR@5 is 0.540, the best so far."


def test_one_run_is_no_trend():
    """And none is nothing."""
    one = build_trend(replace(VIEW, runs=VIEW.runs[:1], turns=()))
    assert trend_headline(one, EN) == "MRR@5 is 0.500; a second run makes a trend."
    assert turn_sentence(one, EN) == ""
    none = build_trend(TrendView("set", (), ()))
    assert trend_headline(none, EN) == "No run has a value to show."
    assert turn_sentence(none, EN) == ""


def test_the_last_turn_of_the_main_metric_is_told(page):
    """With its interval where it has one."""
    assert turn_sentence(page, EN) == (
        "It last turned for the better with run 4: +0.130 (95% CI +0.080 to +0.190)."
    )
    fall = replace(VIEW, turns=(Turn("RR@5", "run-3", -0.09, None, None),))
    assert turn_sentence(build_trend(fall), EN) == (
        "It last turned for the worse with run 3: −0.090."
    )
    steady = build_trend(replace(VIEW, turns=()))
    assert turn_sentence(steady, EN).startswith("No run differs")


def test_where_lower_is_better_a_fall_is_good():
    """The sign is turned."""
    runs = tuple(
        TrendRun(name, values={"FalseRetrieval@5": TrendValue(0.5, None, None, 9)})
        for name in ("a", "b")
    )
    view = TrendView(
        "set", ("FalseRetrieval@5",), runs, {}, (Turn("FalseRetrieval@5", "b", -0.2, -0.3, -0.1),)
    )
    page = build_trend(view)
    assert page.turns[0].up
    assert page.main.points[1].turn == 1
