"""The exchange rate of a hand-written run (its numbers are pinned in the golden tests)."""

from __future__ import annotations

import json
import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from ragnostic.report import build_page, render_page, render_run
from ragnostic.report.answer_link import answer_link
from ragnostic.report.answer_tables import join_grades

FOUND = runpy.run_path(str(Path(__file__).parent / "answered_run.py"))
answered_run, ROWS = FOUND["answered_run"], FOUND["ROWS"]


def test_the_numbers_are_those_of_the_rows():
    """Means of the graders, paired by query; the slope is scipy's."""
    link = answer_link(answered_run())
    given = np.array([np.mean(row[4]) for row in ROWS])
    alone = np.array([np.mean(row[5]) for row in ROWS])
    found = link.differences["all"]
    assert (found.candidate, found.base) == pytest.approx((given.mean(), alone.mean()))
    rate = next(one for one in link.exchange if one.metric == "RR@3")
    expected = stats.linregress([row[3] for row in ROWS], given)
    assert rate.slope.value == pytest.approx(expected.slope)
    assert rate.per_step()[0] == pytest.approx(expected.slope / 10)
    assert rate.slope.plain_error == pytest.approx(expected.stderr)


def test_the_telling_queries_are_found():
    """Right retrieval with a wrong answer; a model that knew; a context that harmed."""
    link = answer_link(answered_run())
    assert [case.query_id for case in link.right_but_wrong] == ["q05", "q07"]
    assert [case.query_id for case in link.made_worse] == ["q05"]
    assert [case.query_id for case in link.known_without] == ["q05", "q06"]
    assert link.right_but_wrong[1].first == 3


def test_a_failure_is_counted_and_its_old_grades_are_not_used():
    """The answer that they were given to is gone."""
    link = answer_link(answered_run())
    assert (link.failures, link.stale, link.ungraded) == (1, 2, 0)
    assert link.statuses["without"] == {"ok": 11, "truncated": 1}
    assert link.differences["unanswerable"].n == 0


def test_without_grades_there_are_counts_only():
    """And the report says what comes next."""
    run = answered_run(graded=False)
    link = answer_link(run)
    assert (link.graders, link.exchange, link.ungraded) == ((), (), 23)
    assert link.differences["all"].n == 0
    assert "ragnostic answers sheet" in render_run(run, language="en")
    json.dumps(link.as_json(), allow_nan=False)


def test_a_run_without_answers_has_no_section():
    """Nor an entry in the contents."""
    run = replace(answered_run(), answers=None)
    assert answer_link(run) is None
    assert build_page(run).answers is None
    assert "#answers" not in render_run(run, language="en")


def test_a_part_of_the_queries_may_be_asked():
    """The others are in no list and no mean."""
    run = answered_run()
    part = replace(run, answers=replace(run.answers, answers=run.answers.answers.slice(0, 3)))
    link = answer_link(part)
    assert link.differences["all"].n == 1
    assert link.exchange[0].slope.n == 2
    assert "fewer than 3" in link.exchange[0].slope.reason
    assert "fewer than 3" in render_run(part, language="en")


@pytest.mark.parametrize(
    ("most", "wrong"), [(1, []), (3, ["q05", "q07"]), (5, ["q05", "q07", "q10"])]
)
def test_wrong_is_at_most_a_third_of_the_best_grade(most, wrong):
    """Whatever the scale is."""
    run = answered_run()
    scaled = replace(run, answers=replace(run.answers, max_grade=most))
    found = {case.query_id for case in answer_link(scaled).right_but_wrong}
    assert found == set(wrong)


def test_grades_without_any_answer_are_stale():
    """Nothing is joined by name alone."""
    tables = answered_run().answers
    empty = replace(tables, answers=pa.Table.from_pylist([], tables.answers.schema))
    joined = join_grades(empty)
    assert (joined.rows, joined.grades, joined.stale) == ({}, {}, tables.grades.num_rows)


def test_many_cases_are_cut_on_the_page():
    """Twenty are shown, and how many more there are is said."""
    page = build_page(answered_run(), 0)
    many = replace(page.answers, right_but_wrong=page.answers.right_but_wrong * 11)
    section = render_page(replace(page, answers=many), language="en").partition('id="answers"')[2]
    assert section.partition("</ol>")[0].count("<details>") == 20
    assert "More of this kind: 2" in section
