"""Forgetting: out of every place, whole, and said without the id."""

from __future__ import annotations

import json
import runpy
import threading
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from ragnostic.errors import StoreError
from ragnostic.monitor.forget import JOURNAL, finish_forgetting, forget
from ragnostic.monitor.forgotten_rows import Whom
from ragnostic.monitor.live_store import open_store
from ragnostic.monitor.store_intake import FORGOTTEN
from ragnostic.monitor.work_loop import Orders, work
from ragnostic.ports import Event

CASE = runpy.run_path(str(Path(__file__).parent / "store_case.py"))
Given, case, events, row = (CASE[name] for name in ("Given", "case", "events", "row"))
SETTINGS = CASE["SETTINGS"]


def silent(message):
    """A report nobody reads."""


def filled(store, count=10):
    """Rows in the lake, more in the queue, one in quarantine, a probe and a waiting span."""
    store.queue.append([*events([row(n) for n in range(count)]), Event("bad", b'{"user_id": "u1"')])
    orders = Orders(once=True, share=16)
    work(store, Given(store), orders, stop=threading.Event(), report=silent)
    store.queue.append(events([row(n) for n in range(count, count + 5)]))
    ts = datetime(2026, 3, 1, 12, tzinfo=UTC)
    probes = {
        "query_id": ["q1", "q2"],
        "query": ["question 1 about vpn", "other"],
        "ts": pa.array([ts, ts], pa.timestamp("us", tz="UTC")),
        "perturbation": ["seed", "seed"],
    }
    store.lake.write("probes", pa.table(probes), name="rcs-1")
    store.state.keep_spans([("t1", "a", b'{"user.id": "u1"}'), ("t2", "a", b'{"user.id": "u12"}')])


def everything(root):
    """All that stands in the files of a store, as one text."""
    files = (path for path in sorted(root.rglob("*")) if path.is_file())
    return b"".join(path.read_bytes() for path in files)


def test_a_user_is_gone_from_every_place(tmp_path):
    """Lake, queue, quarantine, probes and waiting spans; the others' rows stay."""
    with case(tmp_path) as store:
        filled(store)
        removed = forget(store, Whom("user", "u1"), report=silent)
        assert removed == {
            "judgments": 2,
            "probes": 1,
            "quarantine": 1,
            "queue": 1,
            "records": 2,
            "scores": 2,
            "spans": 1,
        }
        for kind in ("records", "judgments", "scores"):
            left = store.lake.read(kind, columns=["record_id"])["record_id"].to_pylist()
            assert sorted(left) == sorted(f"r{n}" for n in range(10) if n % 5 != 1)
        assert store.queue.backlog() == 4
        assert store.state.spans_of("t2")
        assert store.state.leases() == []
        assert not (tmp_path / JOURNAL).exists()
    assert b'u1"' not in everything(tmp_path)


def test_the_audit_says_what_went_and_not_who(tmp_path):
    """A SHA-256 stands for the id."""
    with case(tmp_path) as store:
        filled(store)
        forget(store, Whom("session", "s2"), report=silent)
    (line,) = (tmp_path / FORGOTTEN).read_text(encoding="utf-8").splitlines()
    entry = json.loads(line)
    assert entry["by"] == "session"
    assert len(entry["sha256"]) == 64
    assert entry["removed"]["records"] == 2
    assert "s2" not in line.replace(entry["sha256"], "")


def test_a_record_does_not_come_back(tmp_path):
    """Its id stays known to the queue."""
    with case(tmp_path) as store:
        filled(store)
        assert forget(store, Whom("record", "r3"), report=silent)["records"] == 1
        assert store.queue.append(events([row(3)])).duplicate == 1


def test_a_user_behind_a_pseudonym_is_found(tmp_path):
    """Where user ids are kept as keyed hashes, the id that the service sends still works."""
    settings = f'{SETTINGS}[redact]\npseudonym_key = "a-long-enough-key"\n'
    with case(tmp_path, settings) as store:
        hidden = store.redactor.user("u1")
        assert hidden != "u1"
        store.queue.append(events([row(1, user_id=hidden), row(2)]))
        work(
            store,
            Given(store),
            Orders(once=True, share=16),
            stop=threading.Event(),
            report=silent,
        )
        assert forget(store, Whom("user", "u1"), report=silent)["records"] == 1


def test_an_interrupted_forgetting_is_ended_by_the_next_command(tmp_path):
    """Whatever was done before, nothing is left."""
    with case(tmp_path) as store:
        filled(store)
        journal = {"by": "user", "id": "u2"}
        (tmp_path / JOURNAL).write_text(json.dumps(journal), encoding="utf-8")
        store.lake.rewrite("scores", "2026-03-03", lambda t: pa.array([False] * t.num_rows))
        said = []
        assert finish_forgetting(store, report=said.append)["records"] == 2
        assert said == ["a forgetting was interrupted; it is ended first"]
        assert finish_forgetting(store, report=said.append) is None
        assert "u2" not in store.lake.read("records")["user_id"].to_pylist()


def test_it_waits_for_workers_and_says_so(tmp_path):
    """A worker that never lets go is told; the journal stays, so that it is ended later."""
    with case(tmp_path) as store:
        filled(store)
        store.state.lease("elsewhere:1:ab", 1, 600.0)
        with pytest.raises(StoreError, match="did not let go"):
            forget(store, Whom("user", "u1"), report=silent, wait_s=0.3)
        assert (tmp_path / JOURNAL).exists()


SOON = '[store]\nzone = "UTC"\n[judge]\nuse = "none"\n[work]\nsleep_s = 0.01\nlease_s = 1\n'


def test_a_worker_that_works_on_gives_way(tmp_path):
    """It lets go of its partitions, and goes on behind what is forgotten."""
    with case(tmp_path, SOON) as store:
        filled(store)
        stop = threading.Event()
        given, orders = Given(store), Orders(once=False, share=16)
        with open_store(tmp_path, {}) as other:
            thread = threading.Thread(
                target=work,
                args=(other, given, orders),
                kwargs={"stop": stop, "report": silent},
            )
            thread.start()
            try:
                while store.queue.backlog():
                    stop.wait(0.01)
                assert forget(store, Whom("user", "u1"), report=silent)["records"] == 3
                store.queue.append(events([row(99)]))
                while store.queue.backlog():
                    stop.wait(0.01)
            finally:
                stop.set()
                thread.join()
        assert "r99" in store.lake.read("records")["record_id"].to_pylist()


def test_a_worker_ends_what_a_killed_process_began_to_forget(tmp_path):
    """When nobody has worked on it for as long as a lease lasts."""
    with case(tmp_path, SOON) as store:
        filled(store)
        journal = {"by": "user", "id": "u1"}
        (tmp_path / JOURNAL).write_text(json.dumps(journal), encoding="utf-8")
        orders = Orders(once=True, share=16)
        work(store, Given(store), orders, stop=threading.Event(), report=silent)
        assert not (tmp_path / JOURNAL).exists()
        assert "u1" not in store.lake.read("records")["user_id"].to_pylist()


def test_nobody_is_found(tmp_path):
    """Zero rows are an answer."""
    with case(tmp_path) as store:
        assert set(forget(store, Whom("user", "nobody"), report=silent).values()) == {0}
