"""The sentences of the comparison page."""

from __future__ import annotations

import runpy
from dataclasses import replace
from gettext import NullTranslations
from pathlib import Path

import pytest

from ragnostic.report import comparison_words as words
from ragnostic.report.catalogue import catalogue
from ragnostic.report.comparison_model import build_comparison
from ragnostic.report.comparison_page import Slopes
from ragnostic.report.gate_remarks import rule_remark
from ragnostic.stats.gates import GateResult, RuleResult

VIEWS = runpy.run_path(str(Path(__file__).parent / "comparison_sample.py"))
EN = NullTranslations()


def page_of(base, candidate):
    """A page of values alone."""
    return build_comparison(VIEWS["values_view"](base, candidate))


def told(page, **members):
    """The page with another main difference."""
    row = page.main
    finding = members.pop("finding", row.finding)
    changed = replace(row, finding=finding, difference=replace(row.difference, **members))
    rows = (changed, *page.metrics.rows[1:])
    return replace(page, main=changed, metrics=replace(page.metrics, rows=rows))


@pytest.fixture(scope="module")
def page():
    """Forty queries, all of them better by a half."""
    ids = [f"q{number:02}" for number in range(40)]
    return page_of(dict.fromkeys(ids, 0.5), dict.fromkeys(ids, 1.0))


@pytest.mark.parametrize(
    ("finding", "start"),
    [
        ("better", "Better: MRR@5 goes from 0.500 to 1.000 (+0.500)."),
        ("worse", "Worse: MRR@5 goes from 0.500 to 1.000 (+0.500)."),
        ("same", "No difference: MRR@5 is 0.500 on both sides, query by query."),
        ("cannot_tell", "Cannot tell: MRR@5 goes from 0.500 to 1.000 (+0.500), which may be"),
    ],
)
def test_the_verdict_is_one_sentence(page, finding, start):
    """What a team lead reads first."""
    assert words.comparison_headline(told(page, finding=finding), EN).startswith(start)


def test_nothing_in_common_is_said():
    """No pair, no verdict, no interval."""
    empty = page_of({"q1": 1.0}, {"q2": 1.0})
    assert words.comparison_headline(empty, EN).startswith("Nothing to compare")
    assert words.interval_sentence(empty, EN) == ""
    assert words.method_sentence(empty, EN) == ""
    assert words.doubt_sentence(replace(empty, main=None), EN) == ""


def test_equal_sides_have_counts_but_no_interval():
    """The point [0, 0] would say nothing."""
    same = page_of({"q1": 0.5}, {"q1": 0.5})
    assert words.interval_sentence(same, EN) == "1 queries: 0 better, 0 worse, 1 equal."


def test_doubt_says_what_the_set_could_have_shown(page):
    """Or why the test disagrees with the interval."""
    doubtful = told(page, finding="cannot_tell", low=-0.1, high=0.2, detectable=0.123)
    assert "0.123 or more" in words.doubt_sentence(doubtful, EN)
    corrected = told(page, finding="cannot_tell", low=0.1, high=0.2, p_holm=0.07)
    assert "p = 0.070 after Holm over 1 metric)" in words.doubt_sentence(corrected, EN)
    unknown = told(page, finding="cannot_tell", low=None, high=None, detectable=None)
    assert words.doubt_sentence(unknown, EN) == ""
    assert words.doubt_sentence(page, EN) == ""


def gate(*verdicts):
    """A gate with these rules."""
    rules = [RuleResult("RR@5 >= 0", one, 0.1, 0.0, 0.2, 9, 0.95) for one in verdicts]
    order = ("FAIL", "INCONCLUSIVE", "PASS")
    return GateResult(min(verdicts, key=order.index), tuple(rules))


@pytest.mark.parametrize(
    ("verdicts", "sentence"),
    [
        (["PASS"], "All rules hold: 1 of 1."),
        (["PASS", "PASS"], "All rules hold: 2 of 2."),
        (["PASS", "FAIL", "INCONCLUSIVE"], "Rules broken: 1 of 3."),
        (["PASS", "INCONCLUSIVE"], "No rule is broken, but 1 of 2 cannot be decided"),
    ],
)
def test_a_gate_is_told_by_its_rules(verdicts, sentence):
    """The worst of them decides."""
    assert words.gate_sentence(gate(*verdicts), EN).startswith(sentence)


def test_a_rule_without_an_interval_has_only_the_remark():
    """The program's own reason stands then."""
    rule = RuleResult("RR@5 >= 0", "INCONCLUSIVE", None, None, None, 0, 0.95, None, "no query")
    assert words.rule_reason(rule, EN) == ""
    assert rule_remark(rule, EN) == "no query"


def test_a_remark_does_not_repeat_the_reason():
    """What both say is said once, in the language of the page."""
    reason = "the interval holds the bound: more queries would tell; failed too: a"
    rule = RuleResult("RR@5 >= 0", "INCONCLUSIVE", 0.0, -0.1, 0.1, 9, 0.95, None, reason)
    assert words.rule_reason(rule, EN).startswith("the interval holds the bound")
    assert rule_remark(rule, EN) == "failed too: a"


@pytest.mark.parametrize(
    ("reason", "remark"),
    [
        ("no query has a value on both sides", "没有一条查询在两边都有分值"),
        ("1 query cannot give an interval", "查询太少，得不出区间：1 条"),
        (
            "hr has the lowest value (−0.1000, n 9: PASS); failed too: a, b and 3 more",
            "hr 的值最低（−0.1000，n 9：PASS）；同样未通过：a, b，另有 3 项",
        ),
        (
            "failed too: a; not judged, fewer than 5 queries: x; y (2)",
            "同样未通过：a；不足 5 条查询、未判定：x; y (2)",
        ),
    ],
)
def test_remarks_are_said_in_the_language_of_the_page(reason, remark):
    """Names of slices stay as they are, their semicolons too."""
    rule = RuleResult("RR@5 >= 0", "INCONCLUSIVE", None, None, None, 0, 0.95, None, reason)
    assert rule_remark(rule, catalogue("zh")) == remark
    if not reason.startswith("1 query"):
        assert rule_remark(rule, EN) == reason


def test_methods_are_named_by_metric_where_they_differ():
    """One footnote, every method."""
    found = page_of({"q1": 1.0, "q2": 0.0}, {"q1": 0.5, "q2": 0.0})
    row = found.main
    rows = [
        replace(row, name=name, difference=replace(row.difference, method=method))
        for name, method in (("RR@5", "bca"), ("AP", "point"), ("P@5", "bca"))
    ]
    many = replace(found, metrics=replace(found.metrics, rows=tuple(rows)))
    sentence = words.method_sentence(many, EN)
    assert "MRR@5, P@5: BCa bootstrap, 10,000 resamples; MAP: a point, since" in sentence
    one = replace(found, metrics=replace(found.metrics, rows=tuple(rows[:1])))
    assert "Interval: BCa bootstrap, 10,000 resamples. p:" in words.method_sentence(one, EN)


def test_only_differences_have_a_sign():
    """Means and shares of lost queries have none."""
    rules = [
        RuleResult(text, "PASS", 0.1, 0.0, 0.2, 9, 0.95)
        for text in ("RR@5 >= 0", "abs:RR@5 >= 0", "lost <= 0.1")
    ]
    assert [words.is_change(rule) for rule in rules] == [True, False, False]


def test_caveats_name_what_was_left_out():
    """Few queries, ids of one side, missing ones, metrics of one side."""
    found = page_of({"q1": 1.0, "q2": 1.0}, {"q1": 0.5, "q3": 1.0})
    lines = words.comparison_caveats(replace(found, unshared=("AP@5",)), EN)
    assert lines == [
        "Only 1 queries are compared: read every number with its interval.",
        "Queries that only the base has, left out: 1.",
        "Queries that only the candidate has, left out: 1.",
        "On one side only, so not compared: MAP@5.",
    ]


def test_queries_without_a_value_on_one_side_are_told():
    """Both sides know them, one has no value."""
    found = page_of({"q1": 1.0, "q2": None}, {"q1": 0.5, "q2": 1.0})
    assert words.comparison_caveats(found, EN)[1:] == [
        "Queries with a value on one side only, left out: 1."
    ]


def test_other_metrics_are_told_by_finding():
    """One sentence over all of them; none where there is one metric."""
    found = build_comparison(VIEWS["sample_view"]())
    assert words.others_sentence(found, EN) == (
        "The other metrics: cannot tell nDCG@5, Success@5, R@20."
    )
    assert words.others_sentence(replace(found, metrics=replace(found.metrics, rows=())), EN) == ""


def test_slices_of_ours_are_words():
    """Lengths, frequencies and languages; other columns as they stand."""
    pairs = [("traffic", "head"), ("traffic", "mid"), ("length", "≥12"), ("category", "hr")]
    assert [words.slice_label(*pair, EN) for pair in pairs] == [
        "frequent",
        "mid",
        "≥12 words",
        "hr",
    ]
    assert words.slice_label("language", "zh", EN) == "Chinese"


def test_slopes_say_what_they_leave_out():
    """Nothing where all is drawn."""
    assert words.slopes_sentence(Slopes((), 0, 0, 3, 3), EN) == ""
    assert words.slopes_sentence(Slopes((), 2, 4, 50, 60), EN) == (
        "first rank unchanged: 2; not drawn: 4; looked at: 50 of 60 changed queries"
    )


def test_a_rank_that_is_not_there_is_none():
    """In words on either side."""
    query = build_comparison(VIEWS["sample_view"]()).queries[0]
    paths = [(1, 5), (1, None), (None, 3), None]
    told_paths = [words.rank_path(replace(query, first=path), EN) for path in paths]
    assert told_paths == ["rank 1 → 5", "rank 1 → none", "none → rank 3", ""]


def test_a_difference_is_coloured_only_where_it_holds():
    """Cannot tell stays grey."""
    findings = ("better", "worse", "same", "cannot_tell")
    assert [words.colour_of(one) for one in findings] == ["up", "down", "even", "even"]


def test_the_method_is_named(page):
    """The interval of equal differences is a point."""
    assert "a point" in words.method_sentence(page, EN)
    bootstrapped = told(page, method="bca")
    assert "BCa" in words.method_sentence(bootstrapped, EN)
    unknown = told(page, method=None)
    assert words.method_sentence(unknown, EN) == ""
