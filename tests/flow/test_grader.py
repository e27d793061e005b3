"""The grader from the command line: a store whose judge is a chat service on loopback."""

from __future__ import annotations

import runpy
from pathlib import Path

import pyarrow.parquet as pq
import pytest

HERE = Path(__file__).parent
LIVE = runpy.run_path(str(HERE / "live_case.py"))
ANSWERS = runpy.run_path(str(HERE / "test_answers.py"))
run, as_json, log_row = LIVE["run"], LIVE["as_json"], LIVE["log_row"]
write_lines, write_corpus, texts = LIVE["write_lines"], LIVE["write_corpus"], LIVE["TEXTS"]
completion, key, chat = ANSWERS["completion"], ANSWERS["KEY"], ANSWERS["chat"]

WINDOW = ("--from", "2026-03-01", "--to", "2026-03-04")
LOGGED = (0, 11, 22)
"""Rows whose answers come at rank 1, 4 and 3, and that retrieve no chunk in common."""
SETTINGS = """
[judge]
use = "grader"
[judge.grader]
top_k = 4
retries = 0
cache = "kept"
[judge.grader.generator]
url = "URL"
model = "small"
api_key_env = "CHAT_KEY"
"""


def passage(number: int) -> str:
    """Words that only one passage has, and no query."""
    return f"第{number}号规定：员工每年享有{number + 3}天"


@pytest.fixture
def filled(tmp_path, chat, monkeypatch):
    """A store with three queued records; the service grades 3 what answers them, else 0."""
    monkeypatch.setenv("CHAT_KEY", key)
    chat.replies |= {
        passage(number): [lambda grade=grade: (200, {}, completion(grade))] * 9
        for number in range(len(texts))
        for grade in ["3" if number in LOGGED else '{"grade": 0}']
    }
    write_corpus(tmp_path)
    write_lines(tmp_path / "log.jsonl", map(log_row, LOGGED))
    run(tmp_path, "snapshot", "chunks.jsonl", "--store", "store")
    (tmp_path / "store" / "store.toml").write_text(SETTINGS.replace("URL", chat.url))
    run(tmp_path, "ingest", "log.jsonl", "--store", "store")
    return tmp_path


def judgments(folder):
    """The rows of the lake, the newest of each record."""
    files = sorted(
        (folder / "store" / "judgments").rglob("*.parquet"), key=lambda f: f.stat().st_mtime
    )
    rows = [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]
    return {row["record_id"]: row for row in rows}


def reciprocal_rank(folder):
    """MRR of the window, and over how many records."""
    (group,) = as_json(folder, "aggregate", "--store", "store", *WINDOW)["groups"]
    found = group["stages"]["retrieve"]["metrics"]["RR@5"]
    return found["mean"], found["n"]


def test_a_failure_is_seen_and_mended_by_asking_only_what_failed(filled, chat):
    """A record with a reply that is no grade is failed, not scored; judged again, the kept grades
    cost no call; the key and the passages are in no file of the cache.
    """
    good = chat.replies[passage(22)]
    chat.replies[passage(22)] = [lambda: (200, {}, completion("I see 3 gaps, so grade 1."))] * 9
    done = as_json(filled, "work", "--store", "store", "--once")
    assert done["judged"] == {"failed": 1, "judged": 2}
    asked = [request["messages"][-1]["content"] for request in chat.requests]
    assert sum(passage(22) not in content for content in asked) == len(LOGGED) * 4 - 1
    failed = next(row for row in judgments(filled).values() if row["status"] == "failed")
    assert failed["grades"] == [0.0, 0.0, None, 0.0]
    assert failed["evidence"][2].startswith("failed: no grade in the reply 'I see 3 gaps")
    assert reciprocal_rank(filled) == (pytest.approx((1 + 1 / 4) / 2), 2)

    chat.replies[passage(22)] = good
    again = as_json(filled, "work", "--store", "store", "--rejudge", *WINDOW)
    assert again["judged"] == {"judged": 3}
    assert len(chat.requests) == len(asked) + 1
    assert reciprocal_rank(filled) == (pytest.approx((1 + 1 / 4 + 1 / 3) / 3), 3)
    row = next(row for row in judgments(filled).values() if row["record_id"] == failed["record_id"])
    assert (row["grades"], row["judge"]) == ([0.0, 0.0, 3.0, 0.0], "grader")
    assert row["evidence"][2] == "small-1: 3"
    kept = b"".join(file.read_bytes() for file in (filled / "store" / "kept").iterdir())
    assert key.encode() not in kept
    assert "年假".encode() not in kept


def test_the_system_message_holds_the_rubric_in_the_language_of_the_query(filled, chat):
    """And the settings of the model reach the service."""
    run(filled, "work", "--store", "store", "--once")
    first = chat.requests[0]
    assert "只回复一个 JSON 对象" in first["messages"][0]["content"]
    assert (first["model"], first["temperature"]) == ("small", 0.0)


def test_a_grader_without_its_key_is_refused(filled, monkeypatch):
    """Before a record is taken from the queue; the message names the variable, and no traceback."""
    monkeypatch.delenv("CHAT_KEY")
    done = run(filled, "work", "--store", "store", "--once", code=2)
    assert "CHAT_KEY" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_wrong_setting_of_the_model_is_told_with_its_line(filled):
    """All of them at once, where they stand."""
    file = filled / "store" / "store.toml"
    file.write_text(
        file.read_text().replace("model =", "modle =").replace("top_k = 4", "top_k = 0")
    )
    done = run(filled, "work", "--store", "store", "--once", code=2)
    assert "store.toml:5: judge.grader.top_k" in done.stderr
    assert "modle" in done.stderr
