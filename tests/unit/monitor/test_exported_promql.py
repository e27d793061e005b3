"""Rules in PromQL find what Ragnostic's own check finds: promtool runs them."""

from __future__ import annotations

import random
import runpy
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ragnostic.monitor.alerts.evaluation import evaluate
from ragnostic.monitor.alerts.machine import step
from ragnostic.monitor.alerts.rules import Rule
from ragnostic.monitor.alerts.states import AlertState
from ragnostic.monitor.alerts.terms import terms_of
from ragnostic.monitor.exported_promql import hindrance
from ragnostic.monitor.exported_rules import Choices, prometheus_file
from ragnostic.monitor.rollups.series import Point

CASE = runpy.run_path(str(Path(__file__).parent / "promtool_case.py"))
HOUR = timedelta(hours=1)
START = datetime(2026, 3, 2, tzinfo=UTC)
N = 300
STAGES = {"RR@5": "rerank"}
RATIO, ROWS = "ragnostic_relevance_ratio", "ragnostic_figure_rows"


def rule(**values):
    """A rule on the hours of RR@5."""
    return Rule.model_validate({"id": "a", "metric": "RR@5", "window": "hour"} | values)


RULES = {
    "below": rule(below=0.6),
    "above": rule(above=0.6),
    "clear": rule(below=0.55, clear=0.7),
    "twice": {"for": 2, "below": 0.6, "clear": 0.7},
    "with": rule(below=0.6, **{"with": [{"metric": "R@10", "above": 0.6}]}),
    "with below": rule(above=0.6, **{"with": [{"metric": "R@10", "below": 0.7}]}),
    "yesterday": rule(drop=0.1, against="yesterday", clear=0.05),
    "share of yesterday": rule(rise=0.2, relative=True, against="yesterday"),
    "stage": rule(below=0.6, stage="retrieve"),
}
RULES["twice"] = rule(**RULES["twice"])
LEVELS = (0.5, 0.55, 0.6, 0.65, 0.7, 0.8)


def windows(one, random_):
    """(value, n) of each hour; without gaps where ``for`` counts windows in a row."""
    length = 30 if one.compared_with == "yesterday" else 14
    found = []
    for _ in range(length):
        n = N if one.times > 1 or random_.random() < 0.8 else 20
        gap = one.times == 1 and random_.random() < 0.15
        found.append((None, None) if gap else (random_.choice(LEVELS), n))
    return found


def points(pairs):
    """The same as windows of a series."""
    return [
        Point(START + k * HOUR, START + (k + 1) * HOUR, value, n or 0)
        for k, (value, n) in enumerate(pairs)
    ]


def fired(one, series):
    """After which windows the rule fires, as the state machine has it."""
    state, found = AlertState(), []
    for place in range(len(series[one.metric])):
        seen = {figure: found_[: place + 1] for figure, found_ in series.items()}
        outcome = evaluate(one, seen, None)
        state = step(terms_of(one), state, outcome, outcome.window.end).state
        found.append(state.status == "firing")
    return found


def inputs(instance, metric, stage, pairs):
    """The series of one figure as Prometheus has scraped it."""
    labels = {"instance": instance, "job": "r", "metric": metric, "stage": stage, "judge": "gold"}
    labels["window"] = "hour"
    yield CASE["series"](RATIO, [value for value, _ in pairs], **labels)
    yield CASE["series"](ROWS, [n for _, n in pairs], **labels)


@CASE["HAS_PROMTOOL"]
@pytest.mark.parametrize("name", RULES)
def test_prometheus_fires_when_the_state_machine_does(name, tmp_path):
    """Random hours, with too few rows and without data; another stage goes its own way."""
    one, random_ = RULES[name], random.Random(name)
    given, expected = [], []
    for instance in map(str, range(6)):
        watched = {figure: windows(one, random_) for figure in one.figures}
        for metric, pairs in watched.items():
            own = one.stage or "rerank"
            other = "rerank" if own == "retrieve" else "retrieve"
            given += inputs(instance, metric, own, pairs)
            given += inputs(instance, metric, other, windows(one, random_))
        series = {figure: points(pairs) for figure, pairs in watched.items()}
        expected.append(fired(one, series))
    tests = [
        {
            "expr": 'count by (instance) (ALERTS{alertname="RagnosticA",alertstate="firing"})',
            "eval_time": f"{hour * 60 + 45}m",
            "exp_samples": [
                {"labels": f'{{instance="{instance}"}}', "value": 1}
                for instance, states in enumerate(expected)
                if states[hour]
            ],
        }
        for hour in range(len(expected[0]))
    ]
    assert any(map(any, expected))
    text = prometheus_file([one], STAGES, Choices())
    assert CASE["run"](tmp_path, text, given, promql_expr_test=tests)[0] == 0


@CASE["HAS_PROMTOOL"]
def test_each_category_is_an_alert_and_everything_is_none(tmp_path):
    """A sliced rule looks at categories only; words name the one, whatever it is called."""
    names = ('退"款\n{{ 1 }}', "vpn", "")
    given = [
        CASE["series"](
            family, [value] * 2, category=name, metric="RR@5", window="hour", stage="rerank"
        )
        for name in names
        for family, value in ((RATIO, 0.9 if name == "vpn" else 0.4), (ROWS, N))
    ]
    labels = {"category": names[0], "metric": "RR@5", "window": "hour", "stage": "rerank"}
    words = {
        "summary": "{{ less",
        "description": f"{names[0]}: MRR@5 of the last hour is 0.4. Fires below 0.6.",
        "runbook_url": "https://wiki.example/a/docs/x.md",
    }
    alert = {
        "exp_labels": {**labels, "rule": "a", "severity": "P1", "owner": "li"},
        "exp_annotations": words,
    }
    one = rule(
        below=0.6,
        slice="category",
        severity="P1",
        owner="li",
        summary={"en": "{{ less"},
        runbook="docs/x.md",
    )
    tests = [{"eval_time": "30m", "alertname": "RagnosticA", "exp_alerts": [alert]}]
    text = prometheus_file([one], STAGES, Choices(base="https://wiki.example/a/"))
    assert CASE["run"](tmp_path, text, given, alert_rule_test=tests) == (
        0,
        "Unit Testing:  tests.yml\n  SUCCESS\n\n",
    )
    only = prometheus_file([rule(below=0.6, where={"category": names[0]})], STAGES, Choices())
    count = [
        {"expr": "count(ALERTS)", "eval_time": "30m", "exp_samples": [{"labels": "{}", "value": 1}]}
    ]
    assert (
        CASE["run"](
            tmp_path, only.partition("- name: ragnostic-weeks")[0], given, promql_expr_test=count
        )[0]
        == 0
    )


@CASE["HAS_PROMTOOL"]
def test_a_rule_by_state_says_what_was_found(tmp_path):
    """The value and what it was held against are asked for; a window without them has a dash."""
    known = {"rule": "a", "stage": "rerank", "judge": "", "severity": "P2"}
    given = [
        CASE["series"]("ragnostic_alert_state", [1, 2], **known, slice='category=x"'),
        CASE["series"]("ragnostic_alert_state", [1, 2], **known, slice="category=y"),
        CASE["series"]("ragnostic_alert_value", [0.61, 0.61], **known, slice='category=x"'),
        CASE["series"]("ragnostic_alert_reference", [0.8, 0.8], **known, slice='category=x"'),
    ]
    del known["judge"]
    alerts = [
        {
            "exp_labels": {**known, "slice": f"category={value}", "metric": "RR@5"},
            "exp_annotations": {
                "summary": "MRR@5 告警",
                "description": f"category={value}：最近一小时的 MRR@5 为 {said[0]}，"
                f"对照值为 {said[1]}。降幅超过 0.1 时告警。",
            },
        }
        for value, said in (('x"', ("0.61", "0.8")), ("y", ("–", "–")))
    ]
    tests = [
        {"eval_time": "30m", "alertname": "RagnosticA", "exp_alerts": []},
        {"eval_time": "90m", "alertname": "RagnosticA", "exp_alerts": alerts},
    ]
    text = prometheus_file([rule(drop=0.1, slice="category")], STAGES, Choices("zh"))
    assert CASE["run"](tmp_path, text, given, alert_rule_test=tests)[0] == 0, text


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"below": 0.5, "where": {"category": "a"}}, ""),
        ({"drop": 0.1, "against": "yesterday"}, ""),
        ({"drop": 0.1}, "baseline"),
        ({"drop": 0.1, "against": "yesterday", "beyond_interval": True}, "interval"),
        ({"below": 0.5, "slice": "service"}, "slice"),
        ({"below": 0.5, "where": {"language": "zh"}}, "slice"),
        ({"above": 0.5, "metric": "latency:p97"}, "figure"),
        ({"below": 0.5, "with": [{"metric": "latency:p97", "above": 1.0}]}, "figure"),
    ],
    ids=str,
)
def test_what_promql_cannot_express_goes_by_the_state(values, reason):
    """And the file says why."""
    one = rule(**values)
    assert hindrance(one) == reason
    text = prometheus_file([one], STAGES, Choices())
    assert ("ragnostic_alert_state" in text) == bool(reason)
    assert ("PromQL cannot express" in text) == bool(reason)


def test_all_can_go_by_the_state():
    """Then nothing is recorded, and the check is watched."""
    text = prometheus_file([rule(below=0.5)], STAGES, Choices(by_state=True))
    assert "rule_value" not in text
    assert "PromQL cannot express" not in text
    assert "RagnosticUnchecked" in text
    assert "RagnosticUnchecked" not in prometheus_file([rule(below=0.5)], STAGES, Choices())
