"""Workers as processes, ended by signals: the batch that was begun is finished first."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import FrameType
from typing import Self

from ragnostic.cli.console import print_warnings
from ragnostic.errors import RagnosticError
from ragnostic.monitor.judge_in_use import JudgeInUse
from ragnostic.monitor.live_store import LiveStore, open_store
from ragnostic.monitor.processing import Report
from ragnostic.monitor.work_counts import Work
from ragnostic.monitor.work_loop import Orders
from ragnostic.monitor.work_loop import work as work_on

_LOOK_S = 0.2


def run_workers(store: LiveStore, *, once: bool, workers: int, report: Report) -> Work:
    """Work with this process and ``workers`` - 1 others; what all of them did.

    Raises what this process's own work raises, with the others stopped.
    """
    judge = JudgeInUse(store.configuration, os.environ)
    made = judge.processor()  # faults of the settings are told before anything is started
    print_warnings(map(str, getattr(made.judge, "faults", ())))
    share = -(-store.queue.partitions // workers)
    stop = threading.Event()
    with stopped_by_signals(stop):
        others = Orders(once, share, keeps_house=False)
        helpers = [_Helper.start(store.root, others) for _ in range(workers - 1)]
        try:
            done = work_on(store, judge, Orders(once, share), stop=stop, report=report)
            for helper in helpers:
                done += helper.wait(stop, report)
        except BaseException:
            for helper in helpers:
                helper.stop()
            raise
    return done


@dataclass
class _Helper:
    """Another worker, in a process of its own."""

    process: BaseProcess
    result: Connection
    stopped: bool = False

    @classmethod
    def start(cls, root: Path, orders: Orders) -> Self:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe(duplex=False)
        arguments = (root, os.getpid(), orders, theirs)
        process = context.Process(target=help_out, args=arguments, daemon=True)
        process.start()
        theirs.close()
        return cls(process, ours)

    def stop(self) -> None:
        """Tell it to end after its batch; once, as a second time would interrupt it."""
        if not self.stopped:
            self.process.terminate()
            self.stopped = True

    def wait(self, stop: threading.Event, report: Report) -> Work:
        """What it did, when it has ended."""
        while not self.result.poll(_LOOK_S):
            if stop.is_set():
                self.stop()
        found = result_of(self.result, report)
        self.process.join()
        return found


def help_out(root: Path, parent: int, orders: Orders, result: Connection) -> None:
    """Be one more worker, for as long as the parent process lives; send the counts, or why not."""
    stop = threading.Event()

    def watch() -> None:
        while not stop.wait(1.0):
            if os.getppid() != parent:
                stop.set()

    def report(message: str) -> None:
        print_warnings([message])

    threading.Thread(target=watch, name="parent", daemon=True).start()
    with stopped_by_signals(stop, insists=False), open_store(root, os.environ) as store:
        judge = JudgeInUse(store.configuration, os.environ)
        try:
            result.send(work_on(store, judge, orders, stop=stop, report=report))
        except RagnosticError as error:
            result.send(str(error))
    stop.set()


def result_of(connection: Connection, report: Report) -> Work:
    """The counts that a worker sent; none where it was killed or could not go on, which is told."""
    try:
        found = connection.recv()
    except EOFError:
        found = "a worker was killed; its batch is done again by the others"
    if isinstance(found, Work):
        return found
    report(str(found))
    return Work()


@contextmanager
def stopped_by_signals(stop: threading.Event, *, insists: bool = True) -> Iterator[None]:
    """The first SIGTERM or Ctrl-C sets ``stop``, a second one interrupts where it ``insists``: a
    helper gets Ctrl-C from the terminal and SIGTERM from its parent.
    """

    def end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - signal's signature
        if stop.is_set() and insists:
            raise KeyboardInterrupt
        stop.set()

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
