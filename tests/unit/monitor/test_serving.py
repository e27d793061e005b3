"""Processes that are kept alive, jobs that are run, and what is said of both."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from datetime import UTC, datetime, timedelta

import pytest

from ragnostic.gateway.serve_settings import ServeSettings
from ragnostic.monitor.serving.jobs import Job, Runner, jobs_of, scheduler
from ragnostic.monitor.serving.processes import LONGEST_PAUSE_S, STEADY_S, Process
from ragnostic.monitor.serving.status import Status

PYTHON = (sys.executable, "-c")


def until(true, seconds=30.0):
    """Wait for something that another process does."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def lines():
    """What was said."""
    return []


def process(lines, script, *, name="p", ready=""):
    """A process that runs a script."""
    return Process(name, (*PYTHON, script), {}, lines.append, ready)


def test_it_is_ready_when_it_says_so(lines):
    """Until then it is starting; its lines are passed on with its name."""
    one = process(
        lines, "import time; print('here I am', flush=True); time.sleep(600)", ready="here I am"
    )
    one.start(0.0)
    assert one.state in {"starting", "running"}
    until(lambda: one.state == "running" or one.wait(0.0))
    until(lambda: lines)
    assert lines[0] == "p: here I am"
    one.kill()


def test_a_process_that_dies_is_started_again_after_longer_and_longer_pauses(lines):
    """One second, two, four, up to a minute; one that ran for long begins anew."""
    one = process(lines, "raise SystemExit(3)")
    now, pauses = 0.0, []
    one.start(now)
    for _ in range(8):
        until(lambda: one._child.poll() is not None)
        one._pump.join()
        one.look(now)
        assert (one.state, one.last_exit) == ("waiting", 3)
        pauses.append(one._due - now)
        one.look(one._due - 0.01)
        assert one.state == "waiting"
        now = one._due
        one.look(now)
    assert pauses == [1, 2, 4, 8, 16, 32, LONGEST_PAUSE_S, LONGEST_PAUSE_S]
    assert one.restarts == 8
    until(lambda: one._child.poll() is not None)
    one._pump.join()
    one.look(now + STEADY_S)
    assert one._due == now + STEADY_S + 1
    assert "ended with 3; started again in 1 s" in lines[-1]


def test_who_is_stopped_is_not_started_again(lines):
    """By SIGTERM first, and at last by SIGKILL with all that it started."""
    deaf = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "print('deaf', flush=True); time.sleep(600)"
    )
    one = process(lines, deaf, ready="deaf")
    one.start(0.0)
    until(lambda: one.state == "running")
    one.stop()
    assert not one.wait(0.1)
    one.kill()
    one.look(1e9)
    assert (one.state, one.restarts, one.last_exit) == ("stopped", 0, -9)
    never = process(lines, "")
    assert never.wait(0.0)


def test_a_job_is_run_and_what_it_says_is_kept_short(lines):
    """The last line where it went well, else all; an alert that fires is no failure."""
    runner = Runner({}, lines.append)
    for code in (0, 1, 2):
        runner.run(Job("j", (*PYTHON, f"print('a'); print('b'); raise SystemExit({code})")))
    assert lines == ["j: b", "j: b", "j: failed with 2", "j: a", "j: b"]
    assert (runner.runs["j"].done, runner.runs["j"].failed, runner.runs["j"].code) == (3, 1, 2)
    assert runner.busy == []


def test_after_the_stop_no_job_begins(lines):
    """And those that run are ended."""
    runner = Runner({}, lines.append)
    runner.stop()
    runner.run(Job("j", (*PYTHON, "print('a')")))
    assert lines == []
    assert runner.runs == {}


def test_the_schedule_has_what_the_settings_ask_for():
    """The sentinel and the daily report only where they are set up."""
    paths = {"store": "/s", "sentinel": "/e.toml", "daily": "/d"}
    assert [job.name for job in jobs_of(ServeSettings(), ["r"], paths)] == ["check"]
    settings = ServeSettings(sentinel="e.toml", daily="d", rate=2.0, daily_mail=True)
    found = {job.name: job for job in jobs_of(settings, ["r"], paths)}
    assert list(found) == ["check", "sentinel-hourly", "sentinel-nightly", "daily"]
    assert found["sentinel-hourly"].command == [
        *("r", "sentinel", "--store", "/s", "--config", "/e.toml", "--retrieval"),
        *("--rate", "2", "--queries", "100"),
    ]
    assert found["daily"].command[-1] == "--mail"
    assert found["sentinel-nightly"].hour == 2
    quiet = ServeSettings(sentinel="e.toml", hourly_queries=0, nightly_queries=0, retrieval=False)
    assert [job.name for job in jobs_of(quiet, ["r"], paths)] == ["check"]


def test_the_schedule_is_in_the_zone_of_the_store():
    """Two at night in Shanghai is not two at night in London."""
    jobs = [Job("often", ("true",), minutes=5.0), Job("night", ("true",), hour=2, minute=20)]
    made = scheduler(jobs, Runner({}, print), "Asia/Shanghai")
    made.start(paused=True)
    try:
        due = {job.id: job.next_run_time for job in made.get_jobs()}
        assert due["night"].strftime("%H:%M %z") == "02:20 +0800"
        assert abs(due["often"] - datetime.now(UTC)) < timedelta(minutes=1)
    finally:
        made.shutdown(wait=False)


def answer(status, path, method="GET"):
    """What the port answers: status, headers and body."""
    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": method, "path": path}
    asyncio.run(status(scope, None, send))
    return sent[0]["status"], sent[1]["body"]


def test_the_port_says_how_it_is(lines):
    """Ready only while all processes run; figures of this program beside those of the store."""
    one = process(lines, "")
    runner = Runner({}, lines.append)
    runner.run(Job("check", (*PYTHON, "")))
    due = {"check": datetime(2026, 3, 1, tzinfo=UTC), "daily": None}
    status = Status([one], runner, lambda own: " ".join(f.name for f in own), lambda: due)
    code, body = answer(status, "/readyz")
    assert (code, json.loads(body)["ready"]) == (503, False)
    assert json.loads(body)["jobs"]["check"]["runs"] == 1
    assert json.loads(body)["jobs"]["daily"] == {
        "next": None,
        "runs": 0,
        "failed": 0,
        "last_exit": None,
    }
    assert answer(status, "/healthz") == (200, b'{"alive": true}\n')
    assert answer(status, "/healthz", "HEAD") == (200, b"")
    assert answer(status, "/healthz", "POST")[0] == 405
    assert answer(status, "/x")[0] == 404
    assert b"ragnostic_process_up" in answer(status, "/metrics")[1]
    assert len(status.families()[3].samples) == 1
