"""A SQLite file in use by many threads and processes: opened with care, and again after an error.

Every process holds a shared lock on ``FILE.lock`` while it has the file open; whoever finds itself
alone checks the file first (:mod:`ragnostic.store.sqlite_rescue`). The kernel lets go of the
locks of a killed process.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from ragnostic.errors import StoreError
from ragnostic.store.damage import Damage
from ragnostic.store.sqlite_rescue import Layout, is_damage, prepare
from ragnostic.store.wal import wal_path

BUSY_S = 10.0
"""How long a write waits for those of other processes."""
_RESERVE = 64 << 20
"""Bytes of the disk that appends leave free, or a sixteenth of a smaller one."""
_ROOMY_S = 0.5
"""For so long a disk that is far from full is taken to be so."""
_PRAGMAS = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "secure_delete=ON",  # what is trimmed or forgotten is overwritten
    "cache_size=-16384",
    "journal_size_limit=67108864",
)
_FULL = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


class SqliteFile:
    """One SQLite file; ``damages`` is what was found damaged when it was opened."""

    def __init__(self, path: Path, layout: Layout) -> None:
        self.path = path
        self.damages: tuple[Damage, ...] = ()
        self._layout = layout
        self._suspect = path.with_name(f"{path.name}.suspect")
        self._mutex = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._lock: int | None = None
        self._roomy_until = 0.0
        with self.reading():
            pass

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The connection for one thread at a time. Raises StoreError, also for what goes wrong
        inside; after an error other than a full or busy disk it is opened anew by the next use.
        """
        with self._mutex:
            try:
                yield self._opened()
            except sqlite3.Error as error:
                raise self._recovered(error) from error
            except BaseException as error:
                if is_damage(error):
                    raise self._recovered(error) from error
                self._rollback()
                raise

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """The same in a transaction: all of it is on the disk when it ends, or nothing."""
        with self.reading() as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")

    def check_room(self, size: int) -> None:
        """Raise StoreError where ``size`` bytes more would leave too little room for the work
        that makes room: committing, trimming, and moving the log into the file.
        """
        if time.monotonic() < self._roomy_until or self.has_room(size):
            return
        self.shrink_log()
        if not self.has_room(size):
            raise StoreError(
                f"the disk of {self.path} is full",
                hint="make room; what waits in the queue is safe and can still be worked off",
                retryable=True,
            )

    def shrink_log(self) -> None:
        """Move the log into the file and empty it, as far as others who read allow."""
        with suppress(StoreError), self.reading() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def close(self) -> None:
        """Let go of the file; the next use opens it again."""
        with self._mutex:
            self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def has_room(self, size: int) -> bool:
        """Whether ``size`` bytes more leave enough."""
        disk = shutil.disk_usage(self.path.parent)
        try:
            log = wal_path(self.path).stat().st_size
        except FileNotFoundError:
            log = 0
        needed = min(_RESERVE, disk.total // 16) + log + 2 * size
        if disk.free > 16 * needed:
            # Far from full: to ask at every record would cost a tenth of its time.
            self._roomy_until = time.monotonic() + _ROOMY_S
        return disk.free >= needed

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            try:
                self._connection = self._open()
            except OSError as error:
                self._close()
                raise self._explained(error) from error
            except BaseException:
                self._close()
                raise
        return self._connection

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        lock = self.path.with_name(f"{self.path.name}.lock")
        self._lock = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            # Waits only while another one is opening it.
            fcntl.flock(self._lock, fcntl.LOCK_SH)
        else:
            damage = prepare(self.path, self._layout, suspect=self._suspect.exists())
            self.damages += () if damage is None else (damage,)
            self._suspect.unlink(missing_ok=True)
        connection = sqlite3.connect(
            self.path, timeout=BUSY_S, isolation_level=None, check_same_thread=False
        )
        try:
            for pragma in _PRAGMAS:
                connection.execute(f"PRAGMA {pragma}").fetchall()
        except BaseException:
            connection.close()
            raise
        fcntl.flock(self._lock, fcntl.LOCK_SH)
        return connection

    def _rollback(self) -> None:
        if self._connection is not None and self._connection.in_transaction:
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")

    def _recovered(self, error: BaseException) -> StoreError:
        """Undo, so that the next use starts afresh; and say what went wrong."""
        self._rollback()
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code not in {sqlite3.SQLITE_FULL, *_BUSY}:
            self._close()
        if is_damage(error):
            # The next one who is alone with the file checks it whole, and rescues.
            with suppress(OSError):
                self._suspect.touch()
        return self._explained(error)

    def _explained(self, error: BaseException) -> StoreError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        text = getattr(error, "strerror", None) or str(error)
        if is_damage(error):
            hint = (
                "it is rescued when it is opened next by one process alone: restart all that use it"
            )
            return StoreError(f"{self.path} is damaged: {text}", hint=hint, retryable=True)
        if code in _BUSY:
            hint = "another process holds it for long; the same call may be made again"
            return StoreError(f"{self.path} is busy: {text}", hint=hint, retryable=True)
        hint = "is the disk full, may the folder be written to?"
        retryable = code in _FULL or isinstance(error, OSError)
        return StoreError(f"{self.path} cannot be used: {text}", hint=hint, retryable=retryable)

    def _close(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
