"""The queue: what is acknowledged is there once, whoever appends, and what is done goes."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from ragnostic.errors import DataError, StoreError
from ragnostic.ports import AppendResult, Event, StoredEvent
from ragnostic.store.queue import SqliteQueue

DAY = 86_400.0


def waiting(queue: SqliteQueue) -> list[StoredEvent]:
    """All that waits, by partition."""
    return [
        event
        for partition in range(queue.partitions)
        for event in queue.read(partition, queue.committed(partition), 1_000)
    ]


def done(queue: SqliteQueue) -> None:
    """Commit all that waits."""
    for partition in range(queue.partitions):
        found = queue.read(partition, 0, 1_000)
        if found:
            queue.commit(partition, found[-1].offset)


def events(*ids: str) -> list[Event]:
    """Events whose payload is their id."""
    return [Event(name, name.encode()) for name in ids]


def test_an_id_and_revision_is_stored_once(queue):
    """Within a batch, between batches, alone; a later revision is another event."""
    assert queue.append(events("a", "b", "a")) == AppendResult(2, 1)
    assert queue.append(events("b", "c")) == AppendResult(1, 1)
    assert queue.append(events("c")) == AppendResult(0, 1)
    assert queue.append([Event("c", b"later", revision=1)]) == AppendResult(1, 0)
    assert queue.append([]) == AppendResult(0, 0)
    assert queue.backlog() == len(waiting(queue)) == 4


def test_revisions_of_an_id_share_a_partition_and_keep_their_order(queue):
    """Offsets grow by one within a partition."""
    queue.append([Event("x", b"1", revision=number) for number in (0, 2, 1)])
    found = waiting(queue)
    assert [event.revision for event in found] == [0, 2, 1]
    assert [event.offset - found[0].offset for event in found] == [0, 1, 2]


def test_ids_of_any_text_come_back(queue):
    """Chinese, a NUL, a lone surrogate; the payload is bytes."""
    names = ["查询-1", "a\0b", "\ud800"]
    queue.append([Event(name, b"\0\xff") for name in names])
    assert sorted(event.id for event in waiting(queue)) == sorted(names)
    assert {event.payload for event in waiting(queue)} == {b"\0\xff"}


@pytest.mark.parametrize("event", [Event("", b""), Event("a", b"", revision=1 << 63)])
def test_an_event_that_cannot_be_kept_is_refused(queue, event):
    """With all of its batch."""
    with pytest.raises(DataError):
        queue.append([Event("fine", b""), event])
    assert queue.backlog() == 0


def test_a_commit_goes_forward_only(queue):
    """An earlier offset changes nothing, one that was never given out is an error."""
    queue.append([Event("x", b"", revision=number) for number in range(3)])
    first, _, last = waiting(queue)
    partition = next(number for number in range(16) if queue.read(number, 0, 1))
    assert queue.committed(partition) == 0
    queue.commit(partition, last.offset)
    queue.commit(partition, first.offset)
    assert queue.committed(partition) == last.offset
    assert queue.backlog() == 0
    with pytest.raises(DataError, match="has no offset"):
        queue.commit(partition, last.offset + 1)


def test_trim_removes_what_is_done_and_keeps_its_ids(queue):
    """Events that wait stay; the same id is a duplicate for ever after."""
    queue.append(events("a", "b", "c"))
    done(queue)
    queue.append(events("d"))
    assert queue.trim() == 3
    assert [event.id for event in waiting(queue)] == ["d"]
    assert queue.append(events("a", "b", "c", "d")) == AppendResult(0, 4)


def test_offsets_go_on_behind_what_was_trimmed(queue, queue_path):
    """And a new file in the place of a removed one begins behind it, so names stay unique."""
    queue.append(events("a"))
    (first,) = waiting(queue)
    done(queue)
    queue.trim()
    queue.append([Event("a", b"", revision=1)])
    (second,) = waiting(queue)
    assert second.offset == first.offset + 1
    assert first.offset > 10_000 * 1_700_000_000


def test_ids_are_forgotten_with_their_day(queue_path):
    """Those that wait are not; one day more than asked is kept for other time zones."""
    clock = [10.5 * DAY]
    with SqliteQueue(queue_path, now=lambda: clock[0]) as queue:
        queue.append(events("a", "b"))
        done(queue)
        queue.append(events("waits"))
        clock[0] = 12.5 * DAY
        queue.append(events("young"))
        assert queue.forget_before("1970-01-12") == 0
        assert queue.forget_before("1970-01-13") == 2
        assert queue.append(events("a", "b", "waits", "young")) == AppendResult(2, 2)


def test_removed_events_leave_nothing_in_the_files(queue, queue_path):
    """Also where they were done and trimmed, or wait; they are still known, and not waited for."""
    queue.append([Event(f"id{n}", b"secret-of-%d" % (n % 2) * 50) for n in range(40)])
    for partition in range(8):
        for event in queue.read(partition, 0, 1):
            queue.commit(partition, event.offset)
    queue.trim()
    gone = queue.remove(lambda event: b"secret-of-1" in event.payload)
    assert 0 < gone <= 20
    left = b"".join(path.read_bytes() for path in queue_path.parent.iterdir())
    assert b"secret-of-1" not in left
    assert queue.backlog() == len(waiting(queue))
    assert queue.append([Event("id1", b"")]) == AppendResult(0, 1)
    queue.close()
    with SqliteQueue(queue_path) as again:
        assert again.damages == ()


def test_a_read_ends_where_payloads_are_large(queue):
    """The next read goes on."""
    queue.append([Event("x", bytes(40 << 20), revision=number) for number in range(3)])
    partition = next(number for number in range(16) if queue.read(number, 0, 1))
    found = queue.read(partition, 0, 10)
    assert len(found) == 2
    assert len(queue.read(partition, found[-1].offset, 10)) == 1


def change_payloads(path: Path, revisions: int) -> None:
    """Change rows as a failing disk would, while nobody looks at the whole file."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE events SET payload = x'00' WHERE revision < ?", (revisions,))


def test_an_event_that_changed_is_put_aside_and_counted(queue, queue_path):
    """The others are given out; it may be sent again."""
    queue.append([Event("x", b"%d" % number, revision=number) for number in range(4)])
    change_payloads(queue_path, 2)
    partition = next(number for number in range(16) if queue.read(number, 0, 1))
    assert [event.revision for event in queue.read(partition, 0, 2)] == [2, 3]
    assert queue.counters() == {"waiting": 2, "quarantined": 2}
    assert queue.append([Event("x", b"1", revision=1)]) == AppendResult(1, 0)
    assert queue.remove(lambda event: event.payload == b"\0") == 2
    assert queue.counters() == {"waiting": 3, "quarantined": 0}


def test_the_offset_of_a_last_event_that_was_put_aside_is_not_used_again(queue, queue_path):
    """Else its place would be taken twice."""
    queue.append([Event("x", b"1")])
    (first,) = waiting(queue)
    change_payloads(queue_path, 1)
    assert waiting(queue) == []
    queue.append([Event("x", b"1")])
    (second,) = waiting(queue)
    assert second.offset == first.offset + 1
    done(queue)
    assert queue.trim() == 1


def test_what_was_put_aside_goes_with_its_day(queue_path):
    """As the ids do."""
    clock = [10.5 * DAY]
    with SqliteQueue(queue_path, now=lambda: clock[0]) as queue:
        queue.append([Event("x", b"1")])
        change_payloads(queue_path, 1)
        waiting(queue)
        queue.forget_before("1970-01-13")
        assert queue.counters() == {"waiting": 0, "quarantined": 0}


def test_threads_and_objects_share_a_file(queue, queue_path):
    """Each id is stored once, whoever was first."""
    results: list[AppendResult] = []

    def write(target: SqliteQueue, start: int) -> None:
        names = (f"id{number}" for number in range(start, start + 60))
        results.extend(target.append(events(name)) for name in names)

    with SqliteQueue(queue_path) as other:
        workers = [
            threading.Thread(target=write, args=(target, start))
            for target, start in ((queue, 0), (queue, 30), (other, 30), (other, 60))
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert sum(result.stored for result in results) == queue.backlog() == 120
    assert sum(result.duplicate for result in results) == 120


def test_a_closed_queue_opens_again_by_itself(queue):
    """As it does after an error."""
    queue.append(events("a"))
    queue.close()
    assert [event.id for event in waiting(queue)] == ["a"]


def test_a_file_of_a_newer_version_is_left_alone(queue, queue_path):
    """It is no damage."""
    queue.close()
    with closing(sqlite3.connect(queue_path)) as connection:
        connection.execute(f"PRAGMA user_version={2 * 0x10001}")
    with pytest.raises(StoreError, match="version 2 is newer"):
        SqliteQueue(queue_path)
    assert [path.name for path in queue_path.parent.glob("*damaged*")] == []


def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path):
    """A file where the folder should be."""
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be used"):
        SqliteQueue(tmp_path / "file" / "queue.sqlite")


def test_a_long_write_of_another_is_waited_for_and_then_named(queue, queue_path, monkeypatch):
    """Busy is no damage, and the same call works afterwards."""
    queue.close()
    monkeypatch.setattr("ragnostic.store.sqlite_file.BUSY_S", 0.05)
    with closing(sqlite3.connect(queue_path, isolation_level=None)) as other:
        queue.append(events("a"))
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="is busy") as found:
            queue.append(events("b"))
        assert found.value.retryable
        other.execute("ROLLBACK")
    assert queue.append(events("b")) == AppendResult(1, 0)


def test_a_queue_of_many_pages_gives_them_back(queue, queue_path):
    """Where most of a large file is unused."""
    queue.append([Event(f"id{n}", os.urandom(60_000)) for n in range(500)])
    done(queue)
    before = queue_path.stat().st_size
    queue.trim()
    queue.close()
    assert queue_path.stat().st_size < before * 2 / 3
