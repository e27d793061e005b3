"""A damaged queue: it starts, says what is lost, keeps the damaged file, gives the rest."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from ragnostic.errors import StoreError
from ragnostic.ports import Event
from ragnostic.store.queue import SqliteQueue
from ragnostic.store.sqlite_file import SqliteFile

PAGE = 4096


def waiting(queue: SqliteQueue) -> dict[str, bytes]:
    """All that waits."""
    return {
        event.id: event.payload
        for partition in range(queue.partitions)
        for event in queue.read(partition, queue.committed(partition), 10_000)
    }


def filled(path: Path, count: int = 60) -> dict[str, bytes]:
    """A closed queue with done, trimmed and waiting events, large ones too; those that wait."""
    draw = random.Random(5)
    made = [Event(f"id{n}", draw.randbytes(draw.choice([20, 600, 9_000]))) for n in range(count)]
    with SqliteQueue(path) as queue:
        queue.append(made[: count // 2])
        for partition in range(queue.partitions):
            found = queue.read(partition, 0, 2)
            if found:
                queue.commit(partition, found[-1].offset)
        queue.trim()
        queue.append(made[count // 2 :])
        return waiting(queue)


def names(path: Path) -> set[str]:
    """Files of the folder without the stamp of damaged ones."""
    return {
        file.name.partition(".damaged-")[0] + (".damaged" if ".damaged-" in file.name else "")
        for file in path.parent.iterdir()
    }


@pytest.mark.parametrize("at", [0, 16, 18, 20, 21, 28, 46, 58, 60, 68, 110])
def test_a_header_that_is_garbled_loses_nothing(queue_path, at):
    """Events are found without it."""
    expected = filled(queue_path)
    data = bytearray(queue_path.read_bytes())
    data[at] ^= 0xFF
    data[at + 1] ^= 0xFF
    queue_path.write_bytes(data)
    with SqliteQueue(queue_path) as queue:
        assert waiting(queue) == expected
        (damage,) = queue.damages
        assert (damage.rescued, damage.lost) == (len(expected), 0)
        assert damage.kept_as.read_bytes() == bytes(data)
        assert queue.append([Event("new", b"")]).stored == 1
    with SqliteQueue(queue_path) as again:
        assert again.damages == ()


def test_ids_stay_known_and_lost_ones_may_be_sent_again(queue_path):
    """A page of payloads is overwritten."""
    expected = filled(queue_path)
    data = bytearray(queue_path.read_bytes())
    large = next(payload for payload in expected.values() if len(payload) > PAGE)
    at = data.index(large[5_000:5_100])
    data[at : at + 50] = bytes(50)
    queue_path.write_bytes(data)
    with SqliteQueue(queue_path) as queue:
        found = waiting(queue)
        (lost,) = expected.keys() - found.keys()
        assert "1 lost" in str(queue.damages[0])
        result = queue.append([Event(name, b"") for name in expected])
        assert (result.stored, result.duplicate) == (1, len(expected) - 1)
        assert queue.append([Event(f"id{n}", b"") for n in range(60)]).stored == 0
        assert waiting(queue)[lost] == b""


def test_offsets_do_not_come_again_after_a_rescue(queue_path):
    """Names of files in the lake are made of them."""
    filled(queue_path)
    with SqliteQueue(queue_path) as queue:
        before = max(event.offset for n in range(16) for event in queue.read(n, 0, 1_000))
    data = queue_path.read_bytes()
    queue_path.write_bytes(b"X" + data[1:])
    with SqliteQueue(queue_path) as queue:
        after = [event.offset for n in range(16) for event in queue.read(n, 0, 1_000)]
        assert min(after) > before


@pytest.mark.parametrize("size", [0, 1, 100, PAGE - 1, PAGE, 3 * PAGE + 7])
def test_a_file_that_is_cut_far_up_starts(queue_path, size):
    """An empty one is as good as none; of others the damaged file is kept."""
    filled(queue_path)
    os.truncate(queue_path, size)
    with SqliteQueue(queue_path) as queue:
        assert queue.append([Event("new", b"")]).stored == 1
        assert bool(queue.damages) == (size > 0)
    assert ("queue.sqlite.damaged" in names(queue_path)) == (size > 0)


def test_a_log_without_its_file_is_rescued(queue_path):
    """SQLite would delete it."""
    killed_writer(queue_path, 20)
    queue_path.unlink()
    with SqliteQueue(queue_path) as queue:
        assert len(waiting(queue)) == 20
        assert queue.damages[0].kept_as.name.startswith("queue.sqlite.damaged-")


def killed_writer(path: Path, count: int) -> None:
    """Append one by one in a process that is killed afterwards, so that its log stays."""
    program = f"""
import os
from pathlib import Path
from ragnostic.ports import Event
from ragnostic.store.queue import SqliteQueue
queue = SqliteQueue(Path({str(path)!r}))
for number in range({count}):
    queue.append([Event(f"id{{number}}", b"payload of %d " % number * 20)])
os.kill(os.getpid(), 9)
"""
    subprocess.run([sys.executable, "-c", program], check=False)


def test_a_bit_in_the_log_loses_at_most_its_own_event(queue_path):
    """SQLite alone would lose all that came after it, in silence."""
    killed_writer(queue_path, 40)
    log = queue_path.with_name("queue.sqlite-wal")
    data = bytearray(log.read_bytes())
    data[data.index(b"payload of 7 ") + 3] ^= 1
    log.write_bytes(data)
    with SqliteQueue(queue_path) as queue:
        (damage,) = queue.damages
        assert "does not check behind frame" in damage.reason
        assert damage.lost + len(waiting(queue)) == 40
        assert damage.lost <= 1
    assert "queue.sqlite-wal.damaged" not in names(queue_path)
    assert any(file.name.endswith("-wal") for file in queue_path.parent.glob("*damaged*"))


@pytest.mark.parametrize("at", [0, 8, 16, 24])
def test_a_garbled_header_of_the_log_loses_nothing(queue_path, at):
    """SQLite alone would take the log for empty."""
    killed_writer(queue_path, 20)
    log = queue_path.with_name("queue.sqlite-wal")
    data = bytearray(log.read_bytes())
    data[at] ^= 4
    log.write_bytes(data)
    with SqliteQueue(queue_path) as queue:
        assert len(waiting(queue)) == 20


def test_a_log_that_is_cut_is_named(queue_path):
    """The index beside it says how many frames were committed; nobody knows what they held."""
    killed_writer(queue_path, 20)
    log = queue_path.with_name("queue.sqlite-wal")
    os.truncate(log, log.stat().st_size - 3 * PAGE)
    with SqliteQueue(queue_path) as queue:
        assert "or more lost" in str(queue.damages[0])
        assert 0 < len(waiting(queue)) < 20


def test_a_log_of_a_few_bytes_is_named(queue_path):
    """Its header is gone."""
    filled(queue_path)
    queue_path.with_name("queue.sqlite-wal").write_bytes(b"few")
    with SqliteQueue(queue_path) as queue:
        assert "its log is cut short" in str(queue.damages[0])


def test_a_clean_kill_is_no_damage(queue_path):
    """What was acknowledged is there."""
    killed_writer(queue_path, 20)
    with SqliteQueue(queue_path) as queue:
        assert queue.damages == ()
        assert len(waiting(queue)) == 20


def test_withdrawn_events_are_withdrawn_after_a_rescue(queue_path):
    """Forgotten ones are neither lost nor back; what is left of damaged ones is kept."""
    filled(queue_path)
    with SqliteQueue(queue_path) as queue:
        forgotten, broken, *others = sorted(waiting(queue))
        queue.remove(lambda event: event.id == forgotten)
        with closing(sqlite3.connect(queue_path, isolation_level=None)) as connection:
            connection.execute("UPDATE events SET payload = x'' WHERE id = ?", (broken.encode(),))
        assert sorted(waiting(queue)) == others
    data = bytearray(queue_path.read_bytes())
    at = data.index(b"CREATE TABLE events")
    data[at] ^= 1
    queue_path.write_bytes(data)
    with SqliteQueue(queue_path) as queue:
        assert sorted(waiting(queue)) == others
        assert queue.damages[0].lost <= 2


def test_a_rescue_that_was_interrupted_is_finished(queue_path):
    """From the moment on which the new file is complete."""
    expected = filled(queue_path)
    whole = queue_path.read_bytes()
    queue_path.with_name("queue.sqlite.rescued").write_bytes(whole)
    queue_path.write_bytes(b"garbage")
    queue_path.with_name("queue.sqlite-wal").write_bytes(b"old log")
    with SqliteQueue(queue_path) as queue:
        assert waiting(queue) == expected
        assert "interrupted" in str(queue.damages[0])
    kept = queue.damages[0].kept_as
    assert kept.read_bytes() == b"garbage"
    assert kept.with_name(f"{kept.name}-wal").read_bytes() == b"old log"


def test_two_rescues_in_a_second_keep_both_files(queue_path):
    """The names differ."""
    filled(queue_path)
    for _ in range(2):
        data = queue_path.read_bytes()
        queue_path.write_bytes(b"X" + data[1:])
        SqliteQueue(queue_path).close()
    assert len(list(queue_path.parent.glob("*.damaged-*"))) == 2


def test_damage_while_it_is_open_is_said_and_rescued_by_the_next_use(queue_path):
    """The process was alone, so the same object goes on."""
    expected = filled(queue_path)
    with SqliteQueue(queue_path) as queue:
        data = bytearray(queue_path.read_bytes())
        for page in range(1, len(data) // PAGE):
            if data[page * PAGE] == 5:  # an inner page of the events
                data[page * PAGE] = 77
        with queue_path.open("r+b") as file:
            file.write(data)
        with pytest.raises(StoreError, match="is damaged") as found:
            waiting(queue)
        assert found.value.retryable
        assert waiting(queue) == expected
        assert queue.damages


def test_damage_that_others_have_open_waits_for_the_last_of_them(queue_path):
    """Nobody renames a file under a process that uses it."""
    expected = filled(queue_path)
    with SqliteQueue(queue_path) as other:
        data = bytearray(queue_path.read_bytes())
        data[0] ^= 1
        with queue_path.open("r+b") as file:
            file.write(data)
        with pytest.raises(StoreError, match="restart all that use it"):
            waiting(SqliteQueue(queue_path))
        other.close()
        with SqliteQueue(queue_path) as alone:
            assert waiting(alone) == expected


def test_large_files_are_checked_when_they_are_suspect(queue_path, monkeypatch):
    """A missing event between others is seen then."""
    filled(queue_path)
    with closing(sqlite3.connect(queue_path, isolation_level=None)) as connection:
        connection.execute("DELETE FROM events WHERE place IN (SELECT min(place) FROM events)")
    monkeypatch.setattr("ragnostic.store.sqlite_rescue.CHECKED_BYTES", 10)
    with SqliteQueue(queue_path) as queue:
        assert queue.damages == ()
    queue_path.with_name("queue.sqlite.suspect").touch()
    with SqliteQueue(queue_path) as queue:
        assert queue.damages
    assert "queue.sqlite.suspect" not in names(queue_path)


def test_all_kinds_of_changed_rows_are_damage(queue_path, tmp_path):
    """A commit, an event, an event of no partition."""
    filled(queue_path)
    for number, change in enumerate(
        (
            "UPDATE partitions SET committed = committed + 1 WHERE partition = 3",
            "DELETE FROM partitions WHERE partition = 3",
            "UPDATE events SET payload = x'00' WHERE place IN (SELECT max(place) FROM events)",
            "INSERT INTO withdrawn VALUES (1 << 60, 0, NULL, NULL)",
        )
    ):
        path = tmp_path / f"{number}.sqlite"
        shutil.copy(queue_path, path)
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute(change)
        with SqliteQueue(path) as queue:
            assert len(queue.damages) == 1, change


def test_a_rescue_without_room_changes_nothing(queue_path, monkeypatch):
    """It is tried again by the next use."""
    filled(queue_path)
    data = queue_path.read_bytes()
    queue_path.write_bytes(b"X" + data[1:])

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("ragnostic.store.sqlite_rescue.sync", full)
        with pytest.raises(StoreError, match="No space left"):
            SqliteQueue(queue_path)
    assert queue_path.read_bytes() == b"X" + data[1:]
    with SqliteQueue(queue_path) as queue:
        assert queue.damages
    assert isinstance(queue._file, SqliteFile)
