"""PagerDuty against a server that takes what its documentation says, and no more."""

from __future__ import annotations

import json
import runpy
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.errors import UsageError
from ragnostic.notify.pagerduty import LIMIT_BYTES, LIMIT_KEY, LIMIT_SUMMARY, PagerDuty, dedup_key
from ragnostic.notify.text_limits import utf16_units

LOOPBACK = runpy.run_path(str(Path(__file__).parent / "loopback.py"))
notice, served, Said = (LOOPBACK[name] for name in ("notice", "served", "Said"))
KEY = "0123456789abcdef0123456789abcdef"
KNOWN = {"routing_key", "event_action", "dedup_key", "client", "client_url", "links", "payload"}
PAYLOAD = {
    *("summary", "source", "severity", "timestamp"),
    *("component", "group", "class", "custom_details"),
}


class PagerDutyServer:
    """The rules of the Events API v2; ``alerts`` is what is open, by its key."""

    def __init__(self):
        self.alerts = {}
        self.script = []

    def __call__(self, asked):
        """One event."""
        if self.script:
            return self.script.pop(0)
        errors = self.errors(asked)
        if errors:
            told = {"status": "invalid event", "message": "Event object is invalid"}
            return Said(400, json.dumps({**told, "errors": errors}).encode())
        event = json.loads(asked.body)
        key = event["dedup_key"]
        if event["event_action"] == "trigger":
            self.alerts[key] = event
        elif event["event_action"] == "resolve":
            self.alerts.pop(key, None)
        elif key in self.alerts:
            self.alerts[key]["acknowledged"] = True
        told = {"status": "success", "message": "Event processed", "dedup_key": key}
        return Said(202, json.dumps(told).encode())

    def errors(self, asked):
        """What the documentation does not allow."""
        if len(asked.body) > LIMIT_BYTES:
            return ["too large"]
        event = json.loads(asked.body)
        errors = []
        if len(event.get("routing_key", "")) != 32:
            key = event["routing_key"]
            errors.append(f"Length of 'routing_key' is incorrect (should be 32 characters): {key}")
        if not 0 < utf16_units(event["dedup_key"]) <= LIMIT_KEY:
            errors.append("'dedup_key' is too long")
        if event["event_action"] == "trigger":
            payload = event["payload"]
            assert set(event) <= KNOWN
            assert set(payload) == PAYLOAD
            if not 0 < utf16_units(payload["summary"]) <= LIMIT_SUMMARY:
                errors.append("'payload.summary' is missing or too long")
            if payload["severity"] not in {"critical", "error", "warning", "info"}:
                errors.append("'payload.severity' is invalid")
            if not payload["source"]:
                errors.append("'payload.source' is missing or blank")
            datetime.fromisoformat(payload["timestamp"])
            assert all(link["href"].startswith("https://") for link in event["links"])
        else:
            assert set(event) == {"routing_key", "event_action", "dedup_key"}
        return errors


@pytest.fixture
def vendor():
    """PagerDuty's rules."""
    return PagerDutyServer()


@pytest.fixture
def server(vendor):
    """A server with them."""
    with served(vendor) as running:
        yield running


def channel(server, key=KEY, **options):
    """A channel to it."""
    chosen = PagerDuty.Options(
        key_env="KEY",
        url=f"http://127.0.0.1:{server.port}/v2/enqueue",
        allow_private=True,
        **options,
    )
    return PagerDuty("phone", chosen, {"KEY": key}, LOOPBACK["SteppedClock"]())


def test_an_alert_is_opened_and_closed(vendor, server):
    """By the key of its episode."""
    phone = channel(server, language="en", source="shop-rag")
    assert phone.send([notice(severity="P0")]).delivered
    event = vendor.alerts[notice().key]
    assert event["payload"]["severity"] == "critical"
    assert event["payload"]["source"] == "shop-rag"
    assert event["payload"]["summary"].startswith("[P0] MRR@5 fell")
    assert event["payload"]["component"] == "rerank"
    assert event["payload"]["group"] == "mrr-drop"
    assert event["payload"]["class"] == "RR@5"
    assert event["payload"]["timestamp"] == "2026-01-05T05:00:00.000+00:00"
    assert "退款要几天到账？" in event["payload"]["custom_details"].values()
    assert [link["href"] for link in event["links"]] == [
        "https://wiki.example/mrr",
        "https://rag.example/q?a=1&b=2",
    ]
    assert event["client_url"] == "https://rag.example/q?a=1&b=2"
    assert phone.acknowledge([notice()]).delivered
    assert vendor.alerts[notice().key]["acknowledged"]
    assert phone.send([notice(kind="repeat")]).delivered
    assert len(vendor.alerts) == 1
    assert phone.send([notice(kind="resolved")]).delivered
    assert vendor.alerts == {}


@pytest.mark.parametrize(
    ("changes", "severity"),
    [
        ({"severity": "P0"}, "critical"),
        ({"severity": "P1"}, "error"),
        ({"severity": "P2"}, "warning"),
        ({"severity": "P0", "kind": "test"}, "info"),
    ],
)
def test_a_severity_is_mapped(vendor, server, changes, severity):
    """A test rings nobody out of bed."""
    channel(server).send([notice(**changes)])
    assert vendor.alerts[notice().key]["payload"]["severity"] == severity


def test_a_new_baseline_closes_the_alert(vendor, server):
    """It is the end of the episode."""
    channel(server).send([notice()])
    channel(server).send([notice(kind="rebaselined")])
    assert vendor.alerts == {}


def test_the_worst_is_sent_first_and_the_first_failure_ends_the_sending(vendor, server):
    """What went before may go again."""
    vendor.script = [Said(202, b'{"status": "success"}'), Said(503)]
    notices = [notice(key="c", severity="P2"), notice(key="a", severity="P0"), notice(key="b")]
    delivery = channel(server).send(notices)
    assert (delivery.delivered, delivery.retry_after_s) == (False, 0.0)
    sent = [json.loads(asked.body)["dedup_key"] for asked in server.asked]
    assert sent == ["a", "b"]


@pytest.mark.parametrize("language", ["zh", "en"])
def test_whatever_stands_in_a_notice_it_fits(vendor, server, language):
    """Long and hostile texts, no link, no stage, no value."""
    hostile = LOOPBACK["HOSTILE"]
    given = notice(
        key="键" * 5000,
        value=None,
        reference=None,
        stage="",
        slice={hostile * 100: "🙂" * 5000},
        worst_query="退款" * 100_000,
        summary={language: hostile * 1000},
        likely_cause={language: "🙂" * 5000},
        owner=hostile,
        runbook="javascript:alert(1)",
        link="",
    )
    assert channel(server, language=language).send([given]).delivered
    event = next(iter(vendor.alerts.values()))
    assert "client_url" not in event
    assert event["links"] == []
    assert event["payload"]["component"] == "retrieval"


def test_a_wrong_key_stays_wrong_and_unsaid(server):
    """The reason is PagerDuty's own."""
    delivery = channel(server, "too-short-a-key").send([notice()])
    assert delivery.retry_after_s is None
    assert "Length of 'routing_key' is incorrect" in delivery.reason
    assert "too-short-a-key" not in delivery.reason


@pytest.mark.parametrize(
    ("said", "wait"),
    [
        (Said(429), 120.0),
        (Said(429, b"", {"Retry-After": "7"}), 7.0),
        (Said(500), 0.0),
        (Said(200, b"<html>log in</html>"), 0.0),
        (Said(202, b"<html>log in</html>"), 0.0),
        (Said(202, b'{"status": "invalid event"}'), 0.0),
        (Said(400, b"{}"), None),
    ],
)
def test_only_202_with_its_own_words_is_success(vendor, server, said, wait):
    """A page of somebody else's is not."""
    vendor.script = [said]
    delivery = channel(server).send([notice()])
    assert (delivery.delivered, delivery.retry_after_s) == (False, wait)


def test_nobody_there_is_worth_another_try(server):
    """And is no exception."""
    phone = channel(server)
    server.close()
    delivery = phone.send([notice()])
    assert (delivery.delivered, delivery.retry_after_s) == (False, 0.0)
    server.close = lambda: None


def test_without_its_key_it_is_not_built(server):
    """The message names the variable."""
    with pytest.raises(UsageError, match="KEY, not set or empty"):
        channel(server, "")


@given(st.text(min_size=1, max_size=600))
def test_a_key_fits_and_stays_apart(key):
    """Two long ones with the same beginning are two."""
    assert utf16_units(dedup_key(key)) <= LIMIT_KEY
    assert dedup_key(key + "x" * 300) != dedup_key(key + "x" * 300 + "y")
