"""``[[channel]]`` tables: all faults at once with their lines, and who is told of what."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from ragnostic.config.source import read_source
from ragnostic.errors import ConfigError, UsageError
from ragnostic.notify.alertmanager import Alertmanager
from ragnostic.notify.channel import (
    Channel,
    ChannelSettings,
    load_channels,
    no_charts,
    open_channels,
    plan_channels,
)
from ragnostic.notify.mail import Email
from ragnostic.notify.pagerduty import PagerDuty
from ragnostic.notify.webhook import Webhook

LOOPBACK = runpy.run_path(str(Path(__file__).parent / "loopback.py"))
notice, CLOCK = LOOPBACK["notice"], LOOPBACK["SteppedClock"]()
PLUGINS = {
    "alertmanager": Alertmanager,
    "email": Email,
    "pagerduty": PagerDuty,
    "webhook": Webhook,
}
SOUND = """\
[[rule]]
id = "not looked at here"

[[channel]]
name = "ops"
use = "webhook"
severities = ["P0", "P1"]
url_env = "HOOK"
secret_env = "HOOK_SECRET"

[[channel]]
name = "mail"
use = "email"
rules = "mrr-*"
owners = ["search-team", "ops"]
where = {category = ["退款", "物流"], language = "zh"}
host = "mail.example"
sender = "Ragnostic <alerts@example.com>"
to = ["on-call@example.com"]
"""
FAULTY = """\
[[channel]]
use = "webhok"
url_env = "HOOK"

[[channel]]
name = "a"
use = "webhook"
severities = ["P3"]
url = "https://hooks.example/s3cret"

[[channel]]
name = ""
use = "email"
host = "mail.example"
sender = "nobody"
to = []
where = 3

[[channel]]
name = "b"
use = "webhook"
url_env = "HOOK"
timeout_s = 0

[[channel]]
name = "c"
use = "webhook"
url_env = "HOOK"

[[channel]]
name = "c"
use = "pagerduty"
key_env = "KEY"

[[channel]]
name = "d"
use = 3
"""


def find(kind, name):
    """The four channels of this room, as entry points would find them."""
    assert kind == "notifiers"
    if name not in PLUGINS:
        raise UsageError(f"unknown notifier {name!r}", hint="did you mean webhook?")
    return PLUGINS[name]


def planned(tmp_path, text):
    """What a file holds, its faults, and the file."""
    path = tmp_path / "alerts.toml"
    path.write_text(text, encoding="utf-8")
    source = read_source(path, ())
    return *plan_channels(source, find), source


def test_a_file_becomes_channels(tmp_path):
    """Those without faults, in order."""
    plans, faults, source = planned(tmp_path, SOUND)
    assert not faults
    environment = {"HOOK": "https://hooks.example/x", "HOOK_SECRET": "s3cret"}
    channels, faults = open_channels(plans, source, environment, CLOCK)
    assert not faults
    assert [(one.name, type(one.notifier)) for one in channels] == [
        ("ops", Webhook),
        ("mail", Email),
    ]
    assert [one.notifier.name for one in channels] == ["ops", "mail"]


def test_all_faults_are_told_with_their_lines(tmp_path):
    """At once."""
    plans, faults, _ = planned(tmp_path, FAULTY)
    assert len(plans) == 2
    told = [f"{fault.where}: {fault.message}" for fault in faults]
    assert sorted(told, key=lambda line: int(re.search(r":(\d+):", line)[1])) == [
        "alerts.toml:1: channel[0].name is missing",
        "alerts.toml:2: channel[0].use: unknown notifier 'webhok'",
        "alerts.toml:5: channel[1].url_env is missing",
        "alerts.toml:8: channel[1].severities[0] must be 'P0', 'P1' or 'P2', not \"P3\"",
        "alerts.toml:9: unknown key channel[1].url",
        "alerts.toml:12: channel[2].name must not be empty",
        'alerts.toml:15: channel[2].sender must be an e-mail address such as a@b.example, not "nobody"',  # noqa: E501 - a message as it is printed
        "alerts.toml:16: channel[2].to must not be empty, not []",
        "alerts.toml:17: channel[2].where must be a table, not 3",
        "alerts.toml:23: channel[3].timeout_s must be greater than 0, not 0",
        "alerts.toml:31: channel[5].name: 'c' is the name of channel[4] too",
        "alerts.toml:37: channel[6].use must be a string, not 3",
    ]


def test_a_table_in_place_of_tables_is_said(tmp_path):
    """One pair of brackets is easily forgotten."""
    _, faults, _ = planned(tmp_path, '[channel]\nname = "x"\n')
    assert [str(one) for one in faults] == ["alerts.toml:1: channel must be tables: [[channel]]"]


def test_a_variable_that_is_missing_is_a_fault_at_its_line(tmp_path):
    """Each of them."""
    plans, _, source = planned(tmp_path, SOUND)
    channels, faults = open_channels(plans, source, {"HOOK": " "}, CLOCK)
    assert [one.name for one in channels] == ["mail"]
    words = "the environment variable {} is not set or empty"
    assert [f"{one.where}: {one.message}" for one in faults] == [
        "alerts.toml:8: channel[0].url_env: " + words.format("HOOK"),
        "alerts.toml:9: channel[0].secret_env: " + words.format("HOOK_SECRET"),
    ]


def test_an_address_inside_is_a_fault_at_its_line_and_stays_unsaid(tmp_path):
    """When the file is loaded, not when the alert comes."""
    plans, _, source = planned(tmp_path, SOUND)
    environment = {"HOOK": "http://10.0.0.1/s3cret", "HOOK_SECRET": "x"}
    _, faults = open_channels(plans, source, environment, CLOCK)
    words = "channel[0].url_env: the address in HOOK names 10.0.0.1, a private address"
    assert [str(one) for one in faults] == [
        f"alerts.toml:8: {words}; allow_private = true permits it",
    ]


def test_what_a_channel_itself_refuses_is_a_fault_of_its_table(tmp_path):
    """A secret that is none, say."""
    plans, _, source = planned(tmp_path, SOUND)
    environment = {"HOOK": "https://hooks.example/x", "HOOK_SECRET": "whsec_s3cret!"}
    _, faults = open_channels(plans, source, environment, CLOCK)
    words = "channel 'ops': what HOOK_SECRET holds after whsec_ is not base64"
    assert [str(one) for one in faults] == [f"alerts.toml:4: {words}"]


def test_load_channels_raises_all_faults(tmp_path):
    """And has none to give where there is no file."""
    assert load_channels(tmp_path / "none.toml", {}, CLOCK) == []
    path = tmp_path / "alerts.toml"
    path.write_text('[[channel]]\nname = "x"\nuse = "no-such"\n[[channel]]\nuse = 1\n')
    with pytest.raises(ConfigError, match=r"(?s)alerts\.toml:3.*alerts\.toml:4") as raised:
        load_channels(path, {}, CLOCK)
    assert len(raised.value.faults) == 3
    path.write_text("[[rule]]\nid = 3\n")
    assert load_channels(path, {}, CLOCK) == []


@pytest.mark.parametrize(
    ("settings", "changes", "taken"),
    [
        ({}, {}, True),
        ({"severities": ["P0"]}, {}, False),
        ({"severities": ["P0"]}, {"severity": "P0"}, True),
        ({"rules": "mrr-*"}, {}, True),
        ({"rules": ["rcs-*", "qer"]}, {}, False),
        ({"owners": ["search-*"]}, {}, True),
        ({"owners": ["search-team"]}, {"owner": ""}, False),
        ({"where": {"category": "退款"}}, {}, True),
        ({"where": {"category": ["物流", "退款"]}}, {}, True),
        ({"where": {"category": "物流"}}, {}, False),
        ({"where": {"category": "退款", "language": "zh"}}, {}, False),
        ({"where": {"category": "退款"}}, {"slice": {}}, False),
    ],
)
def test_a_notice_goes_where_all_of_it_fits(settings, changes, taken):
    """Severity, rule, owner and slice."""
    chosen = ChannelSettings.model_validate({"name": "x", "use": "webhook", **settings})
    channel = Channel(chosen, Webhook)
    assert channel.takes(notice(**changes)) is taken
    assert no_charts(notice()) == {}
