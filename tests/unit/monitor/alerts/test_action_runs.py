"""Actions: what is done, once, and what is written down of it."""

from __future__ import annotations

import dataclasses
import json
import runpy
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ragnostic.errors import ConfigError
from ragnostic.monitor.alerts.action_rehearsal import rehearse
from ragnostic.monitor.alerts.action_runs import AUDIT, Setting, run_orders
from ragnostic.monitor.alerts.actions import Action
from ragnostic.monitor.alerts.book import Book, Changes
from ragnostic.monitor.alerts.outbox import Orders
from ragnostic.monitor.alerts.rule_files import load_rules

LOOPBACK = runpy.run_path(str(Path(__file__).parents[2] / "notify" / "loopback.py"))
served, Said, SteppedClock = (LOOPBACK[name] for name in ("served", "Said", "SteppedClock"))
NOTICE = LOOPBACK["NOTICE"]
SAY = (sys.executable, "-c")


@pytest.fixture
def clock():
    """Time that is moved by hand."""
    return SteppedClock()


@pytest.fixture
def book(tmp_path):
    """The book of a store."""
    with Book(tmp_path) as opened:
        yield opened


def order(book, name="do", **changes):
    """Put an order into the book."""
    notice = dataclasses.replace(NOTICE, **changes)
    now = datetime.fromtimestamp(LOOPBACK["NOW"], UTC)
    book.commit(book.read().revision, Changes(orders=[(name, notice)]), now)


def run(book, clock, *actions, environment=None, dry_run=False):
    """Carry out what waits: (status, detail) of each."""
    setting = Setting(book.root, book.root / AUDIT, environment or {}, clock, dry_run)
    return [(one.status, one.detail) for one in run_orders(Orders(book), actions, setting)]


def audit(book):
    """The lines of the audit."""
    text = (book.root / AUDIT).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_a_command_gets_the_alert_as_data(book, clock):
    """In variables and on standard input; nothing of it is a word of a shell."""
    script = (
        "import json, os, sys; told = json.load(sys.stdin);"
        "print(os.environ['RAGNOSTIC_RULE'], os.environ['RAGNOSTIC_KIND'], told['worst_query'],"
        "os.environ['RAGNOSTIC_SLICE'], os.getcwd())"
    )
    order(book, worst_query="$(touch owned) `id`; 退款", slice={"category": "a\0b"})
    ((status, said),) = run(book, clock, Action(name="do", command=(*SAY, script)))
    assert status == "done"
    assert said.startswith(f"{NOTICE.rule} firing $(touch owned) `id`; 退款")
    assert said.endswith(str(book.root))
    assert not (book.root / "owned").exists()


def test_an_order_is_carried_out_once(book, clock):
    """However often it is looked at; the audit has a line for it."""
    action = Action(name="do", command=(*SAY, "open('ran', 'a').write('x')"))
    order(book)
    assert run(book, clock, action) == [("done", "")]
    assert run(book, clock, action) == []
    assert (book.root / "ran").read_text() == "x"
    (line,) = audit(book)
    assert (line["action"], line["status"], line["rule"]) == ("do", "done", NOTICE.rule)


def test_what_a_dead_process_had_begun_is_not_done_again(book, clock):
    """Nobody knows whether it was done."""
    order(book)
    orders = Orders(book)
    orders.begin(orders.waiting()[0])
    ((status, _),) = run(book, clock, Action(name="do", command=(*SAY, "open('ran', 'w')")))
    assert status == "unknown"
    assert not (book.root / "ran").exists()
    assert run(book, clock) == []


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ((*SAY, "import sys; print('no'); sys.exit(3)"), "exit code 3: no"),
        (("/nowhere/program",), "/nowhere/program: [Errno 2]"),
        ((*SAY, "print('x' * 5000); raise SystemExit(1)"), "exit code 1: " + "x" * 1024),
    ],
    ids=["code", "program", "long"],
)
def test_a_command_that_fails_is_said(book, clock, command, said):
    """With its code and the beginning of what it wrote."""
    order(book)
    ((status, detail),) = run(book, clock, Action(name="do", command=command))
    assert status == "failed"
    assert detail.startswith(said)
    assert len(detail) < 1200


def test_a_command_that_takes_too_long_is_ended_with_its_children(book, clock):
    """After its own time."""
    script = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'])"
    slow = (*SAY, "import time; print('begun', flush=True); time.sleep(600)", script)
    order(book)
    ((status, detail),) = run(book, clock, Action(name="do", command=slow, timeout_s=1.5))
    assert (status, detail) == ("failed", "ended after 1.5 s: begun")


def test_a_flag_file_is_there_while_it_fires(book, clock):
    """So that a gateway degrades, and comes back."""
    action = Action(name="do", flag_file="degraded")
    order(book)
    assert run(book, clock, action) == [("done", "degraded is there")]
    assert NOTICE.rule in (book.root / "degraded").read_text()
    order(book, kind="resolved")
    assert run(book, clock, action) == [("done", "degraded is gone")]
    assert not (book.root / "degraded").exists()
    order(book)
    gone = Action(name="do", flag_file="nowhere/degraded")
    assert run(book, clock, gone)[0][0] == "failed"


def test_a_flag_file_stays_for_as_long_as_any_alert_wants_it(book, clock):
    """The end of one alert does not switch off what another one still asks for."""
    action = Action(name="do", flag_file="degraded", cool_down=timedelta(hours=1))
    order(book, key="a:1:1")
    order(book, key="b:2:1")
    assert [status for status, _ in run(book, clock, action)] == ["done", "done"]
    order(book, key="a:1:1", kind="resolved")
    assert run(book, clock, action) == [("done", "degraded stays: 1 other alert still on")]
    assert (book.root / "degraded").exists()
    order(book, key="b:2:1", kind="resolved")
    assert run(book, clock, action) == [("done", "degraded is gone")]
    assert not (book.root / "degraded").exists()
    order(book, key="c:3:1")
    assert run(book, clock, action)[0][0] == "cooling down"


def test_a_webhook_is_called_and_signed(book, clock):
    """As the channel does; what it answers counts."""
    options = {"url_env": "HOOK", "secret_env": "KEY", "allow_private": True}
    action = Action(name="do", webhook=options)
    with served(lambda _: Said()) as server:
        environment = {"HOOK": server.url, "KEY": "s3cret"}
        order(book)
        assert run(book, clock, action, environment=environment) == [("done", "")]
        (asked,) = server.asked
    assert asked.headers["webhook-signature"].startswith("v1,")
    assert json.loads(asked.body)["notices"][0]["rule"] == NOTICE.rule
    order(book)
    assert run(book, clock, action, environment=environment)[0][0] == "failed"
    order(book)
    ((status, detail),) = run(book, clock, action)
    assert (status, "environment variable" in detail) == ("failed", True)


def test_it_acts_only_when_it_should(book, clock):
    """On the beginning unless told otherwise; on an end only where the beginning was acted on."""
    first = Action(name="do", command=("true",))
    order(book, kind="resolved")
    assert run(book, clock, first) == [("skipped", "it does not act on resolved")]
    both = Action(name="do", command=("true",), on=("firing", "resolved"))
    order(book, kind="resolved")
    assert run(book, clock, both) == [("skipped", "the beginning was not acted on")]
    order(book)
    order(book, kind="resolved")
    assert [status for status, _ in run(book, clock, both)] == ["done", "done"]
    order(book, "gone")
    assert run(book, clock, both) == [("skipped", "there is no such action any more")]


def test_a_cool_down_holds_back_other_alerts(book, clock):
    """Only those that begin, and only so long."""
    action = Action(name="do", command=("true",), cool_down=timedelta(hours=1))
    order(book, key="a:1:1")
    assert run(book, clock, action)[0][0] == "done"
    clock.sleep(600)
    order(book, key="b:2:1")
    assert run(book, clock, action) == [("cooling down", "it ran 600 s ago")]
    clock.sleep(3600)
    order(book, key="c:3:1")
    assert run(book, clock, action)[0][0] == "done"


@pytest.mark.parametrize("whole", [True, False])
def test_a_dry_run_writes_down_and_does_nothing(book, clock, whole):
    """Of one action, or of all."""
    action = Action(name="do", command=(*SAY, "open('ran', 'w')"), dry_run=not whole)
    order(book)
    ((status, detail),) = run(book, clock, action, dry_run=whole)
    assert (status, "open('ran'" in detail) == ("dry run", True)
    assert not (book.root / "ran").exists()


def test_the_end_of_a_dry_run_is_dry_or_nothing(book, clock):
    """Nothing was done that could be taken back."""
    action = Action(name="do", command=(*SAY, "open('ran', 'w')"), on=("firing", "resolved"))
    for dry, expected in ((True, "dry run"), (False, "skipped")):
        order(book)
        run(book, clock, action, dry_run=True)
        order(book, kind="resolved")
        assert run(book, clock, action, dry_run=dry)[0][0] == expected
    assert not (book.root / "ran").exists()


def test_the_audit_says_why_and_is_never_behind_the_book(book, clock, monkeypatch):
    """A process that dies between the two leaves a line too many, none too few."""
    order(book, value=float("nan"))

    def dies(*_):
        raise KeyboardInterrupt

    action = Action(name="do", command=(*SAY, "print('so it is')"))
    with monkeypatch.context() as patch:
        patch.setattr(Orders, "finish", dies)
        with pytest.raises(KeyboardInterrupt):
            run(book, clock, action)
    assert [status for status, _ in run(book, clock, action)] == ["unknown"]
    first, second = audit(book)
    assert (first["status"], second["status"]) == ("done", "unknown")
    assert first["order"] == second["order"]
    assert first["detail"] == "so it is"
    assert (first["severity"], first["metric"]) == (NOTICE.severity, NOTICE.metric)
    assert (first["value"], first["reference"]) == (None, NOTICE.reference)


def test_a_rehearsal_says_what_is_missing_and_does_nothing(book, clock):
    """A program, an address, a folder."""
    setting = Setting(book.root, book.root / AUDIT, {"PATH": "/usr/bin:/bin"}, clock)
    program = book.root / "roll-back"
    roll_back = Action(name="a", command=("./roll-back",))
    assert "no program ./roll-back" in rehearse(roll_back, setting)
    program.write_text("#!/bin/sh\ntouch ran\n", encoding="utf-8")
    assert "may be run" in rehearse(roll_back, setting)
    program.chmod(0o755)
    assert rehearse(roll_back, setting) == ""
    assert rehearse(Action(name="a", command=("sh",)), setting) == ""
    assert "HOOK" in rehearse(Action(name="a", webhook={"url_env": "HOOK"}), setting)
    known = Setting(book.root, book.root / AUDIT, {"HOOK": "https://a.example/"}, clock)
    assert rehearse(Action(name="a", webhook={"url_env": "HOOK"}), known) == ""
    assert rehearse(Action(name="a", flag_file="f"), setting) == ""
    assert "not there" in rehearse(Action(name="a", flag_file="nowhere/f"), setting)
    assert {one.name for one in book.root.iterdir() if not one.name.startswith("watch")} == {
        "roll-back"
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('name = "a"', "exactly one of command, webhook and flag_file"),
        ('name = "a"\ncommand = ["x"]\nflag_file = "f"', "exactly one"),
        ('name = "a"\ncommand = []', "exactly one"),
        ('name = "a"\nflag_file = "f"\non = ["never"]', "alerts.toml:4"),
        ('name = "a"\nflag_file = "f"\ncool_down = "soon"', "must be a time such as"),
        ('name = "a"\nflag_fil = "f"', "unknown key action[0].flag_fil"),
        ('name = "a"\nflag_file = "f"\n[[action]]\nname = "a"\nflag_file = "g"', "given twice"),
        ('name = "a"\n[action.webhook]\nurl = "http://x"', "url"),
    ],
    ids=["none", "two", "empty", "on", "time", "key", "twice", "webhook"],
)
def test_a_faulty_action_is_refused_with_its_line(tmp_path, text, said):
    """Before anything is watched."""
    path = tmp_path / "alerts.toml"
    path.write_text(f"[[action]]\n{text}\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_rules(path)
    assert said in str(caught.value)
