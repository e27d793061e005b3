"""The log read as SQLite reads it, and further."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ragnostic.store.wal import PAGE, Wal, read_wal, wal_path

FRAME = PAGE + 24


@pytest.fixture
def logged(tmp_path: Path) -> Path:
    """A file with a log of several commits, as a killed process leaves it."""
    source = tmp_path / "source.sqlite"
    with closing(sqlite3.connect(source, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA page_size={PAGE}")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE t(a)")
        for number in range(5):
            connection.execute("INSERT INTO t VALUES (?)", (bytes([number]) * 3_000,))
        for end in ("", "-wal", "-shm"):
            shutil.copy(f"{source}{end}", f"{tmp_path / 'copy.sqlite'}{end}")
    return tmp_path / "copy.sqlite"


def change(path: Path, at: int) -> None:
    """Flip a bit of the log."""
    data = bytearray(wal_path(path).read_bytes())
    data[at] ^= 1
    wal_path(path).write_bytes(data)


def test_a_log_as_a_crash_leaves_it_has_no_fault(logged):
    """Its checksums are the ones that SQLite computed; frames come in order."""
    wal = read_wal(logged)
    assert wal.fault == ""
    assert wal.frames[0].page == 1
    assert bytes([4]) * 3_000 in wal.frames[-1].image


def test_without_a_log_there_is_nothing(tmp_path):
    """Nor in an empty one."""
    assert read_wal(tmp_path / "none") == Wal()
    wal_path(tmp_path / "none").touch()
    assert read_wal(tmp_path / "none") == Wal()


@pytest.mark.parametrize("index", [True, False])
@pytest.mark.parametrize("place", [0, 4, 8, 16, 23, 24, 2_000, FRAME - 1])
def test_a_bit_in_a_committed_frame_is_a_fault(logged, place, index):
    """In its header or its page; with SQLite's index of the log and without."""
    if not index:
        logged.with_name("copy.sqlite-shm").unlink()
    change(logged, 32 + 2 * FRAME + place)
    wal = read_wal(logged)
    assert "behind frame" in wal.fault
    assert not wal.short


def test_a_last_frame_that_was_not_committed_is_no_fault(logged):
    """A process was killed while it wrote it: its header is there, its page is not."""
    log = wal_path(logged)
    data = log.read_bytes()
    log.write_bytes(data + data[-FRAME:-PAGE] + bytes(PAGE))
    assert read_wal(logged).fault == ""
    log.write_bytes(data + data[-FRAME:-PAGE] + b"partly")
    assert read_wal(logged).fault == ""


def test_without_the_index_an_unfinished_commit_is_taken_for_damage(logged):
    """It may have been acknowledged."""
    logged.with_name("copy.sqlite-shm").unlink()
    log = wal_path(logged)
    data = log.read_bytes()
    log.write_bytes(data + data[-FRAME:-PAGE] + bytes(PAGE))
    assert read_wal(logged).fault


@pytest.mark.parametrize("at", [0, 4, 8, 12, 16, 24])
def test_a_bit_in_the_header_is_a_fault(logged, at):
    """Only what SQLite does not check (its version number) is covered by the checksum."""
    change(logged, at)
    assert read_wal(logged).fault == "the header of its log does not check"


def test_a_log_that_lost_its_end_is_short(logged):
    """And one that lost nearly all."""
    log = wal_path(logged)
    log.write_bytes(log.read_bytes()[: -2 * FRAME])
    assert read_wal(logged).short
    log.write_bytes(b"x" * 31)
    assert read_wal(logged) == Wal(fault="its log is cut short", short=True)
