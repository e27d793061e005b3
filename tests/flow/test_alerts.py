"""The watch as people run it: real processes from a log file to a message, killed and raced."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import subprocess
import threading
import time
from pathlib import Path

import pytest

FLOW = Path(__file__).parent
CASE = runpy.run_path(str(FLOW / "live_case.py"))
LOOPBACK = runpy.run_path(str(FLOW.parent / "unit/notify/loopback.py"))
run, as_json, command, write_lines = (
    CASE[name] for name in ("run", "as_json", "command", "write_lines")
)
served, Said = LOOPBACK["served"], LOOPBACK["Said"]
HOSTILE = "第8号规定有几天年假？\x1b]0;owned\x07"
ALERTS = """
[[rule]]
id = "mrr-low"
metric = "MRR@5"
below = 0.7
min_samples = 10
severity = "P1"
owner = "search-team"

[[channel]]
name = "ops"
use = "webhook"
url_env = "OPS_HOOK"
allow_private = true
language = "en"
"""


def log(day: int, places: list[int]) -> list[dict]:
    """A day's log; the right chunk stands at these ranks, counted from 0."""
    rows = []
    for number, place in enumerate(places):
        row = CASE["log_row"](number)
        ids = [one for one in row["retrieve"]["ids"] if one != f"c{number}"]
        ids.insert(place, f"c{number}")
        row |= {"trace_id": f"d{day}-{number}", "ts": f"2026-03-{day:02d}T10:00:{number:02d}+08:00"}
        row["retrieve"] |= {"ids": ids}
        rows.append(row | ({"query": HOSTILE} if place > 5 else {}))
    return rows


@pytest.fixture(scope="module")
def traffic(tmp_path_factory):
    """A store with three days of traffic: good, bad, good again."""
    folder = tmp_path_factory.mktemp("traffic")
    store = folder / "store"
    store.mkdir()
    (store / "store.toml").write_text(CASE["SETTINGS"], encoding="utf-8")
    (store / "alerts.toml").write_text(ALERTS, encoding="utf-8")
    CASE["write_corpus"](folder)
    rows = [*log(1, [0] * 20), *log(2, [1] * 8 + [7] + [1] * 11), *log(3, [0] * 20)]
    write_lines(folder / "log.jsonl", rows)
    run(folder, "snapshot", "chunks.jsonl", "--store", "store")
    run(folder, "ingest", "log.jsonl", "--store", "store")
    run(folder, "work", "--store", "store", "--once")
    return folder


@pytest.fixture
def folder(traffic, tmp_path):
    """The same for each test, of which nothing has been checked yet."""
    return Path(shutil.copytree(traffic, tmp_path / "copy"))


def check(folder: Path, day: int, *options: str, code: int) -> dict:
    """``alerts check`` on the morning of a day."""
    now = f"2026-03-{day:02d}T00:30:00+08:00"
    arguments = ("alerts", "check", "--store", "store", "--now", now, "--json", *options)
    return json.loads(run(folder, *arguments, code=code).stdout)


def test_from_a_log_file_to_a_message(folder, monkeypatch):
    """What a channel gets has the value, the limit and the worst query, made harmless; the end
    comes under the same key. Every further check says nothing.
    """
    with served(lambda _: Said()) as server:
        monkeypatch.setenv("OPS_HOOK", server.url)
        assert check(folder, 2, code=0)["messages"] == []
        found = check(folder, 3, code=1)
        assert found["sent"] == 1
        assert check(folder, 3, code=1)["sent"] == 0
        assert check(folder, 4, code=0)["sent"] == 1
        assert check(folder, 4, code=0)["sent"] == 0
        bodies = [json.loads(asked.body)["notices"] for asked in server.asked]
    (first,), (last,) = bodies
    assert (first["kind"], first["severity"], first["rule"]) == ("firing", "P1", "mrr-low")
    assert first["value"] == pytest.approx(0.475)
    assert first["n"] == 20
    assert "第8号规定有几天年假？" in json.dumps(first, ensure_ascii=False)
    assert (last["kind"], last["key"]) == ("resolved", first["key"])
    (message,) = found["messages"]
    assert "\x1b" not in run(folder, "alerts", "list", "--store", "store", "--history").stdout
    assert message["worst_query"].startswith("第8号规定有几天年假？")

    past = as_json(
        *(folder, "alerts", "backtest", "store/alerts.toml", "--store", "store"),
        *("--from", "2026-03-01", "--to", "2026-03-04"),
    )
    (episode,) = past["episodes"]
    assert episode["fired"] == "2026-03-03T00:10:00+08:00"
    assert episode["ended"] == "2026-03-04T00:10:00+08:00"
    assert past["messages"] == {"firing": 1, "resolved": 1}


def test_a_check_that_is_killed_while_it_sends_loses_nothing(folder, monkeypatch):
    """The state and its message were written together; the next one sends it, once."""
    reached, answer = threading.Event(), threading.Event()

    def hang(_):
        reached.set()
        answer.wait(30)
        return Said(500)

    arguments = command(
        *("alerts", "check", "--store", "store", "--now", "2026-03-03T00:30:00+08:00")
    )
    with served(hang) as server:
        environment = {**os.environ, "OPS_HOOK": server.url}
        process = subprocess.Popen(
            arguments,
            cwd=folder,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert reached.wait(60)
        process.kill()
        process.wait()
        answer.set()
    with served(lambda _: Said()) as server:
        monkeypatch.setenv("OPS_HOOK", server.url)
        found = check(folder, 3, code=1)
        assert (found["evaluated"], found["messages"], found["sent"]) == (0, [], 1)
        assert check(folder, 3, code=1)["sent"] == 0
        assert len(server.asked) == 1


def test_checks_that_run_at_once_tell_once(folder):
    """Several processes on the same store, as a slow cron would start them."""
    with served(lambda _: Said()) as server:
        environment = {**os.environ, "OPS_HOOK": server.url}
        arguments = command(
            *("alerts", "check", "--store", "store", "--now", "2026-03-03T00:30:00+08:00")
        )
        processes = [
            subprocess.Popen(
                arguments,
                cwd=folder,
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(4)
        ]
        said = [process.communicate()[1] for process in processes]
        assert [process.returncode for process in processes] == [1] * 4, said
        assert len(server.asked) == 1


ACTIONS = """
actions = ["roll-back", "degrade", "ticket"]

[[action]]
name = "roll-back"
command = ["./roll-back"]

[[action]]
name = "degrade"
flag_file = "degraded"

[[action]]
name = "ticket"
on = ["firing", "resolved"]
[action.webhook]
url_env = "TICKET_HOOK"
secret_env = "TICKET_SECRET"
allow_private = true
"""
ROLL_BACK = """#!/bin/sh
echo "$RAGNOSTIC_RULE $RAGNOSTIC_KIND" >> runs
echo rolled back
for turn in $(seq 600); do [ -e quick ] && break; sleep 0.1; done
"""


def test_a_check_that_is_killed_while_it_acts_does_nothing_twice(folder, monkeypatch):
    """What it had begun is unknown and stays so; what it had not begun is done by the next one."""
    store = folder / "store"
    rule, _, _ = ALERTS.partition("[[channel]]")
    (store / "alerts.toml").write_text(rule.rstrip() + ACTIONS, encoding="utf-8")
    (store / "roll-back").write_text(ROLL_BACK, encoding="utf-8")
    (store / "roll-back").chmod(0o755)
    monkeypatch.setenv("TICKET_SECRET", "test-secret-not-real")
    arguments = command(
        *("alerts", "check", "--store", "store", "--now", "2026-03-03T00:30:00+08:00")
    )
    with served(lambda _: Said()) as server:
        monkeypatch.setenv("TICKET_HOOK", server.url)
        process = subprocess.Popen(
            arguments, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 60
        while not (store / "runs").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.kill()
        process.wait()
        assert server.asked == []

        found = check(folder, 3, code=1)
        ran = {one["action"]: one["status"] for one in found["ran"]}
        assert ran == {"roll-back": "unknown", "degrade": "done", "ticket": "done"}
        assert (store / "degraded").exists()
        assert check(folder, 3, code=1)["ran"] == []

        (store / "quick").touch()
        over = {one["action"]: one["status"] for one in check(folder, 4, code=0)["ran"]}
        assert over == {"roll-back": "skipped", "degrade": "done", "ticket": "done"}
        assert not (store / "degraded").exists()
        assert check(folder, 4, code=0)["ran"] == []
        kinds = [json.loads(asked.body)["notices"][0]["kind"] for asked in server.asked]
        assert kinds == ["firing", "resolved"]
        assert all(asked.headers["webhook-signature"] for asked in server.asked)
    assert (store / "runs").read_text() == "mrr-low firing\n"
    lines = (store / "actions.jsonl").read_text(encoding="utf-8").splitlines()
    audit = [json.loads(line) for line in lines]
    assert len(audit) == 6
    assert len({line["order"] for line in audit}) == 6
    assert audit[0]["value"] == pytest.approx(0.475)
