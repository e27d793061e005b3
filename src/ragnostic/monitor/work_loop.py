"""The loop around a worker: until the queue is empty, or until somebody stops it."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from ragnostic.errors import StoreError
from ragnostic.monitor.forget import JOURNAL, give_way
from ragnostic.monitor.housekeeping import Housekeeping
from ragnostic.monitor.judge_in_use import JudgeInUse
from ragnostic.monitor.live_store import LiveStore
from ragnostic.monitor.processing import Report, said
from ragnostic.monitor.work_counts import Work
from ragnostic.monitor.worker import STORAGE_FAULTS, Worker, heartbeat

_LONGEST_S = 30.0
_TRIES = 5
"""How often in a row a drain meets storage that does not work before it gives up."""


@dataclass(frozen=True, slots=True)
class Orders:
    """How a worker works: until the queue is empty (``once``) or for good; on how many
    partitions; ``keeps_house``: whether the tasks between batches are its own too.
    """

    once: bool
    share: int
    keeps_house: bool = True


def work(
    store: LiveStore, judge: JudgeInUse, orders: Orders, *, stop: threading.Event, report: Report
) -> Work:
    """Work until ``stop`` is set, or the queue is empty; a batch that was begun is ended.

    Storage that fails loses nothing: it is tried again, after longer and longer pauses. Raises
    StoreError where a drain cannot go on.
    """
    settings = store.configuration.settings.work
    worker = Worker(store, judge, share=orders.share)
    housekeeping = Housekeeping(store, report)
    total, failures = Work(), 0
    with heartbeat(store, report):
        try:
            while not stop.is_set():
                if (store.root / JOURNAL).exists():
                    worker.release()
                    give_way(store, stop, report=report)
                    continue
                try:
                    done = worker.round()
                    total += done
                    if orders.keeps_house:
                        housekeeping.run(judge.processor(), idle=not done.events)
                    failures = 0
                except STORAGE_FAULTS as error:
                    failures += 1
                    _complain(error, failures, orders, report)
                    stop.wait(_pause(settings.sleep_s, failures))
                    continue
                if orders.once and not done.events and not worker.take_more():
                    break
                if not orders.once and done.events < settings.batch:
                    stop.wait(settings.sleep_s)  # so that a day is not made of tiny files
            if orders.once and orders.keeps_house and not stop.is_set():
                housekeeping.run(judge.processor(), idle=True, last=True)
        finally:
            worker.release()
    return total


def _complain(error: Exception, failures: int, orders: Orders, report: Report) -> None:
    message = error.message if isinstance(error, StoreError) else said(error)
    if orders.once and failures >= _TRIES:
        raise StoreError(
            f"the store cannot be written: {message}",
            hint="what was not written stays in the queue; run it again when this is mended",
        ) from error
    if failures == 1:
        report(f"the store cannot be written, trying again: {message}")


def _pause(first_s: float, failures: int) -> float:
    """Twice as long after each failure, up to half a minute.

    >>> _pause(1.0, 1), _pause(1.0, 3), _pause(1.0, 99)
    (1.0, 4.0, 30.0)
    """
    return min(first_s * 2.0 ** min(failures - 1, 10), _LONGEST_S)
