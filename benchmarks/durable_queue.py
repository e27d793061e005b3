"""The durable queue, against plain sqlite3 that does the least: python benchmarks/durable_queue.py.

Records of about 600 bytes are appended in batches of 1,000 and one by one; every append is on the
disk (``synchronous=FULL``) when it returns. The peer is a table with a unique id in a file of its
own, with the same durability, and neither partitions nor checksums nor memory of what was
removed. Then several processes append one by one to one queue, and the queue is read, committed
and trimmed. Each figure is the best of three; the disk decides the one-by-one figures, so they
are also given as a share of what the bare disk does (12 KiB written and synced).
"""

from __future__ import annotations

import argparse
import os
import platform
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from ragnostic.ports import Event
from ragnostic.store.queue import SqliteQueue

BATCH = 1_000
TURNS = 3


def events(count: int, prefix: str) -> list[Event]:
    """Records with ids as traces have them."""
    return [
        Event(f"{os.urandom(16).hex()}:{prefix}{number:08x}", os.urandom(300).hex().encode())
        for number in range(count)
    ]


def batches(found: list[Event], size: int) -> Iterator[list[Event]]:
    """Slices of a list."""
    return (found[start : start + size] for start in range(0, len(found), size))


def append(folder: Path, found: list[Event], size: int) -> float:
    """Seconds to append to a new queue in slices of ``size``."""
    with SqliteQueue(folder / "queue.sqlite") as queue:
        start = time.perf_counter()
        for part in batches(found, size):
            queue.append(part)
        return time.perf_counter() - start


def plain(folder: Path, found: list[Event], size: int) -> float:
    """The same into a plain table."""
    connection = sqlite3.connect(folder / "plain.sqlite", isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE events(id TEXT UNIQUE, payload BLOB)")
    start = time.perf_counter()
    for part in batches(found, size):
        connection.execute("BEGIN IMMEDIATE")
        rows = [(event.id, event.payload) for event in part]
        connection.executemany("INSERT OR IGNORE INTO events VALUES (?, ?)", rows)
        connection.execute("COMMIT")
    seconds = time.perf_counter() - start
    connection.close()
    return seconds


def disk(folder: Path, found: list[Event], _: int) -> float:
    """As many writes of 12 KiB, each synced, over the same 4 MiB."""
    block = os.urandom(12 << 10)
    handle = os.open(folder / "disk", os.O_RDWR | os.O_CREAT)
    os.pwrite(handle, bytes(4 << 20), 0)
    os.fsync(handle)
    start = time.perf_counter()
    for number in range(len(found)):
        os.pwrite(handle, block, number % 300 * len(block))
        os.fdatasync(handle)
    seconds = time.perf_counter() - start
    os.close(handle)
    return seconds


def best(work: Callable[[Path, list[Event], int], float], count: int, size: int) -> float:
    """Records a second, the best of three."""
    rates = []
    for turn in range(TURNS):
        found = events(count, f"{turn}")
        with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
            rates.append(count / work(Path(folder), found, size))
    return max(rates)


def many(processes: int, count: int) -> float:
    """Records a second of several processes that append one by one to one queue."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        path = Path(folder) / "queue.sqlite"
        SqliteQueue(path).close()
        command = [sys.executable, __file__, "--writer", str(path), "--one-by-one", str(count)]
        writers = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            for _ in range(processes)
        ]
        for writer in writers:
            writer.stdout.readline()
        start = time.perf_counter()
        for writer in writers:
            writer.stdin.close()
        if any(writer.wait() for writer in writers):
            raise SystemExit("a writer failed")
        seconds = time.perf_counter() - start
        with SqliteQueue(path) as queue:
            if queue.backlog() != processes * count:
                raise SystemExit("records are missing")
    return processes * count / seconds


def write(path: Path, count: int) -> None:
    """One of those processes; it starts when its input is closed."""
    found = events(count, f"{os.getpid()}")
    with SqliteQueue(path) as queue:
        print("ready", flush=True)
        sys.stdin.read()
        for event in found:
            queue.append([event])


def drain(count: int) -> tuple[float, float]:
    """Records a second that are read and committed, and trimmed."""
    with (
        tempfile.TemporaryDirectory(dir=Path.cwd()) as folder,
        SqliteQueue(Path(folder) / "queue.sqlite") as queue,
    ):
        for part in batches(events(count, "d"), BATCH):
            queue.append(part)
        start = time.perf_counter()
        for partition in range(queue.partitions):
            while found := queue.read(partition, queue.committed(partition), BATCH):
                queue.commit(partition, found[-1].offset)
        middle = time.perf_counter()
        queue.trim()
        end = time.perf_counter()
    return count / (middle - start), count / (end - middle)


def main() -> None:
    """Run and print what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batched", type=int, default=100_000)
    parser.add_argument("--one-by-one", type=int, default=5_000)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--writer", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.writer:
        write(options.writer, options.one_by_one)
        return
    print(f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} CPUs")
    print(f"SQLite {sqlite3.sqlite_version}\n")
    print("| what | queue | peer | queue / peer |\n| --- | --- | --- | --- |")
    rows = [
        ("batches of 1,000, plain sqlite3", options.batched, BATCH, plain),
        ("one by one, plain sqlite3", options.one_by_one, 1, plain),
        ("one by one, bare disk", options.one_by_one, 1, disk),
    ]
    for label, count, size, peer in rows:
        ours, theirs = best(append, count, size), best(peer, count, size)
        print(f"| {label} | {ours:,.0f}/s | {theirs:,.0f}/s | {ours / theirs:.2f} |", flush=True)
    rate = many(options.processes, options.one_by_one)
    print(f"| one by one, {options.processes} processes | {rate:,.0f}/s | | |")
    read, trimmed = drain(options.batched)
    print(f"| read and commit | {read:,.0f}/s | | |\n| trim | {trimmed:,.0f}/s | | |")


if __name__ == "__main__":
    main()
