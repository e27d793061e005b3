"""``ragnostic alerts`` over a store with roll-ups: what it prints, and its exit codes."""

from __future__ import annotations

import json
import runpy
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ragnostic import cli
from ragnostic.cli.alerts_options import SystemClock
from ragnostic.monitor.alerts.book import Book
from ragnostic.monitor.alerts.outbox import BookOutbox

TESTS = Path(__file__).parents[1]
CASE = runpy.run_path(str(TESTS / "monitor/alerts/watch_case.py"))
SERVED = runpy.run_path(str(TESTS / "notify/loopback.py"))["served"]
SAID = runpy.run_path(str(TESTS / "notify/loopback.py"))["Said"]
RULES = """
[[rule]]
id = "mrr-low"
metric = "MRR@5"
window = "hour"
below = 0.5
severity = "P1"
slice = "category"
"""
CHANNEL = """
[[channel]]
name = "ops"
use = "webhook"
url_env = "OPS_HOOK"
allow_private = true
"""
NOW = ("--now", "2026-03-02T03:15:00Z")
BACK = ("--now", "2026-03-02T04:15:00Z")


def invoke(*arguments, code=0):
    """Run the program and check its exit code."""
    done = CliRunner().invoke(cli.app, ["alerts", *map(str, arguments)])
    assert done.exit_code == code, (done.stdout, done.stderr, done.exception)
    return done


def as_json(*arguments, code=0):
    """What it prints with ``--json``."""
    return json.loads(invoke(*arguments, "--json", code=code).stdout)


@pytest.fixture
def store(tmp_path, monkeypatch):
    """Three hours of two categories; one of them goes bad in the last hour, and recovers."""
    monkeypatch.setenv("USER", "li")
    (tmp_path / "store.toml").write_text('[store]\nzone = "UTC"\n', encoding="utf-8")
    (tmp_path / "alerts.toml").write_text(RULES, encoding="utf-8")
    traffic = CASE["Traffic"](tmp_path)
    traffic.write({0: 0.8, 1: 0.8, 2: 0.4, 3: 0.8}, "RR@5", "category", "退款\x1b[2J")
    traffic.write({0: 0.8, 1: 0.8, 2: 0.8, 3: 0.8}, "RR@5", "category", "vpn")
    return tmp_path


def test_check_says_what_fires_and_exits_with_1(store):
    """In a table without control characters, and as JSON."""
    shown = invoke("check", "--store", store, *NOW, code=1).stdout
    assert "\x1b" not in shown
    assert "mrr-low  P1        category = 退款␛[2J  firing" in shown
    assert "vpn" not in shown
    assert shown.endswith(
        "2 alerts watched, 1 firing; 2 windows looked at; 0 messages, 0 sent, 0 waiting\n"
    )
    again = as_json("check", "--store", store, *NOW, code=1)
    assert (again["firing"], again["watched"], again["evaluated"]) == (1, 2, 0)
    (alert,) = again["alerts"]
    assert alert["slice"] == {"category": "退款\x1b[2J"}
    assert (alert["status"], alert["value"], alert["reference"]) == ("firing", 0.4, 0.5)
    assert alert["since"] == "2026-03-02T02:00:00+00:00"
    later = as_json("check", "--store", store, *BACK)
    assert (later["firing"], later["alerts"][0]["status"]) == (0, "resolved")


def test_messages_go_to_the_channel_once(store, monkeypatch):
    """Beginning and end; what fails waits, and is said."""
    (store / "alerts.toml").write_text(RULES + CHANNEL, encoding="utf-8")
    answers = [500, 200, 200]
    with SERVED(lambda _: SAID(answers.pop(0))) as server:
        monkeypatch.setenv("OPS_HOOK", server.url)
        failed = invoke("check", "--store", store, *NOW, code=1)
        assert "warning: channel ops: not delivered, tried again by a later check" in failed.stderr
        assert "secret-token" not in failed.stderr
        assert "1 message, 0 sent, 1 waiting" in failed.stdout
        with Book(store) as book, book.file.writing() as connection:
            connection.execute("UPDATE parcels SET due = 0")
        assert as_json("check", "--store", store, *NOW, code=1)["sent"] == 1
        end = as_json("check", "--store", store, *BACK)
        assert (end["sent"], end["waiting"]) == (1, 0)
        assert [message["kind"] for message in end["messages"]] == ["resolved"]
        bodies = [json.loads(asked.body) for asked in server.asked[1:]]
    kinds = [body["notices"][0]["kind"] for body in bodies]
    assert kinds == ["firing", "resolved"]


def test_without_sending_no_secret_is_needed(store):
    """The messages wait in the outbox; with it, a missing variable is a fault of the file."""
    (store / "alerts.toml").write_text(RULES + CHANNEL, encoding="utf-8")
    found = as_json("check", "--store", store, *NOW, "--no-send", code=1)
    assert (len(found["messages"]), found["sent"]) == (1, None)
    with Book(store) as book:
        assert len(BookOutbox(book).waiting()) == 1
    failed = invoke("check", "--store", store, *NOW, code=2)
    assert "OPS_HOOK is not set" in failed.stderr


def test_only_one_process_sends_at_a_time(store, monkeypatch):
    """The other one waits for half a minute, and leaves it to a later check."""
    slept = []
    monkeypatch.setattr(SystemClock, "sleep", lambda _, seconds: slept.append(seconds))
    (store / "alerts.toml").write_text(RULES + CHANNEL, encoding="utf-8")
    monkeypatch.setenv("OPS_HOOK", "http://127.0.0.1:9/x")
    with Book(store) as book, book.alone("sending"):
        done = invoke("check", "--store", store, *NOW, code=1)
    assert "another process sends messages for long" in done.stderr
    assert sum(slept) == pytest.approx(30, abs=1)


def test_what_no_channel_takes_is_warned_of(store):
    """Nobody takes silence for health."""
    only_p0 = CHANNEL + 'severities = ["P0"]\n'
    (store / "alerts.toml").write_text(RULES + only_p0, encoding="utf-8")
    done = invoke("check", "--store", store, *NOW, "--no-send", code=1)
    assert "warning: mrr-low: no channel takes this alert" in done.stderr


def test_faults_of_the_file_are_all_told(store):
    """Those of rules and those of channels."""
    path = store / "other.toml"
    path.write_text(RULES.replace("MRR@5", "MRRR@5"), encoding="utf-8")
    done = invoke("check", "--store", store, "--rules", path, code=2)
    assert "other.toml:4: rule[0].metric" in done.stderr
    path.write_text(CHANNEL.replace("webhook", "webhok"), encoding="utf-8")
    done = invoke("check", "--store", store, "--rules", path, "--no-send", code=2)
    assert "other.toml:4: channel[0].use" in done.stderr
    assert "2 hours" in invoke("check", "--store", store, "--lateness", "2 hours", code=2).stderr


def test_list_shows_alerts_history_and_dead_letters(store):
    """One at a time; empty ones in words."""
    assert "no alert is known" in invoke("list", "--store", store).stdout
    assert "no alert fires" in invoke("list", "--store", store, "--firing").stdout
    assert "nothing has happened" in invoke("list", "--store", store, "--history").stdout
    assert "every message was delivered" in invoke("list", "--store", store, "--undelivered").stdout
    (store / "alerts.toml").write_text(RULES + CHANNEL, encoding="utf-8")
    invoke("check", "--store", store, *NOW, "--no-send", code=1)
    shown = invoke("list", "--store", store).stdout
    assert shown.count("mrr-low") == 2
    assert [one["status"] for one in as_json("list", "--store", store)["alerts"]] == [
        "firing",
        "inactive",
    ]
    assert len(as_json("list", "--store", store, "--firing")["alerts"]) == 1
    history = invoke("list", "--store", store, "--history").stdout
    assert "firing  mrr-low" in history
    assert "\x1b" not in history
    (event,) = as_json("list", "--store", store, "--history")["events"]
    assert (event["event"], event["value"], event["n"]) == ("firing", 0.4, 300)
    with Book(store) as book:
        (parcel,) = BookOutbox(book).waiting()
        BookOutbox(book).dead(parcel, 1_772_420_400.0, "HTTP 404\x07")
    letters = invoke("list", "--store", store, "--undelivered").stdout
    assert "HTTP 404␇" in letters
    (letter,) = as_json("list", "--store", store, "--undelivered")["undelivered"]
    assert (letter["channel"], letter["notice"]["rule"]) == ("ops", "mrr-low")
    assert (
        "one at a time" in invoke("list", "--store", store, "--firing", "--history", code=2).stderr
    )


def test_ack_keeps_the_alert_and_notes_who(store):
    """By id or rule; one that does not fire is refused."""
    invoke("check", "--store", store, *NOW, code=1)
    first, second = as_json("list", "--store", store)["alerts"]
    done = invoke("ack", first["id"], "--store", store, "--by", "wu", "--note", "on it")
    assert (
        done.stdout
        == f"mrr-low {first['id']}: acknowledged, firing since 2026-03-02 02:00, by wu\n"
    )
    marks = as_json("list", "--store", store)["alerts"][0]["marks"]
    assert marks == {"acknowledged": "by wu: on it"}
    assert as_json("ack", first["id"], "--store", store)["by"] == "li"
    assert "does not fire" in invoke("ack", second["id"], "--store", store, code=2).stderr
    assert "2 alerts" in invoke("ack", "mrr-low", "--store", store, code=2).stderr
    history = invoke("list", "--store", store, "--history").stdout
    assert "by wu, note on it" in history


def test_who_it_is_has_to_be_known(store, monkeypatch):
    """There is no anonymous acknowledgement."""
    invoke("check", "--store", store, *NOW, code=1)
    monkeypatch.delenv("USER")
    (alert,) = as_json("list", "--store", store, "--firing")["alerts"]
    assert "--by is missing" in invoke("ack", alert["id"], "--store", store, code=2).stderr


def test_closing_by_hand_ends_it(store):
    """The next check tells the others; a rule without a baseline fires again at the next breach."""
    CASE["Traffic"](store).write(dict.fromkeys(range(5), 0.4), "RR@5", "category", "vpn")
    invoke("check", "--store", store, *NOW, code=1)
    (alert,) = as_json("list", "--store", store, "--firing")["alerts"]
    assert invoke("ack", alert["id"], "--store", store, "--close").stdout.endswith(
        ": closed, by li\n"
    )
    same = as_json("check", "--store", store, *NOW)
    assert same["firing"] == 0
    events = [one["event"] for one in as_json("list", "--store", store, "--history")["events"]]
    assert events == ["closed"]
    again = as_json("check", "--store", store, *BACK, code=1)
    assert again["alerts"][0]["episode"] == 2


def test_closing_a_shift_makes_it_the_baseline(store):
    """What is so from now on is no trouble."""
    rules = RULES.replace("below = 0.5", "drop = 0.1\nmin_windows = 2")
    (store / "alerts.toml").write_text(rules, encoding="utf-8")
    levels = {hour: 0.8 if hour < 3 else 0.5 for hour in range(8)}
    CASE["Traffic"](store).write(levels, "RR@5", "category", "vpn")
    invoke("check", "--store", store, "--now", "2026-03-02T06:15:00Z", code=1)
    (alert,) = as_json("list", "--store", store, "--firing")["alerts"]
    done = invoke("ack", alert["id"], "--store", store, "--close")
    assert "closed, with a new baseline" in done.stdout
    later = as_json("check", "--store", store, "--now", "2026-03-02T08:15:00Z")
    assert later["firing"] == 0
    (alert,) = as_json("list", "--store", store)["alerts"]
    assert alert["baseline"] == pytest.approx(0.5)


def test_silences_are_set_listed_and_ended(store):
    """With who, why and until when."""
    assert "nothing is silenced" in invoke("silence", "--store", store, "--list").stdout
    chosen = ("--rule", "mrr-*", "--slice", "category=退款", "--severity", "p1")
    shown = invoke(
        *("silence", "--store", store, *chosen, "--until", "2h", "--reason", "sale\x1b[2J")
    ).stdout
    assert "mrr-*" in shown
    assert "sale␛[2J" in shown
    (one,) = as_json("silence", "--store", store, "--list")["silences"]
    assert (one["severities"], one["slice"], one["by"]) == (["P1"], {"category": "退款"}, "li")
    until = datetime.fromisoformat(one["until"])
    assert timedelta(hours=1) < until - datetime.now(UTC) < timedelta(hours=3)
    assert as_json("silence", "--store", store, "--expire", "1") == {"silences": []}
    assert (
        "no silence 1 holds" in invoke("silence", "--store", store, "--expire", "1", code=2).stderr
    )


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), "--until is missing"),
        (("--until", "2h"), "needs --reason"),
        (("--until", "yesterday", "--reason", "x"), "'yesterday' is no time"),
        (("--until", "2020-01-01", "--reason", "x"), "not after its start"),
        (("--until", "2h", "--reason", "x", "--slice", "category"), "is no slice"),
        (("--until", "2h", "--reason", "x", "--severity", "P9"), "'P9' is none"),
    ],
)
def test_a_silence_that_makes_no_sense_is_refused(store, options, told):
    """Nothing is written."""
    assert told in invoke("silence", "--store", store, *options, code=2).stderr
    assert as_json("silence", "--store", store, "--list") == {"silences": []}


def test_a_channel_can_be_tried(store, monkeypatch):
    """With the least severity that goes there; a failure is exit code 1."""
    answers = [200, 403]
    (store / "alerts.toml").write_text(CHANNEL + 'severities = ["P0", "P1"]\n', encoding="utf-8")
    with SERVED(lambda _: SAID(answers.pop(0))) as server:
        monkeypatch.setenv("OPS_HOOK", server.url)
        assert invoke("test", "ops", "--store", store).stdout == "ops: delivered\n"
        failed = as_json("test", "ops", "--store", store, code=1)
        body = json.loads(server.asked[0].body)
    assert (body["notices"][0]["kind"], body["notices"][0]["severity"]) == ("test", "P1")
    assert failed["delivered"] is False
    assert "403" in failed["reason"]
    missing = invoke("test", "opz", "--store", store, code=2).stderr
    assert "did you mean ops?" in missing
    (store / "alerts.toml").unlink()
    assert "has none" in invoke("test", "ops", "--store", store, code=2).stderr


def test_an_action_can_be_rehearsed(store):
    """What it would do, and what stands in its way; nothing is done."""
    (store / "alerts.toml").write_text(ROLL_BACK + 'command = ["touch", "ran"]\n', encoding="utf-8")
    said = invoke("test", "roll-back", "--action", "--store", store).stdout
    assert said == "roll-back: would do: touch ran\n"
    missing = ROLL_BACK + 'command = ["./no-such"]\n'
    (store / "alerts.toml").write_text(missing, encoding="utf-8")
    assert (
        "no program ./no-such"
        in invoke("test", "roll-back", "--action", "--store", store, code=1).stdout
    )
    found = as_json("test", "roll-back", "--action", "--store", store, code=1)
    assert (found["action"], found["deed"], found["possible"]) == ("roll-back", "./no-such", False)
    unknown = invoke("test", "roll-bak", "--action", "--store", store, code=2).stderr
    assert "did you mean roll-back?" in unknown
    (store / "alerts.toml").unlink()
    assert "has none" in invoke("test", "x", "--action", "--store", store, code=2).stderr
    assert not (store / "ran").exists()


def test_alertmanager_is_told_again_at_each_check(store, monkeypatch):
    """Of each alert by itself, under the same labels; the link of its page goes with it."""
    channel = CHANNEL.replace('"webhook"', '"alertmanager"')
    links = '[links]\npages = "https://rag.example"\n'
    (store / "alerts.toml").write_text(RULES + channel + links, encoding="utf-8")
    with SERVED(lambda _: SAID()) as server:
        monkeypatch.setenv("OPS_HOOK", server.url)
        for _ in range(2):
            invoke("check", "--store", store, *NOW, code=1)
        invoke("check", "--store", store, *BACK)
        bodies = [json.loads(asked.body) for asked in server.asked]
    (first,), (again,), (over,) = bodies
    assert first["labels"] == again["labels"] == over["labels"]
    assert first["generatorURL"].startswith("https://rag.example/alerts/")
    assert first["generatorURL"] == again["generatorURL"] == over["generatorURL"]
    assert first["endsAt"] <= again["endsAt"]
    assert over["endsAt"] < first["endsAt"]


def test_ack_tells_the_channels_that_ask_for_it(store, monkeypatch):
    """The book has it also where none could be told; a webhook does not ask."""
    (store / "alerts.toml").write_text(RULES + CHANNEL, encoding="utf-8")
    invoke("check", "--store", store, *NOW, "--no-send", code=1)
    first = as_json("list", "--store", store)["alerts"][0]
    done = invoke("ack", first["id"], "--store", store)
    assert "no channel was told" in done.stderr
    assert "acknowledged" in done.stdout
    monkeypatch.setenv("OPS_HOOK", "http://127.0.0.1:9/")
    assert "warning" not in invoke("ack", first["id"], "--store", store).stderr


def test_ack_stops_the_telephone(store, monkeypatch):
    """PagerDuty knows the alert by the key of its message, of several slices too."""
    traffic = CASE["Traffic"](store)
    for name in ("a", "b"):
        traffic.write({0: 0.8, 1: 0.8, 2: 0.4}, "RR@5", "category", name)
    pager = (
        '[[channel]]\nname = "phone"\nuse = "pagerduty"\nkey_env = "KEY"\nallow_private = true\n'
    )
    answer = json.dumps({"status": "success", "message": "", "dedup_key": "x"}).encode()
    monkeypatch.setenv("KEY", "0" * 32)
    with SERVED(lambda _: SAID(202, answer)) as server:
        text = RULES + pager + f'url = "{server.url}"\n'
        (store / "alerts.toml").write_text(text, encoding="utf-8")
        invoke("check", "--store", store, *NOW, code=1)
        first = as_json("list", "--store", store, "--firing")["alerts"][0]
        assert "warning" not in invoke("ack", first["id"], "--store", store).stderr
        events = [json.loads(asked.body) for asked in server.asked]
    assert [event["event_action"] for event in events] == ["trigger", "acknowledge"]
    assert events[0]["dedup_key"] == events[1]["dedup_key"]
    assert ":group:" in events[0]["dedup_key"]


def test_backtest_shows_when_it_would_have_fired(store):
    """As tables and as JSON; nothing is written."""
    window = ("--from", "2026-03-02", "--to", "2026-03-02T08:00:00")
    before = {path.name for path in store.iterdir()}
    rules = store / "alerts.toml"
    shown = invoke("backtest", rules, "--store", store, *window).stdout
    (line,) = [line for line in shown.splitlines() if "resolved" in line and "退款" in line]
    assert line.split()[-9:] == [
        *("2026-03-02", "03:10", "2026-03-02", "04:10", "resolved", "0.400", "0.500", "300", "yes")
    ]
    assert shown.endswith("2 messages: 1 firing, 1 resolved\n")
    assert "\x1b" not in shown
    found = as_json("backtest", rules, "--store", store, *window)
    by_rule = {one["rule"]: one for one in found["rules"]}
    assert (by_rule["mrr-low"]["alerts"], by_rule["mrr-low"]["fired"]) == (2, 1)
    assert by_rule["qer-collapse"]["with_data"] == 0
    assert found["episodes"][0]["since"] == "2026-03-02T02:00:00+00:00"
    assert {path.name for path in store.iterdir()} == before
    none = invoke("backtest", "--store", store, *window).stdout
    assert none.endswith("0 messages: –\n")


@pytest.mark.parametrize("command", ["list", "silence", "check"])
def test_a_folder_that_is_no_store_is_refused(tmp_path, command):
    """And nothing is made in it."""
    options = ["--list"] if command == "silence" else []
    assert "is no store folder" in invoke(command, "--store", tmp_path, *options, code=2).stderr
    assert list(tmp_path.iterdir()) == []


ROLL_BACK = RULES + 'actions = ["roll-back"]\n[[action]]\nname = "roll-back"\n'


def test_an_action_is_done_by_the_check_and_listed(store):
    """Once; in the folder of the rules; what it said is kept."""
    text = ROLL_BACK + 'command = ["sh", "-c", "echo rolled back >> ran; echo so it is"]\n'
    (store / "alerts.toml").write_text(text, encoding="utf-8")
    assert "no action was due yet" in invoke("actions", "--store", store).stdout
    said = invoke("check", "--store", store, *NOW, code=1).stdout
    assert "action roll-back (mrr-low): done: so it is" in said
    invoke("check", "--store", store, *NOW, code=1)
    assert (store / "ran").read_text() == "rolled back\n"
    assert "so it is" in invoke("actions", "--store", store).stdout
    (one,) = json.loads(invoke("actions", "--store", store, "--json").stdout)["actions"]
    assert (one["action"], one["status"], one["kind"]) == ("roll-back", "done", "firing")
    assert "no action" in invoke("actions", "--store", store, "--action", "x").stdout


def test_a_dry_check_does_nothing_and_says_what(store):
    """And an action that fails is a warning."""
    text = ROLL_BACK + 'command = ["sh", "-c", "touch ran; exit 3"]\n'
    (store / "alerts.toml").write_text(text, encoding="utf-8")
    said = invoke("check", "--store", store, *NOW, "--no-send", "--json", code=1).stdout
    assert json.loads(said)["ran"] == []
    said = invoke("check", "--store", store, *NOW, "--dry-run", code=1).stdout
    assert "dry run: sh -c touch ran; exit 3" in said
    assert not (store / "ran").exists()


def test_an_action_that_fails_is_a_warning(store):
    """With its exit code."""
    (store / "alerts.toml").write_text(ROLL_BACK + 'command = ["false"]\n', encoding="utf-8")
    said = invoke("check", "--store", store, *NOW, "--json", code=1)
    assert "warning: action roll-back (mrr-low): failed: exit code 1" in said.stderr
    assert [one["status"] for one in json.loads(said.stdout)["ran"]] == ["failed"]
