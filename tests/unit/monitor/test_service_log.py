"""``ragnostic.log``: a call that puts one retrieval into a store and never raises."""

from __future__ import annotations

import json
import logging
import os
import sys
import threading

import pytest

from ragnostic import log
from ragnostic.errors import ConfigError
from ragnostic.monitor.store_intake import open_intake
from ragnostic.store.queue import SqliteQueue


def rows(store):
    """What is in the queue of a store."""
    with SqliteQueue(store / "queue.sqlite") as queue:
        events = [event for part in range(queue.partitions) for event in queue.read(part, 0, 99)]
    return [json.loads(event.payload) for event in events]


def test_a_retrieval_is_on_the_disk_when_the_call_returns(tmp_path):
    """Ids, objects or stages; what is no field becomes a label."""
    store = tmp_path / "store"
    assert log(
        store, query="a", hits=["c1", "c2"], top_k=2, took_ms=12.5, trace_id="t", span_id="1"
    )
    hits = [{"id": "c1", "score": 0.5, "text": "x"}, {"id": "c2", "doc_id": "d"}]
    assert log(
        str(store), query="b", hits=hits, answer="20 days", shop=7, trace_id="t", span_id="2"
    )
    stages = {"retrieve": {"ids": ["c1"]}, "rerank": {"ids": ["c1"]}}
    assert log(store, query="c", stages=stages, ts=1767225600, trace_id="t", span_id="3")
    one, two, three = sorted(rows(store), key=lambda row: row["span_id"])
    assert one["stages"] == {"retrieve": {"ids": ["c1", "c2"], "top_k": 2, "took_ms": 12.5}}
    assert two["stages"]["retrieve"] == {
        "ids": ["c1", "c2"], "scores": [0.5, None], "doc_ids": [None, "d"], "texts": ["x", None],
    }  # fmt: skip
    assert (two["answer"], two["labels"]) == ("20 days", {"shop": "7"})
    assert list(three["stages"]) == ["retrieve", "rerank"]
    assert three["ts"] == "2026-01-01T00:00:00+00:00"


def test_the_same_retrieval_again_is_stored_already(tmp_path):
    """It is there, which is what was asked for."""
    call = {"query": "a", "trace_id": "t", "span_id": "1"}
    assert log(tmp_path, **call)
    assert log(tmp_path, **call)
    assert len(rows(tmp_path)) == 1


@pytest.mark.parametrize("hits", ["c1", 7, {"c1": 1.0}, [["c1"]], [b"c1"]])
def test_what_cannot_be_a_record_is_set_aside(tmp_path, caplog, hits):
    """Told once, not at each request."""
    with caplog.at_level(logging.WARNING, "ragnostic"):
        assert not log(tmp_path, query="a 13800138000", hits=hits)
        assert not log(tmp_path, query="a", hits=hits)
    assert len(caplog.records) == 1
    (file,) = tmp_path.glob("quarantine/day=*/*.jsonl")
    assert len(file.read_text().splitlines()) == 2
    assert "13800138000" not in file.read_text()


def test_no_trouble_reaches_the_service(tmp_path, caplog):
    """A folder that cannot be made, settings that are wrong."""
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "store.toml").write_text("[redact]\nfield = 1\n")
    with caplog.at_level(logging.WARNING, "ragnostic"):
        assert not log(tmp_path / "file", query="a")
        assert not log(tmp_path / "store", query="a")
    assert "store.toml:2: unknown key redact.field" in caplog.text


def test_the_redaction_is_that_of_the_store(tmp_path, monkeypatch):
    """With the zone for times without an offset."""
    monkeypatch.setenv("PSEUDONYMS", "key")
    (tmp_path / "store.toml").write_text(
        '[store]\nzone = "Asia/Tokyo"\n'
        '[redact]\nfields = ["answer"]\npseudonym_key = "env:PSEUDONYMS"\n'
    )
    assert log(tmp_path, query="a", answer="x", user_id="u1", ts="2026-01-01T09:00:00")
    (row,) = rows(tmp_path)
    assert row["answer"] == "‹removed›"
    assert row["user_id"] != "u1"
    assert row["ts"] == "2026-01-01T00:00:00+00:00"


def test_a_store_that_only_takes_in_needs_no_judge(tmp_path):
    """Its other settings are not looked at."""
    (tmp_path / "store.toml").write_text('[judge]\nuse = "not installed"\n')
    assert log(tmp_path, query="a")


def test_faults_of_settings_are_told_all_at_once(tmp_path):
    """Each with its line."""
    (tmp_path / "store.toml").write_text('[store]\nzone = "Mars"\n[redact]\nkinds = ["name"]\n')
    with pytest.raises(ConfigError) as found:
        open_intake(tmp_path, {})
    assert "store.toml:2: store.zone must be a time zone" in str(found.value)
    assert "store.toml:4: redact.kinds[0]" in str(found.value)


def test_several_threads_may_call(tmp_path):
    """Every call is stored."""
    done: list[bool] = []
    threads = [
        threading.Thread(
            target=lambda n=n: done.extend(log(tmp_path, query=f"{n}-{i}") for i in range(20))
        )
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done == [True] * 80
    assert len(rows(tmp_path)) == 80


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_a_child_process_opens_its_own(tmp_path):
    """Workers of a server are forked after the first call."""
    assert log(tmp_path, query="parent")
    child = os.fork()
    if child == 0:
        os._exit(0 if log(tmp_path, query="child") else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert {row["query"] for row in rows(tmp_path)} == {"parent", "child"}
