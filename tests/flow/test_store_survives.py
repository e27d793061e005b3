"""The store under ``kill -9``, cut files, flipped bits, a full disk and many workers.

Samples are seeded; RAGNOSTIC_ENDURANCE=1 runs the large ones.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from ragnostic.errors import StoreError
from ragnostic.ports import Event
from ragnostic.store.lake import ParquetLake
from ragnostic.store.queue import SqliteQueue

LARGE = bool(os.environ.get("RAGNOSTIC_ENDURANCE"))
KILLS = 200 if LARGE else 20
CUTS = 4096 if LARGE else 256
FLIPS = 1_000 if LARGE else 100
EVENTS = 20_000 if LARGE else 2_000
SEED = 20_250_731
PAGE = 4096

WRITER = """
import random, sys
from pathlib import Path
from ragnostic.ports import Event
from ragnostic.store.queue import SqliteQueue
path, seed = Path(sys.argv[1]), int(sys.argv[2])
draw = random.Random(seed)
queue = SqliteQueue(path)
for damage in queue.damages:
    print("damage", damage, flush=True)
number = 0
while True:
    size = draw.choice([1, 1, 3, 40])
    names = [f"{seed}-{number + place}" for place in range(size)]
    queue.append([Event(name, draw.randbytes(draw.choice([30, 900, 9000]))) for name in names])
    print("stored", *names, flush=True)
    number += size
    if draw.random() < 0.2:
        partition = draw.randrange(16)
        found = queue.read(partition, queue.committed(partition), 5)
        if found:
            print("done", *(event.id for event in found), flush=True)
            queue.commit(partition, found[-1].offset)
    if draw.random() < 0.05:
        queue.trim()
"""


def waiting(queue: SqliteQueue) -> list[tuple[str, bytes]]:
    """Id and payload of all that waits."""
    found = []
    for partition in range(queue.partitions):
        after = queue.committed(partition)
        while events := queue.read(partition, after, 500):
            found += [(event.id, event.payload) for event in events]
            after = events[-1].offset
    return found


def killed(program: str, seconds: float, *arguments: str) -> list[str]:
    """The whole lines that a process wrote until it was killed, so long after its first."""
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    first = process.stdout.readline()
    time.sleep(seconds)
    process.kill()
    rest, _ = process.communicate()
    return [line for line in (first + rest).splitlines(keepends=True) if line.endswith("\n")]


def test_every_acknowledged_id_is_there_once_after_each_kill(tmp_path):
    """One queue, many writers that are killed at random points, one after the other."""
    draw = random.Random(SEED)
    path = tmp_path / "queue.sqlite"
    stored: set[str] = set()
    done: set[str] = set()
    taken: set[str] = set()
    for turn in range(KILLS):
        for line in killed(WRITER, draw.uniform(0.0, 0.3), str(path), str(turn)):
            word, *names = line.split()
            assert word in {"stored", "done"}, line
            (stored if word == "stored" else done).update(names)
        with SqliteQueue(path) as queue:
            assert queue.damages == ()
            found = [name for name, _ in waiting(queue)]
            assert len(found) == len(set(found))
            assert not taken.intersection(found)
            taken.update(found)
            # What was written as done may not have been committed any more.
            assert stored <= taken | done
            assert queue.append([Event(name, b"") for name in stored]).stored == 0
            commit_all(queue)
            queue.trim()
    assert len(stored) > 10 * KILLS


def commit_all(queue: SqliteQueue) -> None:
    """Be done with all that waits."""
    for partition in range(queue.partitions):
        while events := queue.read(partition, queue.committed(partition), 500):
            queue.commit(partition, events[-1].offset)


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> tuple[Path, dict[str, bytes]]:
    """A closed queue of some hundred KiB, and what waits in it."""
    path = tmp_path_factory.mktemp("small") / "queue.sqlite"
    draw = random.Random(SEED)
    with SqliteQueue(path) as queue:
        for start in range(0, 72, 8):
            sizes = [draw.choice([10, 300, 3_000, 9_000]) for _ in range(8)]
            queue.append(
                [Event(f"id{start + n}", draw.randbytes(size)) for n, size in enumerate(sizes)]
            )
            if start == 40:
                for partition in range(queue.partitions):
                    found = queue.read(partition, 0, 2)
                    queue.commit(partition, found[-1].offset if found else 0)
                queue.trim()
        return path, dict(waiting(queue))


def check(path: Path, expected: dict[str, bytes], data: bytes) -> bool:
    """Start on a damaged file: what is there is right, what is not is counted and can come again;
    whether damage was seen.
    """
    for left in path.parent.iterdir():
        left.unlink()
    path.write_bytes(data)
    with SqliteQueue(path) as queue:
        found = dict(waiting(queue))
        assert found.items() <= expected.items()
        lost = expected.keys() - found.keys()
        damages = queue.damages
        counted = sum(damage.lost for damage in damages) + queue.counters()["quarantined"]
        assert len(lost) <= counted
        assert len(lost) == counted or not all(damage.exact for damage in damages)
        again = [Event(name, expected[name]) for name in lost]
        assert queue.append(again).stored == len(lost)
        assert dict(waiting(queue)) == expected
    for damage in damages:
        assert damage.kept_as.read_bytes() == data
    with SqliteQueue(path) as queue:
        assert queue.damages == ()
        assert dict(waiting(queue)) == expected
    return bool(damages)


def test_a_file_cut_at_any_byte_of_its_last_page_starts(small, tmp_path):
    """And says what is lost."""
    source, expected = small
    data = source.read_bytes()
    draw = random.Random(SEED)
    for cut in draw.sample(range(1, PAGE + 1), CUTS):
        assert check(tmp_path / "queue.sqlite", expected, data[:-cut])


def test_a_file_with_a_flipped_bit_starts(small, tmp_path):
    """Anywhere; most of the bits are payloads."""
    source, expected = small
    data = source.read_bytes()
    draw = random.Random(SEED)
    seen = 0
    for _ in range(FLIPS):
        bit = draw.randrange(8 * len(data))
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        seen += check(tmp_path / "queue.sqlite", expected, bytes(flipped))
    assert seen > FLIPS / 3


def test_a_file_with_many_flipped_bits_starts(small, tmp_path):
    """Nothing that is given out is wrong, and it works again."""
    source, expected = small
    draw = random.Random(SEED)
    for turn in range(FLIPS // 10):
        data = bytearray(source.read_bytes())
        for _ in range(draw.randrange(2, 60)):
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        folder = tmp_path / str(turn)
        folder.mkdir()
        (folder / "queue.sqlite").write_bytes(data)
        with SqliteQueue(folder / "queue.sqlite") as queue:
            found = dict(waiting(queue))
            assert found.items() <= expected.items()
            assert queue.append([Event("new", b"new")]).stored == 1
            assert len(waiting(queue)) == len(found) + 1


@pytest.fixture
def tiny_disk(tmp_path) -> Iterator[Path]:
    """A disk of 8 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = shutil.which("mount")
    command = [mount or "mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)]
    if mount is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk is not permitted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_keeps_what_was_acknowledged_and_can_be_worked_off(tiny_disk):
    """Without help from outside: committing and trimming make room."""
    with SqliteQueue(tiny_disk / "queue.sqlite") as queue:
        stored = fill(queue)
        assert 1_000 < len(stored) < 5_000
        assert {name for name, _ in waiting(queue)} == stored
        commit_all(queue)
        assert queue.trim() == len(stored)
        assert len(fill(queue, "second")) > 1_000
        assert queue.damages == ()


def test_a_disk_that_others_fill_is_an_error_until_there_is_room(tiny_disk):
    """Nothing is half there afterwards; the lake says the same."""
    lake = ParquetLake(tiny_disk / "store")
    names = [random.randbytes(32).hex() for _ in range(2_000)]
    table = pa.table({"record_id": names, "ts": [datetime(2025, 7, 31, tzinfo=UTC)] * len(names)})
    with SqliteQueue(tiny_disk / "queue.sqlite") as queue:
        queue.append([Event("before", b"")])
        lake.write("records", table, name="before")
        other = tiny_disk / "other"
        fill_with(other)
        with pytest.raises(StoreError, match="is full") as full:
            queue.append([Event("during", b"")])
        assert full.value.retryable
        with pytest.raises(StoreError, match="No space") as full:
            lake.write("records", table, name="during")
        assert full.value.retryable
        other.unlink()
        assert queue.append([Event("during", b"")]).stored == 1
        lake.write("records", table, name="during")
    days = tiny_disk / "store" / "records" / "day=2025-07-31"
    assert sorted(path.name for path in days.iterdir()) == ["before.parquet", "during.parquet"]


def fill_with(path: Path) -> None:
    """Write to a file until the disk is full."""
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(4_096)):
            pass


def fill(queue: SqliteQueue, name: str = "first") -> set[str]:
    """Append until it is refused; the ids that were acknowledged."""
    stored: set[str] = set()
    for number in range(10_000):
        try:
            queue.append([Event(f"{name}{number}", random.randbytes(2_000))])
        except StoreError:
            return stored
        stored.add(f"{name}{number}")
    pytest.fail("the disk is never full")


LIMITED = """
import resource, signal, sys
from pathlib import Path
from ragnostic.errors import StoreError
from ragnostic.ports import Event
from ragnostic.store.queue import SqliteQueue
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
queue = SqliteQueue(Path(sys.argv[1]))
unlimited = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, unlimited[1]))
stored, refused = [], 0
for number in range(900):
    try:
        queue.append([Event(f"id{number}", bytes(2000))])
        stored.append(f"id{number}")
    except StoreError as error:
        assert error.retryable
        refused += 1
resource.setrlimit(resource.RLIMIT_FSIZE, unlimited)
queue.append([Event("after", b"")])
print(refused, *stored, "after")
"""


def test_writes_that_fail_midway_leave_all_that_was_acknowledged(tmp_path):
    """A limit on the size of files stands for a quota."""
    path = tmp_path / "queue.sqlite"
    command = [sys.executable, "-c", LIMITED, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    refused, *stored = done.stdout.split()
    assert int(refused) > 0
    assert len(stored) > 100
    with SqliteQueue(path) as queue:
        assert queue.damages == ()
        assert sorted(name for name, _ in waiting(queue)) == sorted(stored)
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


WORKER = """
import os, random, sys
from pathlib import Path
from ragnostic.errors import LeaseLostError
from ragnostic.store.queue import SqliteQueue
from ragnostic.store.state import State
folder, seed = Path(sys.argv[1]), int(sys.argv[2])
draw = random.Random(seed)
queue = SqliteQueue(folder / "queue.sqlite")
state = State(folder / "state.sqlite")
name = f"worker-{seed}"
print("ready", flush=True)
while queue.backlog():
    for partition in state.lease(name, draw.randrange(1, 9), 0.2):
        events = queue.read(partition, queue.committed(partition), 7)
        if not events:
            continue
        if draw.random() < 0.05:
            state.release(name, [partition])
        try:
            with state.holding(name, partition) as lease:
                if events[0].offset <= queue.committed(partition):
                    continue
                queue.commit(partition, events[-1].offset)
                print(partition, lease.token, *(event.id for event in events), flush=True)
        except LeaseLostError:
            continue
    state.release(name)
"""


def test_workers_never_commit_the_same_event_twice(tmp_path):
    """Several processes share the partitions, and some of them are killed."""
    with SqliteQueue(tmp_path / "queue.sqlite") as queue:
        queue.append([Event(f"id{n}", b"") for n in range(EVENTS)])
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(tmp_path), str(seed)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in range(3)
    ]
    assert workers[0].stdout is not None
    head = workers[0].stdout.readline() + workers[0].stdout.readline()
    workers[0].kill()
    outputs = [head + workers[0].communicate()[0], *(each.communicate()[0] for each in workers[1:])]
    names = [
        name
        for output in outputs
        for line in output.splitlines(keepends=True)
        if line.endswith("\n") and line != "ready\n"
        for name in line.split()[2:]
    ]
    assert len(names) == len(set(names))
    # The one that was killed may have committed a batch that it did not write any more.
    assert EVENTS - 7 <= len(names) <= EVENTS
    with SqliteQueue(tmp_path / "queue.sqlite") as queue:
        assert queue.backlog() == 0


COMPACTOR = """
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
import pyarrow as pa
from ragnostic.store.lake import ParquetLake
lake = ParquetLake(Path(sys.argv[1]))
seed, number = int(sys.argv[2]), 0
moment = datetime(2025, 7, 31, tzinfo=UTC)
print("ready", flush=True)
while True:
    names = [f"{seed}-{number}-{place}" for place in range(20)]
    table = pa.table({"record_id": names, "ts": [moment] * 20})
    lake.write("records", table, name=f"part-{seed}-{number}")
    print(*names, flush=True)
    number += 1
    if number % 4 == 0:
        lake.compact("records", "2025-07-31")
"""


def test_killed_writers_and_compactions_leave_each_row_once(tmp_path):
    """What was written is read once after each kill, whatever files are left."""
    draw = random.Random(SEED)
    lake = ParquetLake(tmp_path)
    written: set[str] = set()
    for turn in range(KILLS // 2):
        _, *lines = killed(COMPACTOR, draw.uniform(0.0, 0.4), str(tmp_path), str(turn))
        written.update(name for line in lines for name in line.split())
        found = lake.read("records", columns=["record_id"])["record_id"].to_pylist()
        assert len(found) == len(set(found))
        assert written <= set(found)
    lake.compact("records", "2025-07-31")
    assert len(lake.read("records")) == len(set(found))
