"""Alertmanager against a server that judges alerts as its API v2 does."""

from __future__ import annotations

import json
import re
import runpy
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ragnostic.errors import UsageError
from ragnostic.notify.alertmanager import Alertmanager, labels

LOOPBACK = runpy.run_path(str(Path(__file__).parent / "loopback.py"))
notice, served, Said = (LOOPBACK[name] for name in ("notice", "served", "Said"))
NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
NOW = datetime.fromtimestamp(LOOPBACK["NOW"], UTC)


class AlertmanagerServer:
    """What ``postAlertsHandler`` of Alertmanager does; ``alerts`` by their labels."""

    def __init__(self):
        self.alerts = {}
        self.path = "/api/v2/alerts"

    def __call__(self, asked):
        """All valid alerts of the array are taken."""
        if asked.target != self.path:
            return Said(404)
        if asked.headers["content-type"].partition(";")[0] != "application/json":
            return Said(415)
        faults = []
        for alert in json.loads(asked.body):
            assert set(alert) <= {"labels", "annotations", "startsAt", "endsAt", "generatorURL"}
            starts, ends = (datetime.fromisoformat(alert[key]) for key in ("startsAt", "endsAt"))
            names = [*alert["labels"], *alert["annotations"]]
            if not alert["labels"] or not all(map(NAME.fullmatch, names)):
                faults.append("invalid label set")
            elif ends < starts:
                faults.append("start time must be before end time")
            else:
                self.alerts[tuple(sorted(alert["labels"].items()))] = alert
        return Said(400, json.dumps("; ".join(faults)).encode()) if faults else Said(200)

    def active(self, at):
        """What fires at a moment."""
        return [
            alert for alert in self.alerts.values() if datetime.fromisoformat(alert["endsAt"]) > at
        ]


@pytest.fixture
def rules():
    """Alertmanager's rules."""
    return AlertmanagerServer()


@pytest.fixture
def server(rules):
    """A server with them."""
    with served(rules) as running:
        yield running


def channel(server, path="", clock=None, **options):
    """A channel to it."""
    chosen = Alertmanager.Options(url_env="URL", allow_private=True, **options)
    environment = {"URL": f"http://127.0.0.1:{server.port}{path}", "LOGIN": "Basic dXNlcjpwYXNz"}
    return Alertmanager("am", chosen, environment, clock or LOOPBACK["SteppedClock"]())


def test_an_alert_fires_and_is_over(rules, server):
    """The labels are the same, so it is one alert."""
    am = channel(server, language="en")
    assert am.send([notice()]).delivered
    (alert,) = rules.active(NOW)
    assert alert["labels"] == {
        "alertname": "mrr-drop",
        "job": "ragnostic",
        "severity": "P1",
        "metric": "RR@5",
        "stage": "rerank",
        "owner": "search-team",
        "slice_category": "退款",
    }
    assert alert["startsAt"] == "2026-01-05T05:00:00.000+00:00"
    assert alert["generatorURL"] == "https://rag.example/q?a=1&b=2"
    assert alert["annotations"]["summary"].startswith("[P1] MRR@5 fell")
    assert alert["annotations"]["runbook_url"] == "https://wiki.example/mrr"
    assert alert["annotations"]["worst_query"] == "退款要几天到账？"
    assert alert["annotations"]["value"] == "0.691"
    assert am.send([notice(kind="resolved", value=0.8)]).delivered
    assert rules.active(NOW) == []
    assert len(rules.alerts) == 1


def test_what_fires_is_told_again_and_again(rules, server):
    """Else it is over there after its time; a restart there forgets it until then."""
    clock = LOOPBACK["SteppedClock"]()
    am = channel(server, clock=clock, expires_s=600)
    am.send([notice()])
    assert rules.active(NOW + timedelta(seconds=599))
    assert not rules.active(NOW + timedelta(seconds=601))
    clock.sleep(300)
    rules.alerts.clear()
    assert am.refresh([notice(kind="repeat")]).delivered
    assert rules.active(NOW + timedelta(seconds=899))


def test_a_test_is_told_apart_and_goes_by_itself(rules, server):
    """It is no alert of the rule."""
    channel(server).send([notice(), notice(kind="test")])
    assert len(rules.alerts) == 2
    (left,) = rules.active(NOW + timedelta(seconds=301))
    assert "test" not in left["labels"]


def test_an_end_before_its_beginning_is_not_told(rules, server):
    """Clocks of two machines may differ."""
    early = notice(kind="rebaselined", since=NOW + timedelta(seconds=5))
    assert channel(server).send([early]).delivered


def test_whatever_stands_in_a_notice_it_is_taken(rules, server):
    """Names of labels are made of what they may hold; an address that is none is left out."""
    hostile = LOOPBACK["HOSTILE"]
    given = notice(
        slice={hostile: hostile, "": "x", "empty": ""},
        stage="",
        owner="",
        runbook="",
        link="http://[::1",
        worst_query=hostile,
    )
    assert channel(server).send([given]).delivered
    (alert,) = rules.alerts.values()
    assert "generatorURL" not in alert
    assert "runbook_url" not in alert["annotations"]
    assert "slice_empty" not in labels(given)


@pytest.mark.parametrize("path", ["", "/", "/api/v2/alerts", "/am", "/am/"])
def test_the_address_may_have_a_prefix(rules, server, path):
    """Or be the whole one."""
    rules.path = "/am/api/v2/alerts" if "am" in path else "/api/v2/alerts"
    assert channel(server, path).send([notice()]).delivered


def test_a_login_is_sent_and_never_said(rules, server):
    """It is the whole header."""
    am = channel(server, authorization_env="LOGIN")
    assert am.send([notice()]).delivered
    assert server.asked[0].headers["authorization"] == "Basic dXNlcjpwYXNz"
    server.rule = lambda asked: Said(401, b"bad Basic dXNlcjpwYXNz")
    delivery = am.send([notice()])
    assert delivery.retry_after_s is None
    assert "dXNlcjpwYXNz" not in delivery.reason
    assert "authorization" not in channel(server)._headers


def test_failures_are_told(server):
    """Refused, ill, or away."""
    am = channel(server)
    server.rule = lambda asked: Said(400, b'"invalid label set"')
    assert am.send([notice()]).reason.endswith('answered 400: "invalid label set"')
    server.rule = lambda asked: Said(503)
    assert am.send([notice()]).retry_after_s == 0.0
    server.close()
    assert am.send([notice()]).retry_after_s == 0.0
    server.close = lambda: None


def test_an_address_without_permission_is_refused():
    """When it is built."""
    with pytest.raises(UsageError, match="allow_private"):
        Alertmanager(
            "am",
            Alertmanager.Options(url_env="URL"),
            {"URL": "http://127.0.0.1:9093"},
            LOOPBACK["SteppedClock"](),
        )
