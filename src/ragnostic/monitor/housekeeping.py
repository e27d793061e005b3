"""What a worker does between batches: small files made one, old days removed, failures retried."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from ragnostic.errors import counted
from ragnostic.evalset.record_values import local_day
from ragnostic.monitor.live_store import LiveStore
from ragnostic.monitor.processing import Processor, Report
from ragnostic.monitor.rejudging import retry_failed
from ragnostic.monitor.retention import KINDS, enforce_retention
from ragnostic.monitor.work_counts import Work

CROWDED = 64
"""Files of one day and kind above which they are made one, however busy it is."""
_EVERY_S = 60.0
_FEW = 4
_SMALL_BYTES = 1 << 20
"""A day of more than a few files that are smaller than this on average is made one when idle."""


class Housekeeping:
    """Does each of its tasks when it is due. ``now`` counts seconds, from anywhere."""

    def __init__(
        self, store: LiveStore, report: Report, *, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._store = store
        self._report = report
        self._now = now
        self._next_retry = now() + store.configuration.settings.work.retry_s
        self._next_look = now()

    def run(self, processor: Processor, *, idle: bool, last: bool = False) -> Work:
        """What is due now; everything at the ``last`` time. The records that were judged again."""
        now = self._now()
        self._store.queue.trim()
        if now >= self._next_look or last:
            self._next_look = now + _EVERY_S
            self._compact(idle=idle)
            self._retain()
        if now < self._next_retry and not last:
            return Work()
        self._next_retry = now + self._store.configuration.settings.work.retry_s
        return retry_failed(self._store, processor)

    def _compact(self, *, idle: bool) -> None:
        for kind in KINDS:
            for day in self._store.lake.days(kind):
                files = list((self._store.root / kind / f"day={day}").glob("*.parquet"))
                if len(files) > CROWDED or (idle and len(files) > _FEW and _are_small(files)):
                    self._store.lake.compact(kind, day)

    def _retain(self) -> None:
        today = local_day(datetime.now(UTC), self._store.zone)
        for kind, days in enforce_retention(self._store, today).items():
            shown = ", ".join(days[:3]) + (", …" if len(days) > 3 else "")
            self._report(f"{kind}: {counted(len(days), 'day')} no longer kept: {shown}")


def _are_small(files: Sequence[Path]) -> bool:
    sizes = []
    for file in files:
        with suppress(FileNotFoundError):  # another worker may write it anew
            sizes.append(file.stat().st_size)
    return sum(sizes) < _SMALL_BYTES * len(sizes)
