"""Killed at any moment: every acknowledged row is in the lake once; a sink that is gone delays."""

from __future__ import annotations

import json
import os
import random
import runpy
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from ragnostic.ports import Event
from ragnostic.store.lake import ParquetLake
from ragnostic.store.queue import SqliteQueue

CASE = runpy.run_path(str(Path(__file__).parent / "live_case.py"))
run, as_json, command = CASE["run"], CASE["as_json"], CASE["command"]
log_row, write_lines, write_corpus = CASE["log_row"], CASE["write_lines"], CASE["write_corpus"]
LARGE = bool(os.environ.get("RAGNOSTIC_ENDURANCE"))
KILLS = 200 if LARGE else 20
GONE_S = 600 if LARGE else 0
"""How long the sink is gone."""
ROWS = 60
SETTINGS = '[store]\nzone = "UTC"\n[work]\nbatch = 3\nsleep_s = 0.05\nlease_s = 2\n'
KINDS = ("records", "judgments", "scores")


@pytest.fixture
def folder(tmp_path):
    """A store with a snapshot, and a small batch, so that there are many moments to be killed."""
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "store.toml").write_text(SETTINGS, encoding="utf-8")
    write_corpus(tmp_path)
    run(tmp_path, "snapshot", "chunks.jsonl", "--store", "store")
    return tmp_path


def acknowledged(folder, number):
    """Rows that the queue has taken: their ids."""
    with SqliteQueue(folder / "store" / "queue.sqlite") as queue:
        rows = []
        for one in range(number * ROWS, (number + 1) * ROWS):
            row = log_row(one)
            row["record_id"] = f"r{one}"
            row["stages"] = {"retrieve": row.pop("retrieve")}
            rows.append(Event(row["record_id"], json.dumps(row, ensure_ascii=False).encode()))
        assert queue.append(rows).stored == ROWS
        return {row.id for row in rows}


def killed(folder, draw, *arguments):
    """The program, killed after a random time."""
    with subprocess.Popen(
        command(*arguments), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            process.wait(timeout=draw.uniform(0.6, 2.6))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)


def stored(folder):
    """How often each record id stands in the lake, by kind."""
    lake = ParquetLake(folder / "store", "UTC")
    return {
        kind: Counter(lake.read(kind, columns=["record_id"])["record_id"].to_pylist())
        for kind in KINDS
    }


def test_killed_workers_lose_nothing_and_double_nothing(folder):
    """Seeded kill -9 at random moments of the worker."""
    draw, known = random.Random(20), set()
    for number in range(KILLS):
        known |= acknowledged(folder, number)
        killed(folder, draw, "work", "--store", "store", "--once")
    assert as_json(folder, "work", "--store", "store", "--once")["waiting"] == 0
    for kind, counts in stored(folder).items():
        assert set(counts) == known, kind
        assert set(counts.values()) == {1}, kind


def test_a_killed_ingest_goes_on_where_it_was(folder):
    """Every line of the log is in the lake once, however often reading was cut short."""
    draw, count = random.Random(21), 4000
    write_lines(folder / "log.jsonl", map(log_row, range(count)))
    for _ in range(KILLS):
        killed(folder, draw, "ingest", "log.jsonl", "--store", "store")
    run(folder, "ingest", "log.jsonl", "--store", "store")
    (folder / "store" / "store.toml").write_text('[store]\nzone = "UTC"\n', encoding="utf-8")
    run(folder, "work", "--store", "store", "--once")
    for kind, counts in stored(folder).items():
        assert set(counts) == {f"t{n}:search" for n in range(count)}, kind
        assert set(counts.values()) == {1}, kind


def test_a_sink_that_is_gone_for_a_while_gets_everything(folder):
    """The worker stays alive, says it once, and delivers when the folder can be written again."""
    records = folder / "store" / "records"
    records.write_text("in the way", encoding="utf-8")
    known = acknowledged(folder, 0)
    with subprocess.Popen(
        command("work", "--store", "store"),
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as worker:
        try:
            assert worker.stderr is not None
            assert "the store cannot be written, trying again" in worker.stderr.readline()
            known |= acknowledged(folder, 1)
            time.sleep(GONE_S)
            assert worker.poll() is None
            records.unlink()
            with SqliteQueue(folder / "store" / "queue.sqlite") as queue:
                while queue.backlog():
                    assert worker.poll() is None
                    time.sleep(0.1)
            worker.send_signal(signal.SIGTERM)
            assert worker.wait(timeout=60) == 0
        finally:
            worker.kill()
    for kind, counts in stored(folder).items():
        assert set(counts) == known, kind
        assert set(counts.values()) == {1}, kind
