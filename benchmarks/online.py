"""Live traffic, measured: python benchmarks/online.py [--queries N] [--chunks N] [--workers N].

Makes the queue and the snapshot of a store (not measured), then measures the commands that a
user runs: ``ragnostic work --once`` (read, judge by answer_span, score, write) and ``ragnostic
aggregate`` over all of it. Wall and CPU are of the whole command with its workers; the peak is
the sum of the resident memory of its processes, looked at twenty times a second. With ``--growth``
also smaller numbers of queries, and a smaller corpus. Prints Markdown for RESULTS.md.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq

from online_data import make_corpus, make_events
from ragnostic.store.queue import SqliteQueue

_PAGE = os.sysconf("SC_PAGE_SIZE")
TARGET_S, TARGET_MB = 240.0, 4096.0


class Cost(NamedTuple):
    """What a command took: seconds of wall clock and of all its processors, peak megabytes."""

    wall_s: float
    cpu_s: float
    peak_mb: float


def measured(command: list[str]) -> Cost:
    """Run a command of ragnostic and its children; raises where it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "ragnostic", *command], stdout=subprocess.DEVNULL
    ) as process:
        peak = 0.0
        while process.poll() is None:
            peak = max(peak, _resident_mb(process.pid))
            time.sleep(0.05)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    wall = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(wall, cpu, peak)


def _resident_mb(pid: int) -> float:
    """Resident memory of a process and its descendants; 0 where they have just ended."""
    total, waiting = 0, [pid]
    while waiting:
        one = waiting.pop()
        try:
            total += int(Path(f"/proc/{one}/statm").read_text(encoding="ascii").split()[1])
            for task in Path(f"/proc/{one}/task").iterdir():
                waiting += map(int, (task / "children").read_text(encoding="ascii").split())
        except (OSError, ValueError):
            continue
    return total * _PAGE / 2**20


def run(queries: int, chunks: int, workers: int, scratch: Path) -> tuple[Cost, Cost]:
    """The costs of work and of aggregate for this much traffic."""
    with tempfile.TemporaryDirectory(dir=scratch) as name:
        store = Path(name) / "store"
        corpus = make_corpus(chunks)
        pq.write_table(corpus.table(), Path(name) / "chunks.parquet")
        measured(["snapshot", str(Path(name) / "chunks.parquet"), "--store", str(store)])
        with SqliteQueue(store / "queue.sqlite") as queue:
            for events in make_events(corpus, queries):
                queue.append(events)
        del corpus
        work = ["work", "--store", str(store), "--once", "--workers", str(workers)]
        ask = ["aggregate", "--store", str(store), "--from", "2026-03-01", "--to", "2026-03-10"]
        return measured(work), measured([*ask, "--json"])


def show(queries: int, chunks: int, costs: tuple[Cost, Cost]) -> None:
    """A row of the table."""
    work, ask = costs
    wall = work.wall_s + ask.wall_s
    print(
        f"| {queries:,} | {chunks:,} | {work.wall_s:.1f} | {ask.wall_s:.1f} | {wall:.1f} | "
        f"{work.cpu_s + ask.cpu_s:.1f} | {max(work.peak_mb, ask.peak_mb):,.0f} | "
        f"{queries / wall:,.0f} |",
        flush=True,
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=1_000_000)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--growth", action="store_true", help="also smaller sizes")
    parser.add_argument("--scratch", type=Path, default=None, help="folder for the stores")
    given = parser.parse_args()
    sizes = [(given.queries, given.chunks)]
    if given.growth:
        sizes = [
            (given.queries // 4, given.chunks),
            (given.queries // 2, given.chunks),
            (given.queries // 4, given.chunks // 4),
            (given.queries // 4, given.chunks // 2),
            *sizes,
        ]
    print(f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}\n")
    print("| queries | chunks | work s | aggregate s | together s | CPU s | peak MB | queries/s |")
    print("|---|---|---|---|---|---|---|---|")
    for queries, chunks in sizes:
        costs = run(queries, chunks, given.workers, given.scratch)
        show(queries, chunks, costs)
    whole = sum(cost.wall_s for cost in costs)
    peak = max(cost.peak_mb for cost in costs)
    print(
        f"\nAt 1,000,000 queries, wanted: at most {TARGET_S:.0f} s and {TARGET_MB:,.0f} MB. "
        f"Measured at {queries:,}: {whole:.1f} s, {peak:,.0f} MB."
    )


if __name__ == "__main__":
    main()
