"""``ragnostic export``: what it prints and sends, and what it says where it cannot."""

from __future__ import annotations

import gzip
import json
import runpy
from pathlib import Path

import pytest
import yaml
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from typer.testing import CliRunner

from ragnostic import cli

TESTS = Path(__file__).parents[1]
LOOPBACK = runpy.run_path(str(TESTS / "notify" / "loopback.py"))
served, Said = LOOPBACK["served"], LOOPBACK["Said"]
ROLLED = runpy.run_path(str(TESTS / "monitor" / "rollups" / "test_rolling.py"))
RULES = """
[[rule]]
id = "mrr-low"
metric = "MRR@5"
below = 0.5
runbook = "mrr.md"
[[rule]]
id = "qer-collapse"
enabled = false
"""


def invoke(*arguments, code=0):
    """Run the program and check its exit code."""
    done = CliRunner().invoke(cli.app, ["export", *map(str, arguments)])
    assert done.exit_code == code, (done.stdout, done.stderr, done.exception)
    return done


def groups(*arguments):
    """Groups of the rules by their name."""
    text = invoke("rules", *arguments).stdout
    return {group["name"]: group["rules"] for group in yaml.safe_load(text)["groups"]}


@pytest.fixture
def store(tmp_path):
    """A store with rules of its own and nine records."""
    with ROLLED["CASE"]["case"](tmp_path, ROLLED["SETTINGS"]) as opened:
        ROLLED["work"](opened, range(9))
        opened.state.add({"received": 9, "stored": 9})
    (tmp_path / "alerts.toml").write_text(RULES, encoding="utf-8")
    return tmp_path


def test_rules_are_those_that_are_switched_on(store):
    """Of the store or of another file; addresses and spans as asked for."""
    found = groups("--store", store)
    assert {"mrr-drop", "mrr-low", "ragnostic-itself"} <= set(found)
    assert not {"qer-collapse", "rds-high"} & set(found)
    assert groups("--store", store, "--rules", store / "alerts.toml") == found
    options = ("--settle", "0m", "--runbook-base", "https://w.example")
    *_, alert = groups("--store", store, *options)["mrr-low"]
    assert "for" not in alert
    assert alert["annotations"]["runbook_url"] == "https://w.example/mrr.md"


def test_words_are_of_one_language(store):
    """And all can go by the state of the check."""
    (alert,) = groups("--store", store, "--lang", "zh", "--by-state")["mrr-low"]
    assert alert["annotations"]["summary"] == "MRR@5 告警"


def test_figures_and_alerts_are_printed(store):
    """For the text file collector; the roll-ups are brought up to date first."""
    check = ["alerts", "check", "--store", str(store), "--now", "2026-03-03T01:30:00Z"]
    CliRunner().invoke(cli.app, check)
    text = invoke("prometheus", "--store", store).stdout
    assert 'ragnostic_intake_rows_total{outcome="stored"} 9.0' in text
    assert 'ragnostic_retrieval_duration_seconds_count{judge="answer_span"' in text
    assert 'ragnostic_alert_state{judge="answer_span",rule="mrr-low"' in text


def test_the_dashboard_is_json(store):
    """With the colours of the store."""
    made = json.loads(invoke("grafana", "--store", store, "--lang", "zh").stdout)
    assert made["title"].startswith("Ragnostic 检索")


def test_figures_are_sent_to_a_collector(store, monkeypatch):
    """What it refuses is said; the headers come from the environment."""
    said = ExportMetricsServiceResponse()
    said.partial_success.rejected_data_points = 2
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-team=search")
    with served(lambda _: Said(body=said.SerializeToString())) as server:
        done = invoke("otlp", "--store", store, "--endpoint", server.url)
        (asked,) = server.asked
    assert asked.headers["x-team"] == "search"
    request = ExportMetricsServiceRequest.FromString(gzip.decompress(asked.body))
    metrics = request.resource_metrics[0].scope_metrics[0].metrics
    assert "ragnostic.queue.waiting.records" in {metric.name for metric in metrics}
    assert done.stdout == f"sent {len(metrics)} metrics to {server.url}/v1/metrics\n"
    assert "refused 2 points" in done.stderr
    with served(lambda _: Said()) as server:
        assert invoke("otlp", "--store", store, "--endpoint", server.url).stderr == ""


def test_what_cannot_be_done_is_said(store):
    """Without a traceback."""
    assert "is no store folder" in invoke("rules", "--store", store / "no", code=2).stderr
    assert "--settle: 'x'" in invoke("rules", "--store", store, "--settle", "x", code=2).stderr
    wrong = invoke("otlp", "--store", store, "--endpoint", "localhost:4318", code=2)
    assert "no http or https address" in wrong.stderr
