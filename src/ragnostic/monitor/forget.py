"""Forgetting a user, a session or a record: out of the lake, the queue and the quarantine."""

from __future__ import annotations

import json
import os
import threading
import time
from dataclasses import asdict
from datetime import UTC, datetime

from ragnostic.errors import StoreError
from ragnostic.gateway.forgotten import trace_of
from ragnostic.monitor.forgotten_rows import Whom, remove_rows
from ragnostic.monitor.live_store import LiveStore
from ragnostic.monitor.processing import Report
from ragnostic.monitor.store_intake import FORGOTTEN
from ragnostic.monitor.whole_file import write_whole
from ragnostic.monitor.worker import heartbeat

JOURNAL = "forgetting.json"
_WAIT_S = 120.0
_LOOK_S = 0.1


def forget(
    store: LiveStore, whom: Whom, *, report: Report, wait_s: float = _WAIT_S
) -> dict[str, int]:
    """Remove every row of a user, a session or a record; how many, by the place they were in.

    What is removed stands in a journal until all of it is: an interrupted forgetting is ended by
    the next ``ragnostic work`` or ``ragnostic forget``. No worker works meanwhile. A line
    without the id, but with its SHA-256, is added to ``forgotten.jsonl``: the intake drops rows of
    theirs that are older than it. Raises StoreError
    where workers do not let go within ``wait_s`` seconds.
    """
    write_whole(store.root / JOURNAL, json.dumps(asdict(whom)).encode())
    with heartbeat(store, report):
        try:
            _alone(store, wait_s)
            removed = remove_rows(store, whom)
        finally:
            store.state.release(store.worker)
    _note(store, whom, removed)
    (store.root / JOURNAL).unlink(missing_ok=True)
    return removed


def finish_forgetting(store: LiveStore, *, report: Report) -> dict[str, int] | None:
    """End a forgetting that was interrupted; None where there is none."""
    try:
        kept = json.loads((store.root / JOURNAL).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    report("a forgetting was interrupted; it is ended first")
    return forget(store, Whom(kept["by"], kept["id"]), report=report)


def give_way(store: LiveStore, stop: threading.Event, *, report: Report) -> None:
    """Wait, with no partition held, while something is forgotten. One that nobody works on any
    more (its process was killed) is ended here.
    """
    lease_s = store.configuration.settings.work.lease_s
    since = time.monotonic()
    while (store.root / JOURNAL).exists() and not stop.wait(_LOOK_S):
        if store.state.leases():
            since = time.monotonic()
        elif time.monotonic() - since > lease_s:
            finish_forgetting(store, report=report)


def _alone(store: LiveStore, wait_s: float) -> None:
    """Hold every partition, so that nothing is on its way from the queue to the lake."""
    lease_s = store.configuration.settings.work.lease_s
    every = store.queue.partitions
    until = time.monotonic() + wait_s
    while len(store.state.lease(store.worker, every, lease_s)) < every:
        if time.monotonic() > until:
            raise StoreError(
                "workers are at work and did not let go",
                hint="stop ragnostic work, then run this again",
                retryable=True,
            )
        # Two that forget at a time must not wait for each other's half; they differ in patience.
        store.state.release(store.worker)
        time.sleep(_LOOK_S * (1 + os.getpid() % 7 / 7))


def _note(store: LiveStore, whom: Whom, removed: dict[str, int]) -> None:
    entry = {
        "at": datetime.now(UTC).isoformat(),
        "by": whom.by,
        "sha256": trace_of(whom.id),
        "removed": removed,
    }
    with (store.root / FORGOTTEN).open("a", encoding="utf-8") as file:
        file.write(f"{json.dumps(entry)}\n")
        file.flush()
        os.fsync(file.fileno())
