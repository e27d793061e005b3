"""Judging again what stands in the lake: after another snapshot or judge, or where one failed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.monitor.judging import FAILED
from ragnostic.monitor.live_store import LiveStore
from ragnostic.monitor.processing import Processor
from ragnostic.monitor.work_counts import Work, chunk_counts, failure_reasons, status_counts

WAITING = "work.failed."
"""Prefix of the counters of records whose judge failed, by day."""


def rejudge(
    store: LiveStore,
    processor: Processor,
    start: datetime | None,
    end: datetime | None,
    *,
    only_failed: bool = False,
) -> Work:
    """Judge and score the records with ``ts`` in [start, end) again; naive times are in the
    store's zone, None is no bound.

    What is written replaces the earlier judgments and scores of the same judge, whatever its
    version and snapshot were. With ``only_failed`` just the records are judged whose judgment by
    this judge failed.
    """
    name = f"again-{datetime.now(UTC):%Y%m%d%H%M%S%f}"
    limit = store.configuration.settings.work.batch
    work, number = Work(), 0
    for whole in store.lake.by_day("records", start=start, end=end):
        if not whole.num_rows:
            continue
        records = _failed(store, processor, whole) if only_failed else whole
        still = 0
        for part in _parts(records, limit):
            judgments, scores = processor.judged(part)
            store.lake.write("judgments", judgments, name=f"{name}-{number}")
            store.lake.write("scores", scores, name=f"{name}-{number}")
            judged = status_counts(judgments)
            work += Work(
                records=part.num_rows,
                scores=scores.num_rows,
                judged=judged,
                failures=failure_reasons(judgments),
                **chunk_counts(scores),
            )
            still += judged.get(FAILED, 0)
            number += 1
        _set_waiting(store, whole["day"][0].as_py(), still)
    return work


def retry_failed(store: LiveStore, processor: Processor) -> Work:
    """Judge again the records whose judge failed, on all days that have some."""
    work = Work()
    for counter, count in sorted(store.state.counters(WAITING).items()):
        if count > 0:
            start = datetime.combine(date.fromisoformat(counter.removeprefix(WAITING)), _MIDNIGHT)
            end = start + timedelta(days=1)
            work += rejudge(store, processor, start, end, only_failed=True)
            if start.date().isoformat() not in store.lake.days("records"):
                _set_waiting(store, start.date().isoformat(), 0)  # the day is kept no longer
    return work


_MIDNIGHT = datetime.min.time()


def _failed(store: LiveStore, processor: Processor, records: pa.Table) -> pa.Table:
    """The records whose judgment by the present judge failed."""
    if processor.judge is None:
        return records.slice(0, 0)
    first, last = pc.min(records["ts"]).as_py(), pc.max(records["ts"]).as_py()
    columns = ("record_id", "judge", "status")
    end = last + timedelta(microseconds=1)
    judgments = store.lake.read("judgments", start=first, end=end, columns=columns)
    failed = pc.and_(
        pc.equal(judgments["status"], FAILED), pc.equal(judgments["judge"], processor.judge.name)
    )
    ids = judgments.filter(failed)["record_id"]
    return records.filter(pc.is_in(records["record_id"], ids.combine_chunks()))


def _parts(table: pa.Table, size: int) -> Iterator[pa.Table]:
    for start in range(0, table.num_rows, size):
        yield table.slice(start, size)


def _set_waiting(store: LiveStore, day: str, count: int) -> None:
    name = f"{WAITING}{day}"
    before = store.state.counters(name).get(name, 0)
    if before != count:
        store.state.add({name: count - before})
