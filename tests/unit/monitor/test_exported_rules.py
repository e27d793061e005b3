"""The rule file: its words, the alerts on Ragnostic itself, and the stage that a rule means."""

from __future__ import annotations

import runpy
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ragnostic.exporters.prometheus_rules import AlertingRule, rules_text
from ragnostic.monitor.alerts.rule_files import load_rules
from ragnostic.monitor.alerts.rules import Rule
from ragnostic.monitor.exported_promql import alert_name
from ragnostic.monitor.exported_rules import (
    Choices,
    last_stages,
    prometheus_file,
    prometheus_rules,
)
from ragnostic.monitor.rollups.rolling import roll_up

HERE = Path(__file__).parent
CASE = runpy.run_path(str(HERE / "promtool_case.py"))
ROLLED = runpy.run_path(str(HERE / "rollups" / "test_rolling.py"))


def alerts(*made, **choices):
    """Alerts by name."""
    rules = [Rule.model_validate({"metric": "RR@5", "below": 0.5} | one) for one in made]
    groups = prometheus_rules(rules, {}, Choices(**choices))
    found = [rule for group in groups for rule in group.rules]
    return {rule.alert: rule for rule in found if isinstance(rule, AlertingRule)}


@CASE["HAS_PROMTOOL"]
@pytest.mark.parametrize("by_state", [False, True])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_prometheus_accepts_the_shipped_rules(tmp_path, language, by_state):
    """Those that are switched off too, and in both languages."""
    choices = Choices(language, by_state=by_state)
    path = tmp_path / "rules.yml"
    text = prometheus_file(load_rules(None).rules, {"RR@5": "rerank"}, choices)
    path.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [shutil.which("promtool"), "check", "rules", path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


@CASE["HAS_PROMTOOL"]
def test_that_nothing_comes_is_told(tmp_path):
    """Silence is not health: no figures, old ones, and a check that stands still."""
    window = "ragnostic_window_end_timestamp_seconds"
    checked = "ragnostic_alerts_window_end_timestamp_seconds"
    text = prometheus_file([Rule(id="a", metric="RR@5", drop=0.1)], {}, Choices())
    known = [CASE["series"](window, [0] * 60, window=name) for name in ("hour", "day")]
    known.append(CASE["series"](checked, [0] * 60))

    def firing(hour):
        names = {2: [], 4: ["Late"], 51: ["Late", "Late", "Unchecked"]}[hour]
        samples = [
            {"labels": f'{{alertname="Ragnostic{name}"}}', "value": names.count(name)}
            for name in dict.fromkeys(names)
        ]
        expr = 'count by (alertname) (ALERTS{alertstate="firing"})'
        return {"expr": expr, "eval_time": f"{hour}h", "exp_samples": samples}

    code, said = CASE["run"](tmp_path, text, known, promql_expr_test=[*map(firing, (2, 4, 51))])
    assert code == 0, said
    gone = [
        {
            "expr": 'count by (alertname) (ALERTS{alertstate="firing"})',
            "eval_time": "1h",
            "exp_samples": [
                {"labels": f'{{alertname="Ragnostic{name}"}}', "value": 1}
                for name in ("Absent", "Unchecked")
            ],
        }
    ]
    assert CASE["run"](tmp_path, text, [], promql_expr_test=gone)[0] == 0


def test_texts_name_the_page_and_the_cause():
    """In the language asked for, without a word of the other; what is not there is left out."""
    texts = {"zh": "变差", "en": "worse"}
    found = alerts(
        {"id": "a", "summary": texts, "likely_cause": texts, "runbook": "a.md", "owner": "team"},
        {"id": "b", "runbook": "https://wiki.example/b"},
        {"id": "c"},
        language="zh",
        base="https://docs.example/",
    )
    said = found["RagnosticA"].annotations
    assert said["summary"] == "变差"
    assert said["description"].endswith("低于 0.5 时告警。可能原因：变差。")
    assert said["runbook_url"] == "https://docs.example/a.md"
    assert found["RagnosticA"].labels["owner"] == "team"
    assert found["RagnosticB"].annotations["runbook_url"] == "https://wiki.example/b"
    assert found["RagnosticC"].annotations.keys() == {"summary", "description"}


def test_a_description_says_all_that_the_rule_asks():
    """Limit, further conditions, how many windows, and where it ends."""
    more = {"with": [{"metric": "latency:p95", "above": 1.0}], "for": 2, "clear": 0.6}
    share = {"below": None, "drop": 0.25, "relative": True, "against": "last week"}
    found = alerts({"id": "a", **more}, {"id": "b", **share})
    assert (
        found["RagnosticA"]
        .annotations["description"]
        .endswith(
            "Fires below 0.5 while P95 time of a retrieval is above 1 in 2 windows in a row,"
            " ends at 0.6."
        )
    )
    assert (
        found["RagnosticB"]
        .annotations["description"]
        .endswith(
            "changed by {{ $value | humanizePercentage }} against last week."
            " Fires after a fall by more than 25 %."
        )
    )


def test_a_breach_and_an_end_must_last():
    """A window longer for each further one, and until every exporter has gone on."""
    found = alerts({"id": "a", "for": 3}, {"id": "b"}, {"id": "c", "below": None, "drop": 0.1})
    minutes = timedelta(minutes=10)
    assert [found[alert_name(name)].hold for name in "abc"] == [
        timedelta(days=2) + minutes,
        minutes,
        timedelta(),
    ]
    assert {found[alert_name(name)].keep for name in "abc"} == {minutes}


def test_the_stage_of_a_rule_is_the_last_one_of_the_store(tmp_path):
    """What has no rows has none, and then each stage has an alert."""
    with ROLLED["CASE"]["case"](tmp_path, ROLLED["SETTINGS"]) as store:
        ROLLED["work"](store, range(9))
        roll_up(store)
        now = datetime(2026, 3, 3, 1, 30, tzinfo=UTC)
        assert last_stages(store, ["coverage", "RCS@10"], now) == {"coverage": "retrieve"}
    rules = [Rule(id="a", metric="RR@5", below=0.5), Rule(id="b", metric="R@5", below=0.5)]
    first, second, *_ = prometheus_rules(rules, {"RR@5": "rerank"}, Choices())
    assert 'stage="rerank"' in rules_text([first])
    assert "stage=" not in rules_text([second])
