"""``ragnostic work``: from the queue to judged and scored rows in the lake."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated

import typer

from ragnostic.cli.console import print_json, print_table, print_warnings
from ragnostic.cli.live_options import Store
from ragnostic.cli.work_processes import run_workers
from ragnostic.errors import UsageError, counted
from ragnostic.monitor.forget import finish_forgetting
from ragnostic.monitor.judge_in_use import JudgeInUse
from ragnostic.monitor.live_store import LiveStore, open_store
from ragnostic.monitor.rejudging import rejudge as judge_again
from ragnostic.monitor.windows import Window
from ragnostic.monitor.work_counts import Work

_SHOWN_REASONS = 3


def work(
    *,
    store: Store,
    once: Annotated[
        bool, typer.Option("--once", help="End when the queue is empty; without it, go on.")
    ] = False,
    workers: Annotated[int, typer.Option(min=1, max=16, help="Processes side by side.")] = 1,
    rejudge: Annotated[
        bool, typer.Option("--rejudge", help="Judge the records of a window again, and end.")
    ] = False,
    start: Annotated[
        str | None, typer.Option("--from", help="With --rejudge: begin of the window.")
    ] = None,
    end: Annotated[
        str | None, typer.Option("--to", help="With --rejudge: end of the window, not in it.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """Bring queued records to the lake: judged, scored, by day.

    Without --once it goes on until SIGTERM or Ctrl-C, which let it end the batch it works on.
    Several may run on one store, also on one that is being filled.
    """
    if not rejudge and (start or end):
        raise UsageError("--from and --to go with --rejudge", hint="ragnostic work --help")
    with open_store(store, os.environ) as opened:
        print_warnings(map(str, (*opened.queue.damages, *opened.state.damages)))
        finish_forgetting(opened, report=warn)
        if rejudge:
            done = _again(opened, start, end)
        else:
            done = run_workers(opened, once=once, workers=workers, report=warn)
        waiting = opened.queue.backlog()
    print_warnings(_remarks(done, waiting, drained=once and not rejudge))
    _show(done, waiting, as_json=as_json)


def warn(message: str) -> None:
    """A line on stderr while work goes on."""
    print_warnings([message])


def _again(store: LiveStore, start: str | None, end: str | None) -> Work:
    if start is None or end is None:
        raise UsageError("--rejudge needs --from and --to", hint="--from 2026-03-01 --to now")
    window = Window.parse(start, end, zone=store.zone, now=datetime.now(UTC))
    processor = JudgeInUse(store.configuration, os.environ).processor()
    return judge_again(store, processor, window.start, window.end)


def _remarks(done: Work, waiting: int, *, drained: bool) -> Iterator[str]:
    """What a person should know of what was done."""
    if done.quarantined:
        found = counted(done.quarantined, "event is no record", "events are no records")
        yield f"{found}; see the folder quarantine of the store"
    if done.judged.get("failed"):
        found = counted(done.judged["failed"], "record")
        yield f"the judge failed on {found}, which will be judged again"
        yield from _why(done)
    if done.unknown:
        found = f"{done.unknown} of {counted(done.retrieved, 'retrieved chunk')}"
        yield f"{found} are not in the corpus snapshot: has it the chunk ids of the service?"
    if drained and waiting:
        yield f"{counted(waiting, 'record')} still waiting: another worker holds them, or more came"


def _why(done: Work) -> Iterator[str]:
    """The most frequent reasons."""
    often = sorted(done.failures.items(), key=lambda entry: -entry[1])
    for reason, count in often[:_SHOWN_REASONS]:
        yield f"{counted(count, 'record')}: {reason}"


def _show(done: Work, waiting: int, *, as_json: bool) -> None:
    if as_json:
        print_json({**done.as_json(), "waiting": waiting})
        return
    rows = [
        ("events", done.events),
        ("records", done.records),
        ("replaced by a later revision", done.replaced),
        ("quarantined", done.quarantined),
        *((f"judge: {status}", count) for status, count in sorted(done.judged.items())),
        ("scores", done.scores),
        ("still waiting", waiting),
    ]
    print_table(["work", "rows"], [(name, str(count)) for name, count in rows])
