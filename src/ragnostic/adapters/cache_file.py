"""A SQLite file that may be lost: shared by processes and threads, never fatal."""

from __future__ import annotations

import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ragnostic.errors import Fault

QUESTION = 500
"""Keys of one question: SQLite takes a limited number of marks."""
_BUSY_MS = 10_000


class CacheFile:
    """One table in one file. A damaged file is renamed aside and a new one begun; one that cannot
    be used is left out. Both are told in ``faults``, each once, in the words of ``fault``.
    """

    def __init__(
        self, path: Path, table: str, faults: list[Fault], fault: Callable[[str], Fault]
    ) -> None:
        self._path = path
        self._table = table
        self._faults = faults
        self._fault = fault
        self._lock = threading.Lock()
        self._connection = self._open()

    @property
    def is_usable(self) -> bool:
        """Whether anything can be stored."""
        return self._connection is not None

    def close(self) -> None:
        """Close the file; done by itself when the object goes."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    @contextmanager
    def guarded(self) -> Iterator[sqlite3.Connection | None]:
        """The connection, or None; a database error ends the block and puts the file aside."""
        with self._lock:
            try:
                yield self._connection
            except sqlite3.OperationalError as error:
                self._tell(f"not used for a moment: {error}")
            except sqlite3.DatabaseError as error:
                if self._connection is not None:
                    self._connection.close()
                self._set_aside(error)
                self._connection = self._open()

    def _open(self) -> sqlite3.Connection | None:
        for _ in range(2):
            try:
                return self._connect()
            except sqlite3.OperationalError as error:
                self._tell(f"not used: {error}")
                return None
            except sqlite3.DatabaseError as error:
                self._set_aside(error)
            except OSError as error:
                self._tell(f"not used: {error.strerror or error}")
                return None
        return None

    def _connect(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        connection = sqlite3.connect(self._path, timeout=_BUSY_MS / 1000, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            with connection:
                connection.execute(f"CREATE TABLE IF NOT EXISTS {self._table} WITHOUT ROWID")
        except sqlite3.Error:
            connection.close()
            raise
        weakref.finalize(self, connection.close)
        return connection

    def _set_aside(self, error: Exception) -> None:
        aside, number = self._path, 0
        while aside.exists():
            number += 1
            aside = self._path.with_name(f"{self._path.name}.damaged-{number}")
        try:
            self._path.replace(aside)
        except OSError as problem:
            self._tell(f"is damaged ({error}) and cannot be renamed: {problem.strerror or problem}")
            return
        for suffix in ("-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        self._tell(f"is damaged ({error}); renamed to {aside.name}, a new one is begun")

    def _tell(self, what: str) -> None:
        fault = self._fault(what)
        if fault not in self._faults:
            self._faults.append(fault)
