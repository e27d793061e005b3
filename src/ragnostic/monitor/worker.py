"""A worker: leases partitions of the queue and brings their events to the lake, batch by batch."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.errors import LeaseLostError, StoreError
from ragnostic.evalset.record_values import local_day
from ragnostic.gateway.balance import Where
from ragnostic.monitor.judge_in_use import JudgeInUse
from ragnostic.monitor.judging import failed_by_day
from ragnostic.monitor.live_store import LiveStore, is_dead
from ragnostic.monitor.processing import Report, Tables
from ragnostic.monitor.rejudging import WAITING
from ragnostic.monitor.retention import note_arrivals
from ragnostic.monitor.work_counts import Work
from ragnostic.ports import StoredEvent

STORAGE_FAULTS = (StoreError, OSError)
"""What a disk that is full, or gone for a while, raises: worth another try."""


class Worker:
    """Works on up to ``share`` partitions of a store (all, where nobody else does).

    A batch is planned (first and last offset, kept in the state) before it is written, and
    committed after: one that was cut short by a crash is read again exactly, and replaces its
    own files, so that each event is in the lake once.
    """

    def __init__(self, store: LiveStore, judge: JudgeInUse, *, share: int) -> None:
        self._store = store
        self._judge = judge
        self._share = share
        self._quarantine = store.quarantine()
        self._noted: set[tuple[str, str]] = set()
        self.held: list[int] = []

    def round(self) -> Work:
        """One batch of each leased partition that has events; an empty result means that there
        are none. Raises one of :data:`STORAGE_FAULTS` where they cannot be stored now.
        """
        settings = self._store.configuration.settings.work
        self._bury_the_dead()
        self.held = self._store.state.lease(self._store.worker, self._share, settings.lease_s)
        work = Work()
        for partition in self.held:
            work += self._batch(partition, settings.batch)
        return work

    def take_more(self) -> bool:
        """Take every partition that nobody holds, for good; whether that is more than was held."""
        before, store = len(self.held), self._store
        self._share = store.queue.partitions
        self._bury_the_dead()
        lease_s = store.configuration.settings.work.lease_s
        self.held = store.state.lease(store.worker, store.queue.partitions, lease_s)
        return len(self.held) > before

    def release(self) -> None:
        """Let go of all partitions."""
        self._store.state.release(self._store.worker)
        self.held = []

    def _bury_the_dead(self) -> None:
        """Partitions of workers of this machine that were killed are free at once."""
        for worker in {lease.worker for lease in self._store.state.leases()}:
            if is_dead(worker):
                self._store.state.release(worker)

    def _batch(self, partition: int, limit: int) -> Work:
        store = self._store
        events = self._planned(partition, limit)
        if not events:
            return Work()
        first, last = events[0].offset, events[-1].offset
        processor = self._judge.processor()
        tables = processor.tables(events)
        self._write(tables, f"part-{partition:02d}-{first}-{last}")
        work = tables.counted()
        failed = failed_by_day(tables.judgments)
        store.state.add({f"{WAITING}{day}": count for day, count in failed.items()})
        try:
            with store.state.holding(store.worker, partition):
                store.queue.commit(partition, last)
        except LeaseLostError:  # another worker has it now, and writes the same files again
            return Work()
        store.state.add(_counters(work))
        return work

    def _planned(self, partition: int, limit: int) -> Sequence[StoredEvent]:
        """The next events of a partition: those of a batch that was begun, else up to ``limit``."""
        store, key = self._store, f"work.{partition}"
        after = store.queue.committed(partition)
        plan = store.state.position(key)
        if plan is not None and plan["after"] == after:
            events = store.queue.read(partition, after, plan["events"])
            begun = [event for event in events if event.offset <= plan["last"]]
            if begun:  # else all of them were forgotten, or damaged, meanwhile
                return begun
        events = store.queue.read(partition, after, limit)
        if events:
            plan = {"after": after, "last": events[-1].offset, "events": len(events)}
            store.state.set_position(key, plan)
        return events

    def _write(self, tables: Tables, name: str) -> None:
        store = self._store
        for refused in tables.refused:
            where = Where(f"queue {name}", offset=refused.event.offset)
            self._quarantine.add(where, refused.reason, refused.event.payload)
        self._quarantine.flush(name)
        self._note(tables.records)
        for kind, table in tables.by_kind().items():
            if table.num_rows:
                store.lake.write(kind, table, name=name)

    def _note(self, records: pa.Table) -> None:
        today = local_day(datetime.now(UTC), self._store.zone).isoformat()
        days = {(day, today) for day in pc.unique(records["day"]).to_pylist()}
        note_arrivals(self._store.state, days - self._noted)
        self._noted = {entry for entry in self._noted | days if entry[1] == today}


def _counters(work: Work) -> dict[str, int]:
    found = {
        "work.events": work.events,
        "work.records": work.records,
        "work.replaced": work.replaced,
        "work.quarantined": work.quarantined,
        **{f"work.judged.{status}": count for status, count in work.judged.items()},
    }
    return {name: count for name, count in found.items() if count}


@contextmanager
def heartbeat(store: LiveStore, report: Report) -> Iterator[None]:
    """Keep the leases of this worker alive while it judges, which may take longer than they do."""
    ended = threading.Event()
    lease_s = store.configuration.settings.work.lease_s

    def beat() -> None:
        while not ended.wait(lease_s / 3):
            try:
                store.state.renew(store.worker, lease_s)
            except StoreError as error:
                report(f"the leases could not be renewed: {error.message}")

    thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
