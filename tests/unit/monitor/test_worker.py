"""From the queue to the lake: each event once, whatever goes wrong on the way."""

from __future__ import annotations

import json
import runpy
import threading
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from ragnostic.errors import RetrievalError, StoreError
from ragnostic.monitor.live_store import is_dead, worker_name
from ragnostic.monitor.rejudging import WAITING, rejudge, retry_failed
from ragnostic.monitor.work_loop import Orders, work
from ragnostic.monitor.worker import Worker
from ragnostic.ports import Event
from ragnostic.store.lake import ParquetLake

CASE = runpy.run_path(str(Path(__file__).parent / "store_case.py"))
Given, case, events, row = (CASE[name] for name in ("Given", "case", "events", "row"))


def silent(message):
    """A report nobody reads."""


def drain(store, judge, **orders):
    """Work until the queue is empty."""
    given = Orders(**{"once": True, "share": 16, **orders})
    return work(store, judge, given, stop=threading.Event(), report=silent)


def ids(store, kind="records"):
    """Record ids in the lake, each row's."""
    return sorted(store.lake.read(kind, columns=["record_id"])["record_id"].to_pylist())


def test_events_become_records_judgments_and_scores(tmp_path):
    """One of each for every event, on its day, with the values that the ranking has."""
    rows = [row(n) for n in range(30)]
    with case(tmp_path) as store:
        store.queue.append(events(rows))
        done = drain(store, Given(store))
        assert (done.events, done.records, done.scores) == (30, 30, 30)
        assert done.judged == {"judged": 30}
        for kind in ("records", "judgments", "scores"):
            assert ids(store, kind) == sorted(one["record_id"] for one in rows)
            assert store.lake.days(kind) == ["2026-03-01", "2026-03-02", "2026-03-03"]
        scores = store.lake.read("scores", columns=["record_id", "RR@5"]).to_pylist()
        for one in scores:
            assert one["RR@5"] == pytest.approx(1.0 if int(one["record_id"][1:]) % 2 else 1 / 3)
        assert store.queue.backlog() == 0
        assert store.state.counters("work.")["work.records"] == 30
        assert store.state.leases() == []


def test_a_second_drain_finds_nothing(tmp_path):
    """Offsets are committed, payloads trimmed, and known ids do not come again."""
    with case(tmp_path) as store:
        store.queue.append(events([row(1)]))
        drain(store, Given(store))
        assert store.queue.append(events([row(1)])).duplicate == 1
        assert drain(store, Given(store)).events == 0


def test_a_late_revision_replaces_the_record_everywhere(tmp_path):
    """Records, judgments and scores are those of the newest."""
    with case(tmp_path) as store:
        store.queue.append(events([row(1)]))
        drain(store, Given(store))
        store.queue.append(events([row(1, answer="我不知道。", revision=1)]))
        drain(store, Given(store))
        assert ids(store) == ids(store, "scores") == ["r1"]
        assert store.lake.read("judgments", columns=["status"])["status"].to_pylist() == ["refused"]


def test_a_poison_event_is_set_aside_and_counted(tmp_path):
    """With its offset and reason; the others go on."""
    with case(tmp_path) as store:
        store.queue.append(
            [*events([row(1)]), Event("bad", b'{"query": 3, "phone": "13800138000"}')]
        )
        done = drain(store, Given(store))
        assert (done.events, done.records, done.quarantined) == (2, 1, 1)
        (file,) = (tmp_path / "quarantine").glob("day=*/part-*.jsonl")
        entry = json.loads(file.read_text(encoding="utf-8"))
        assert "record_id must be a text" in entry["reason"]
        assert isinstance(entry["offset"], int)
        assert "13800138000" not in entry["raw"]


class Refusing:
    """A scorer that cannot score records of one query."""

    def __init__(self, scorer):
        self._scorer = scorer

    def score(self, records, judgments):
        """Raises as a fault of ours would."""
        if "poison" in records["query"].to_pylist():
            raise ZeroDivisionError("no reason")
        return self._scorer.score(records, judgments)


def test_what_cannot_be_scored_is_set_aside_alone(tmp_path):
    """Even where we are at fault, one record does not stop the traffic."""
    with case(tmp_path) as store:
        given = Given(store)
        object.__setattr__(given.made, "scorer", Refusing(given.made.scorer))
        bad = {f"r{n}" for n in (4, 20)}
        rows = [row(n) for n in range(64)]
        store.queue.append(
            events([{**one, "query": "poison"} if one["record_id"] in bad else one for one in rows])
        )
        done = drain(store, given)
        assert (done.records, done.quarantined) == (62, 2)
        assert ids(store) == sorted({one["record_id"] for one in rows} - bad)
        text = "".join(f.read_text("utf-8") for f in (tmp_path / "quarantine").glob("*/*.jsonl"))
        assert text.count("ZeroDivisionError: no reason") == 2


class Crowded:
    """A scorer that fails on more than one record."""

    def __init__(self, scorer):
        self._scorer = scorer

    def score(self, records, judgments):
        """Raises as a fault of ours would."""
        if records.num_rows > 1:
            raise ZeroDivisionError("no reason")
        return self._scorer.score(records, judgments)


def test_a_fault_that_no_event_has_by_itself_is_not_hidden(tmp_path):
    """Then the batch is not to blame; nothing is committed."""
    with case(tmp_path) as store:
        given = Given(store)
        object.__setattr__(given.made, "scorer", Crowded(given.made.scorer))
        store.queue.append(events([row(n) for n in range(64)]))
        with pytest.raises(ZeroDivisionError):
            drain(store, given)
        assert store.queue.backlog() > 0
        assert store.state.leases() == []


def test_a_batch_of_nothing_but_poison_is_set_aside(tmp_path):
    """No table is written for it."""
    with case(tmp_path) as store:
        given = Given(store)
        object.__setattr__(given.made, "scorer", Refusing(given.made.scorer))
        store.queue.append(events([row(1, query="poison")]))
        assert drain(store, given).quarantined == 1
        assert store.lake.days("records") == []


class Moody:
    """A judge that fails until it is mended."""

    name, version, parameters = "moody", "1", {}

    def __init__(self, real):
        self._real = real
        self.broken = True

    def judge_records(self, records):
        """The real judgments under its own name."""
        if self.broken:
            raise RetrievalError("the model does not answer")
        judged = self._real.judge_records(records)
        place = judged.column_names.index("judge")
        return judged.set_column(place, "judge", [[self.name] * records.num_rows])


def test_a_judge_that_fails_loses_nothing_and_is_asked_again(tmp_path):
    """The record is there as failed, with the reason; later it is judged."""
    with case(tmp_path) as store:
        judge = Moody(Given(store).judge)
        given = Given(store, judge)
        store.queue.append(events([row(n) for n in range(6)]))
        assert drain(store, given).judged == {"failed": 6}
        scores = store.lake.read("scores", columns=["status"])["status"].to_pylist()
        assert set(scores) == {"judge_failed"}
        said = store.lake.read("judgments", columns=["evidence"])["evidence"][0].as_py()
        assert said == ["the model does not answer"]
        assert sum(store.state.counters(WAITING).values()) == 6
        assert retry_failed(store, given.processor()).judged == {"failed": 6}
        judge.broken = False
        assert retry_failed(store, given.processor()).judged == {"judged": 6}
        assert ids(store, "judgments") == ids(store, "scores") == ids(store)
        assert set(store.lake.read("scores", columns=["status"])["status"].to_pylist()) == {"ok"}
        assert retry_failed(store, given.processor()).records == 0


def test_a_window_is_judged_again_and_the_new_judgments_stand(tmp_path):
    """Half-open, in the store's zone; the other days stay as they were."""
    with case(tmp_path) as store:
        store.queue.append(events([row(n) for n in range(6)]))
        drain(store, Given(store))
        newer = Given(store)
        newer.judge.version = "2"
        window = store.lake.read("records", columns=["ts"])["ts"].to_pylist()
        done = rejudge(store, newer.processor(), min(window), max(window))
        assert done.records == 4
        found = store.lake.read("judgments", columns=["day", "version"]).to_pylist()
        assert sorted((one["day"][-1], one["version"]) for one in found) == [
            *[("1", "2")] * 2,
            *[("2", "2")] * 2,
            *[("3", "1")] * 2,
        ]


def test_without_a_judge_records_are_kept_as_unjudged(tmp_path):
    """Latency and volume can still be asked for; there is nothing to judge again."""
    with case(tmp_path) as store:
        given = Given(store, None)
        store.queue.append(events([row(1)]))
        done = drain(store, given)
        assert (done.records, done.scores, done.judged) == (1, 1, {})
        assert store.lake.read("scores", columns=["status"])["status"].to_pylist() == ["unjudged"]
        assert rejudge(store, given.processor(), None, None, only_failed=True).records == 0


def test_failures_of_a_day_that_is_gone_are_waited_for_no_longer(tmp_path):
    """Retention may have removed it meanwhile."""
    with case(tmp_path) as store:
        store.state.add({f"{WAITING}2020-01-01": 3})
        assert retry_failed(store, Given(store).processor()).records == 0
        assert store.state.counters(WAITING) == {f"{WAITING}2020-01-01": 0}


class Breaking(ParquetLake):
    """A lake whose disk fails at one of the next writes."""

    left = 0

    def write(self, kind, table, *, name):
        """Raises once, when its time has come."""
        self.left -= 1
        if self.left == 0:
            raise StoreError("disk full", retryable=True)
        super().write(kind, table, name=name)


@pytest.mark.parametrize("left", [1, 2, 3])
def test_a_batch_that_was_cut_short_is_done_again_exactly(tmp_path, left):
    """After a failed write more events arrive; the files of the batch are replaced by its own."""
    with case(tmp_path) as store:
        given = Given(store)
        store.queue.append(events([row(n) for n in range(8)]))
        lake = Breaking(tmp_path, store.zone)
        lake.left = left
        object.__setattr__(store, "lake", lake)
        worker = Worker(store, given, share=16)
        with pytest.raises(StoreError, match="disk full"):
            worker.round()
        store.queue.append(events([row(n) for n in range(8, 30)]))
        drain(store, given)
        expected = sorted(f"r{n}" for n in range(30))
        for kind in ("records", "judgments", "scores"):
            assert ids(store, kind) == expected
            raw = [
                one
                for file in (tmp_path / kind).glob("day=*/*.parquet")
                for one in pq.read_table(file)["record_id"].to_pylist()
            ]
            assert sorted(raw) == expected


def test_storage_that_fails_for_a_while_delays_a_drain(tmp_path):
    """It is told once, and tried again."""
    said = []
    settings = '[store]\nzone = "UTC"\n[judge]\nuse = "none"\n[work]\nsleep_s = 0.001\n'
    with case(tmp_path, settings) as store:
        lake = Breaking(tmp_path, store.zone)
        lake.left = 2
        object.__setattr__(store, "lake", lake)
        store.queue.append(events([row(n) for n in range(5)]))
        done = work(
            store,
            Given(store),
            Orders(once=True, share=16),
            stop=threading.Event(),
            report=said.append,
        )
        assert done.records >= 4
        assert len(ids(store, "scores")) == 5
        assert said == ["the store cannot be written, trying again: disk full"]


def test_a_drain_gives_up_on_storage_that_stays_broken(tmp_path):
    """With an error for a person; nothing is committed."""
    settings = '[store]\nzone = "UTC"\n[judge]\nuse = "none"\n[work]\nsleep_s = 0.001\n'
    with case(tmp_path, settings) as store:
        (tmp_path / "records").write_text("in the way", encoding="utf-8")
        store.queue.append(events([row(1)]))
        with pytest.raises(StoreError, match="cannot be written"):
            drain(store, Given(store))
        assert store.queue.backlog() == 1
        (tmp_path / "records").unlink()
        assert drain(store, Given(store)).records == 1


def test_a_worker_that_lost_its_lease_commits_nothing(tmp_path):
    """The one that has the partition now does the batch."""
    with case(tmp_path) as store:
        given = Given(store)
        store.queue.append(events([row(1)]))

        class Stolen(ParquetLake):
            def write(self, kind, table, *, name):
                super().write(kind, table, name=name)
                store.state.release(store.worker)

        own = store.lake
        object.__setattr__(store, "lake", Stolen(tmp_path, store.zone))
        assert Worker(store, given, share=16).round().events == 0
        assert store.queue.backlog() == 1
        object.__setattr__(store, "lake", own)
        assert drain(store, given).events == 1
        assert ids(store) == ["r1"]


def test_partitions_of_a_killed_worker_are_free_at_once(tmp_path):
    """Those of another machine are waited for."""
    with case(tmp_path) as store:
        host = worker_name().partition(":")[0]
        store.state.lease(f"{host}:4194999:dead", 8, 600.0)
        store.state.lease("elsewhere:1:ab", 4, 600.0)
        worker = Worker(store, Given(store), share=16)
        worker.round()
        assert len(worker.held) == 12
        assert is_dead(f"{host}:4194999:dead")
        assert not is_dead("no name")


def test_the_loop_goes_on_until_it_is_stopped(tmp_path):
    """What arrives meanwhile is worked on; the leases are given back."""
    settings = '[store]\nzone = "UTC"\n[judge]\nuse = "none"\n[work]\nsleep_s = 0.01\nlease_s = 1\n'
    with case(tmp_path, settings) as store:
        stop, done = threading.Event(), []
        orders = Orders(once=False, share=16)
        arguments = {"stop": stop, "report": silent}
        thread = threading.Thread(
            target=lambda: done.append(work(store, Given(store), orders, **arguments))
        )
        thread.start()
        try:
            for number in range(3):
                store.queue.append(events([row(number)]))
                while store.queue.backlog():
                    stop.wait(0.01)
        finally:
            stop.set()
            thread.join()
        assert done[0].records == 3
        assert store.state.leases() == []
