"""Workers as processes: what they bring back, and how they are stopped."""

from __future__ import annotations

import os
import runpy
import signal
import threading
from multiprocessing import Pipe
from pathlib import Path

import pytest

from ragnostic.cli.work import _remarks, _show
from ragnostic.cli.work_processes import help_out, result_of, run_workers, stopped_by_signals
from ragnostic.errors import StoreError
from ragnostic.monitor.work_counts import Work
from ragnostic.monitor.work_loop import Orders

CASE = runpy.run_path(str(Path(__file__).parents[1] / "monitor" / "store_case.py"))
case, events, row = (CASE[name] for name in ("case", "events", "row"))
SETTINGS = '[store]\nzone = "UTC"\n[work]\nsleep_s = 0.001\n'

DRAIN = Orders(once=True, share=16, keeps_house=False)


def silent(message):
    """A report nobody reads."""


def test_a_helper_works_and_sends_its_counts(tmp_path):
    """Its store is its own."""
    ours, theirs = Pipe(duplex=False)
    with case(tmp_path, SETTINGS) as store:
        store.queue.append(events([row(n) for n in range(5)]))
    help_out(tmp_path, os.getppid(), DRAIN, theirs)
    assert result_of(ours, silent).records == 5


def test_a_helper_that_cannot_go_on_says_why(tmp_path):
    """The parent tells it and goes on."""
    ours, theirs = Pipe(duplex=False)
    said = []
    with case(tmp_path, SETTINGS) as store:
        store.queue.append(events([row(1)]))
    (tmp_path / "records").write_text("in the way", encoding="utf-8")
    help_out(tmp_path, os.getppid(), DRAIN, theirs)
    assert result_of(ours, said.append) == Work()
    assert "cannot be written" in said[0]


def test_a_helper_ends_with_its_parent(tmp_path):
    """It sees that it has another one, and stops."""
    ours, theirs = Pipe(duplex=False)
    with case(tmp_path, SETTINGS):
        pass
    help_out(tmp_path, -1, Orders(once=False, share=16, keeps_house=False), theirs)
    assert result_of(ours, silent) == Work()


def test_a_killed_helper_is_told():
    """Its pipe ends without a result."""
    ours, theirs = Pipe(duplex=False)
    theirs.close()
    said = []
    assert result_of(ours, said.append) == Work()
    assert "was killed" in said[0]


def test_where_this_process_fails_the_others_are_stopped(tmp_path):
    """The fault comes out when they are gone."""
    with case(tmp_path, SETTINGS) as store:
        store.queue.append(events([row(n) for n in range(30)]))
        (tmp_path / "scores").write_text("in the way", encoding="utf-8")
        with pytest.raises(StoreError, match="cannot be written"):
            run_workers(store, once=True, workers=2, report=silent)


def test_failures_of_the_judge_are_announced(capsys):
    """With the most frequent reasons; and the counts shown."""
    reasons = {"rare": 1, "timed out": 7, "no number": 3, "often": 4}
    done = Work(events=15, records=15, judged={"failed": 15}, failures=reasons)
    _show(done, 0, as_json=False)
    assert list(_remarks(done, 0, drained=True)) == [
        "the judge failed on 15 records, which will be judged again",
        "7 records: timed out",
        "4 records: often",
        "3 records: no number",
    ]
    shown = capsys.readouterr()
    assert "judge: failed" in shown.out


def test_what_is_left_and_what_is_unknown_is_said():
    """A drain that others hold back is no whole one; chunks without a text are never relevant."""
    assert list(_remarks(Work(retrieved=20, unknown=20), 3, drained=True)) == [
        (
            "20 of 20 retrieved chunks are not in the corpus snapshot: "
            "has it the chunk ids of the service?"
        ),
        "3 records still waiting: another worker holds them, or more came",
    ]
    assert list(_remarks(Work(retrieved=20), 3, drained=False)) == []


def test_a_first_signal_stops_and_a_second_interrupts():
    """And the handlers from before come back."""
    before = signal.getsignal(signal.SIGTERM)
    stop = threading.Event()
    with stopped_by_signals(stop):
        signal.raise_signal(signal.SIGTERM)
        assert stop.is_set()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    with stopped_by_signals(stop, insists=False):
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGTERM) is before
