"""The field's own cases about what comes in, through the intake, and others of their kinds."""

from __future__ import annotations

import json
import traceback
from collections import Counter
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from ragnostic.evalset.record_values import instant, local_day
from ragnostic.gateway.intake import Intake, Where
from ragnostic.gateway.log_files import ingest_json_lines
from ragnostic.gateway.mapping import build_map
from ragnostic.gateway.quarantine import Quarantine
from ragnostic.gateway.redaction import Redactor
from ragnostic.monitor.event_rows import event_row
from ragnostic.store.queue import SqliteQueue
from ragnostic.store.state import State

pytestmark = pytest.mark.shared
TS = 1767225600


class Store:
    """A real queue behind an intake."""

    def __init__(self, folder, zone="Asia/Shanghai"):
        self.folder = folder
        self.zone = zone
        self.queue = SqliteQueue(folder / "queue.sqlite")
        self.state = State(folder / "state.sqlite")
        redactor = Redactor()
        quarantine = Quarantine(folder / "quarantine", redactor, zone=zone)
        self.intake = Intake(self.queue, quarantine, redactor, zone=zone)

    def take(self, *rows):
        """The balance of rows from Python."""
        return self.intake.accept([(row, Where("test")) for row in rows])

    def rows(self):
        """What the worker will read, by query id or query."""
        events = [e for part in range(self.queue.partitions) for e in self.queue.read(part, 0, 99)]
        values = [event_row(e.payload, e.revision, self.zone).values for e in events]
        return {row["query"] or row["query_id"]: row for row in values}

    def set_aside(self):
        """Rows of the quarantine."""
        files = self.folder.glob("quarantine/day=*/*.jsonl")
        return [json.loads(line) for file in files for line in file.read_text().split("\n")[:-1]]

    def close(self):
        """Close the files."""
        self.queue.close()
        self.state.close()


@pytest.fixture
def store(tmp_path):
    """An empty one."""
    opened = Store(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def case(shared):
    """Reads a case by its id."""

    def read(name):
        return json.loads((shared / "cases" / f"{name}.json").read_text(encoding="utf-8"))

    return read


def save(folder, given):
    """The file of a case."""
    (file,) = given["files"]
    path = folder / file["name"]
    path.write_text(file["text"])
    return path


def moment(text):
    """A moment of a case."""
    return datetime.fromisoformat(text)


def test_epoch_units(store, tmp_path, case):
    """The unit is told by magnitude; an implausible one is set aside with its line."""
    found = case("input-epoch-units")
    given, expect = found["given"], found["expect"]
    result = ingest_json_lines(save(tmp_path, given), store.intake, store.state)
    rows = store.rows()
    assert {name: row["ts"] for name, row in rows.items()} == {
        name: moment(text) for name, text in expect["instant"].items()
    }
    assert Counter(row["day"] for row in rows.values()) == expect["local_day"]
    assert result.balance.quarantined == expect["quarantined"]["count"]
    assert [row["line"] for row in store.set_aside()] == expect["quarantined"]["lines"]


def test_day_boundary(store, case):
    """Days are cut in the zone of the store."""
    found = case("input-day-boundary")
    rows = found["given"]["rows"]
    zone = found["given"]["zone"]
    store.take(*({"query": f"q{n}", "ts": text} for n, text in enumerate(rows)))
    assert Counter(row["day"] for row in store.rows().values()) == found["expect"]["local_day"]
    days = Counter(local_day(instant(text), zone).isoformat() for text in rows)
    assert days == found["expect"]["local_day"]


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York", "Asia/Kathmandu"])
def test_day_boundary_of_other_zones(tmp_path, zone):
    """A second before midnight and midnight itself."""
    store = Store(tmp_path, zone)
    midnight = datetime(2026, 3, 2, tzinfo=ZoneInfo(zone)).timestamp()
    store.take({"query": "a", "ts": midnight - 1}, {"query": "b", "ts": midnight})
    rows = store.rows()
    store.close()
    assert (rows["a"]["day"], rows["b"]["day"]) == ("2026-03-01", "2026-03-02")


def test_negative_duration(store, tmp_path, case):
    """The row stays, its latency is unknown, and the fault names it."""
    found = case("input-negative-duration")
    expect = found["expect"]
    path = tmp_path / "log.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in found["given"]["rows"]))
    tree = {"query": "query", "query_id": "query", "record_id": "query", "ts": "start_ns"}
    tree |= {"started": "start_ns", "ended": "end_ns"}
    ingest_json_lines(path, store.intake, store.state, build_map(tree, lambda _: ""))
    rows = store.rows()
    assert len(rows) == expect["rows_kept"]
    latency = {
        name: None if row["latency_ms"] is None else row["latency_ms"] / 1000
        for name, row in rows.items()
    }
    assert latency == pytest.approx(expect["latency_s"])
    for fault in expect["faults"]:
        assert store.intake.fault_ids[fault["type"]] == fault["must_name"]
    known = [value for value in latency.values() if value is not None]
    assert sum(known) / len(known) == pytest.approx(expect["mean_latency_s"])
    assert max(known) == pytest.approx(expect["max_latency_s"])


def test_broken_lines(store, tmp_path, case):
    """A trailing comma, a bare NaN, an array and a cut last line, by their physical lines."""
    found = case("input-jsonl-broken-lines")
    expect = found["expect"]
    path = save(tmp_path, found["given"])
    record_map = build_map({"query": "query", "query_id": "query_id", "ts": TS}, lambda _: "")
    result = ingest_json_lines(path, store.intake, store.state, record_map)
    assert result.balance.stored == expect["rows"]
    assert sorted(row["query_id"] for row in store.rows().values()) == expect["query_ids"]
    rows = sorted(store.set_aside(), key=lambda row: row["line"])
    assert [row["line"] for row in rows] == expect["quarantined"]["lines"]
    assert all(row["source"].endswith(path.name) and row["reason"] for row in rows)


def test_huge_attribute(store, case):
    """Cut on a character with its true size; its neighbour is not lost with it."""
    found = case("gateway-huge-attribute")
    given, expect = found["given"], found["expect"]
    batch = {}
    for one in given["batch"]:
        value = one["attributes"]["output.value"]
        is_text = isinstance(value, str)
        batch[one["span"]] = value if is_text else value["repeat"] * value["times"]
    rows = [
        {"query": name, "answer": answer, "trace_id": "t", "span_id": name, "ts": TS}
        for name, answer in batch.items()
    ]
    assert store.take(*rows).stored == len(expect["accepted"])
    events = [e for part in range(16) for e in store.queue.read(part, 0, 9)]
    kept = {json.loads(event.payload)["span_id"]: json.loads(event.payload) for event in events}
    assert sorted(kept) == expect["accepted"]
    assert [name for name, row in kept.items() if "capture" in row] == expect["truncated"]
    for name, most in expect["stored_bytes_at_most"].items():
        assert len(kept[name]["answer"].encode()) <= most == given["limit_bytes"]
        assert batch[name].startswith(kept[name]["answer"])
    for name, size in expect["original_bytes_recorded"].items():
        assert kept[name]["capture"]["cut"]["answer"]["bytes"] == size
    for mark in expect["must_not_contain"]:
        assert mark not in json.dumps(kept, ensure_ascii=False)


def test_redact_on_failure(store, case):
    """The echo in the upstream's body and the address in the exception, like the request."""
    found = case("gateway-redact-on-failure")
    given, expect = found["given"], found["expect"]
    told = "".join(traceback.format_exception(OSError(given["exception"])))
    error = f"{given['upstream']['status']}: {given['upstream']['body']}\n{told}"
    row = {
        "query": given["request"]["body"],
        "ts": TS,
        "outcome": "failed",
        "stages": {"retrieve": {"status": "failed", "error": error}},
        "capture": {"request": given["request"], "upstream": given["upstream"], "error": told},
        "labels": {"alert": error},
    }
    assert store.take(row, {**row, "ts": "never"}).stored == expect["records"]
    events = [e for part in range(16) for e in store.queue.read(part, 0, 9)]
    stored = events[0].payload.decode()
    exported = json.dumps(store.rows(), ensure_ascii=False, default=str)
    aside = json.dumps(store.set_aside(), ensure_ascii=False)
    for text in (stored, exported, aside):
        for secret in expect["must_not_contain"]:
            assert secret not in text
        for word in expect["must_keep"]:
            assert word in text
    assert (json.loads(stored)["outcome"] == "ok") is expect["success"]
