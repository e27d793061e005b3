"""Alert rules as Prometheus has them: checked and tried by its own tool."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from ragnostic.exporters.prometheus_rules import AlertingRule, rules_text
from ragnostic.monitor.alerts.rule_files import load_rules
from ragnostic.monitor.alerts.rules import Rule
from ragnostic.monitor.exported_rules import alert_name, prometheus_rules

PROMTOOL = shutil.which("promtool")
needs_promtool = pytest.mark.skipif(
    PROMTOOL is None, reason="system package prometheus is missing (promtool)"
)
PLACE = 'stage="rerank",judge="answer_span"'


def rules(*made, **more):
    """The groups of some rules."""
    return prometheus_rules([Rule(**one) for one in made], {}, **more)


def alerts(groups):
    """Alerts by name."""
    return {rule.alert: rule for rule in groups[1].rules if isinstance(rule, AlertingRule)}


def series(name, labels, values):
    """A series of promtool: values a step apart."""
    return {"series": f"{name}{{{labels}}}", "values": values}


def of_figure(family, metric, values, *, window="hour", rows="500x200", category="", labelled=True):
    """A figure and the rows that it is over."""
    place = f'{PLACE},window="{window}",category="{category}"'
    own = f'metric="{metric}",' if labelled else ""
    rows_of = f'metric="{metric}",{place}'
    return [
        series(family, own + place, values),
        series("ragnostic_figure_rows", rows_of, rows),
    ]


def tried(tmp_path, groups, inputs, expected, *, step=60):
    """Let promtool run the rules over inputs; ``expected``: (alert, step) → labels of what fires;
    a step has so many minutes.

    Fails with what promtool says.
    """
    (tmp_path / "rules.yml").write_text(rules_text(groups), encoding="utf-8")
    test = {
        "interval": f"{step}m",
        "input_series": inputs,
        "alert_rule_test": [
            {
                "eval_time": f"{number * step}m",
                "alertname": name,
                "exp_alerts": [{"exp_labels": labels} for labels in fires],
            }
            for (name, number), fires in expected.items()
        ],
    }
    document = {"rule_files": ["rules.yml"], "evaluation_interval": f"{step}m", "tests": [test]}
    (tmp_path / "test.yml").write_text(json.dumps(document), encoding="utf-8")
    command = [PROMTOOL, "test", "rules", "test.yml"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def bare(groups):
    """The same without annotations, which promtool would compare too."""
    return [
        type(group)(
            group.name,
            [
                AlertingRule(one.alert, one.expr, one.hold, one.labels)
                if isinstance(one, AlertingRule)
                else one
                for one in group.rules
            ],
        )
        for group in groups
    ]


@needs_promtool
@pytest.mark.parametrize("language", ["en", "zh"])
def test_prometheus_accepts_the_shipped_rules(tmp_path, language):
    """Those that are switched off too, and in both languages."""
    groups = prometheus_rules(load_rules(None).rules, {"RR@5": "rerank"}, language=language)
    path = tmp_path / "rules.yml"
    path.write_text(rules_text(groups), encoding="utf-8")
    done = subprocess.run(
        [PROMTOOL, "check", "rules", path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@needs_promtool
def test_a_limit_for_two_windows(tmp_path):
    """It fires in the second hour below, not at the limit itself, and not with few rows."""
    groups = rules(
        {"id": "low", "metric": "RCS@10", "window": "hour", "below": 0.65, "for": 2,
         "min_samples": 50}
    )  # fmt: skip
    family, name = "ragnostic_rerank_consistency_ratio", "RagnosticLow"
    fires = [{"severity": "P2", "rule": "low", "metric": "RCS@10", "stage": "rerank",
              "judge": "answer_span", "window": "hour"}]  # fmt: skip
    inputs = of_figure(family, "RCS@10", "0.65 0.6 0.6 0.9 0.6")
    expected = {(name, 0): [], (name, 1): [], (name, 2): fires, (name, 3): [], (name, 4): []}
    tried(tmp_path, bare(groups), inputs, expected)
    few = of_figure(family, "RCS@10", "0.6x5", rows="49x5")
    tried(tmp_path, bare(groups), few, {(name, 3): []})


@needs_promtool
def test_a_second_condition_must_hold_too(tmp_path):
    """Little of use, and slow."""
    groups = rules(
        {"id": "slow", "metric": "QER@5", "window": "hour", "below": 3.0,
         "with": ({"metric": "latency:p95", "above": 1.0},)}
    )  # fmt: skip
    wait = f'percentile="95",{PLACE},window="hour",category=""'
    inputs = [
        *of_figure("ragnostic_query_efficiency_chunks_per_second", "QER@5", "2 2", labelled=False),
        series("ragnostic_retrieval_wait_seconds", wait, "0.5 1.5"),
    ]
    fires = [{"severity": "P2", "rule": "slow", "stage": "rerank", "judge": "answer_span",
              "window": "hour"}]  # fmt: skip
    name = "RagnosticSlow"
    tried(tmp_path, bare(groups), inputs, {(name, 0): [], (name, 1): fires})


@needs_promtool
def test_a_fall_against_the_baseline_and_against_yesterday(tmp_path):
    """The baseline is the one that Ragnostic learned; yesterday is a day before."""
    groups = rules(
        {"id": "base", "metric": "RR@5", "drop": 0.1},
        {"id": "day", "metric": "RR@5", "drop": 0.2, "against": "yesterday", "relative": True},
    )
    inputs = [
        *of_figure("ragnostic_relevance_ratio", "RR@5", "0.8x23 0.65x24", window="day"),
        series("ragnostic_alert_reference", f'rule="base",{PLACE},category=""', "0.8x48"),
    ]
    fires = {"severity": "P2", "stage": "rerank", "judge": "answer_span"}
    tried(
        tmp_path,
        bare(groups),
        inputs,
        {
            ("RagnosticBase", 10): [],
            ("RagnosticBase", 30): [fires | {"rule": "base"}],
            ("RagnosticDay", 30): [],
        },
    )
    lower = of_figure("ragnostic_relevance_ratio", "RR@5", "0.8x23 0.6x24", window="day")
    tried(tmp_path, bare(groups), lower, {("RagnosticDay", 30): [fires | {"rule": "day"}]})


@needs_promtool
def test_it_ends_only_at_its_clear_value(tmp_path):
    """Between the limit and that it goes on, if it was there."""
    groups = rules({"id": "low", "metric": "RR@5", "window": "hour", "below": 0.6, "clear": 0.7})
    inputs = of_figure("ragnostic_relevance_ratio", "RR@5", "0.65 0.5 0.65 0.65 0.75 0.65")
    fires = [{"severity": "P2", "rule": "low", "metric": "RR@5", "stage": "rerank",
              "judge": "answer_span", "window": "hour"}]  # fmt: skip
    name = "RagnosticLow"
    expected = {(name, 0): [], (name, 1): fires, (name, 3): fires, (name, 4): [], (name, 5): []}
    tried(tmp_path, bare(groups), inputs, expected, step=4)


@needs_promtool
def test_what_promql_cannot_say_fires_with_ragnostic(tmp_path):
    """Changes beyond their interval, slices that are not exported."""
    groups = rules(
        {"id": "beyond", "metric": "RR@5", "drop": 0.1, "beyond_interval": True},
        {"id": "model", "metric": "RR@5", "below": 0.5, "slice": "model_version"},
        {"id": "far", "metric": "latency:p80", "above": 2.0},
    )
    assert groups[0].rules[0].record == "ragnostic:relevance_ratio:avg7d"
    labels = f'rule="model",{PLACE},severity="P2",slice="model_version=m2"'
    inputs = [series("ragnostic_alert_state", labels, "0 1 2")]
    fires = [{"severity": "P2", "rule": "model", "stage": "rerank", "judge": "answer_span",
              "slice": "model_version=m2"}]  # fmt: skip
    name = "RagnosticModel"
    tried(tmp_path, bare(groups), inputs, {(name, 1): [], (name, 2): fires})


@needs_promtool
def test_a_category_has_an_alert_of_its_own(tmp_path):
    """And the whole is not among them."""
    groups = rules(
        {"id": "each", "metric": "RR@5", "window": "hour", "below": 0.6, "slice": "category"},
        {"id": "one", "metric": "RR@5", "window": "hour", "below": 0.6,
         "where": {"category": "billing"}},
    )  # fmt: skip
    family = "ragnostic_relevance_ratio"
    inputs = [
        *of_figure(family, "RR@5", "0.5"),
        *of_figure(family, "RR@5", "0.5", category="billing"),
        *of_figure(family, "RR@5", "0.5", category="sales"),
    ]
    common = {"severity": "P2", "metric": "RR@5", "stage": "rerank", "judge": "answer_span",
              "window": "hour"}  # fmt: skip
    each = [common | {"rule": "each", "category": name} for name in ("billing", "sales")]
    expected = {
        (alert_name("each"), 0): each,
        (alert_name("one"), 0): [common | {"rule": "one", "category": "billing"}],
    }
    tried(tmp_path, bare(groups), inputs, expected)


@needs_promtool
def test_that_nothing_comes_is_told(tmp_path):
    """Silence is not health."""
    groups = rules()
    tried(
        tmp_path,
        bare(groups),
        [series("up", "", "1x3")],
        {("RagnosticAbsent", 2): [{"severity": "P1"}]},
    )


def test_texts_name_the_page_and_the_cause():
    """In the language asked for; what is not there is left out."""
    texts = {"zh": "变差", "en": "worse"}
    groups = rules(
        {"id": "a", "metric": "RR@5", "below": 0.5, "summary": texts, "likely_cause": texts,
         "runbook": "a.md", "owner": "team"},
        {"id": "b", "metric": "RR@5", "below": 0.5},
        language="zh",
        base="https://docs.example/",
    )  # fmt: skip
    found = alerts(groups)
    said = found["RagnosticA"].annotations
    assert (said["summary"], said["likely_cause"]) == ("变差", "变差")
    assert said["runbook_url"] == "https://docs.example/a.md"
    assert found["RagnosticA"].labels["owner"] == "team"
    assert found["RagnosticB"].annotations.keys() == {"summary", "description"}
