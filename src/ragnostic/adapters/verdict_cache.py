"""Grades kept between runs: a passage is graded once a model, prompt and text.

Only hashes, grades and the model's name are stored, never text; and never a failure.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path

from ragnostic.adapters.vector_cache import default_cache_path
from ragnostic.errors import Fault
from ragnostic.judges.grader_prompt import MAX_GRADE, Prompt
from ragnostic.judges.grader_reply import Verdict

FILE = "verdicts.sqlite"
_QUESTION = 500
_BUSY_MS = 10_000


def default_verdicts_path(environment: Mapping[str, str]) -> Path:
    """Where verdicts are kept: ``$XDG_CACHE_HOME`` or ``~/.cache``.

    >>> default_verdicts_path({"XDG_CACHE_HOME": "/var/cache/me"}).as_posix()
    '/var/cache/me/ragnostic/verdicts.sqlite'
    """
    return default_cache_path(environment).with_name(FILE)


def verdict_key(model: str, prompt: Prompt) -> bytes:
    """SHA-256 over the model's identity and both messages, query and passage among them.

    >>> verdict_key("m", Prompt("a", "")) == verdict_key("m", Prompt("", "a"))
    False
    """
    digest = hashlib.sha256()
    for part in (model, prompt.system, prompt.user):
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "little"))
        digest.update(encoded)
    return digest.digest()


class VerdictCache:
    """A SQLite file of key → verdict; several processes and threads may share it.

    A damaged file is renamed aside and a new one begun; one that cannot be used is left out. Both
    are told in ``faults``, and neither is fatal: what is not kept is asked again.
    """

    def __init__(self, path: Path) -> None:
        self.faults: list[Fault] = []
        self._path = path
        self._lock = threading.Lock()
        self._connection = self._open()

    def read(self, keys: Sequence[bytes]) -> dict[bytes, Verdict]:
        """The verdicts that are there and are whole."""
        found: dict[bytes, Verdict] = {}
        for start in range(0, len(keys), _QUESTION):
            part = keys[start : start + _QUESTION]
            marks = ",".join("?" * len(part))
            asked = f"SELECT key, verdict FROM verdicts WHERE key IN ({marks})"  # noqa: S608 (only ?)
            for key, written in self._run(asked, part):
                verdict = _verdict(written)
                if verdict is not None:
                    found[key] = verdict
        return found

    def write(self, key: bytes, verdict: Verdict) -> None:
        """Keep a verdict; raises ValueError for a failure, which is to be asked again."""
        if verdict.grade is None:
            raise ValueError("a failure is no verdict to be kept")
        written = {"grade": verdict.grade, "facets": dict(verdict.facets), "model": verdict.model}
        self._run(
            "INSERT OR REPLACE INTO verdicts VALUES (?, ?)",
            (key, json.dumps(written, ensure_ascii=False)),
        )

    def close(self) -> None:
        """Close the file; done by itself when the object goes."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _run(self, statement: str, values: Sequence[object]) -> list[tuple[bytes, object]]:
        with self._lock:
            if self._connection is None:
                return []
            try:
                with self._connection:
                    return self._connection.execute(statement, values).fetchall()
            except sqlite3.OperationalError as error:
                self._tell(f"not used for a moment: {error}")
            except sqlite3.DatabaseError as error:
                self._connection.close()
                self._set_aside(error)
                self._connection = self._open()
            return []

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
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS verdicts "
                    "(key BLOB PRIMARY KEY, verdict TEXT NOT NULL) WITHOUT ROWID"
                )
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
        fault = Fault("verdict_cache", f"verdict cache {self._path}: {what}")
        if fault not in self.faults:
            self.faults.append(fault)


def _verdict(written: object) -> Verdict | None:
    """A stored verdict, or None for what is none (a damaged row is a miss)."""
    try:
        given = json.loads(str(written))
        grades = [given["grade"], *given["facets"].values()]
        if all(type(grade) is int and 0 <= grade <= MAX_GRADE for grade in grades):
            return Verdict(given["grade"], given["facets"], str(given["model"]))
    except (ValueError, TypeError, KeyError, AttributeError):
        pass
    return None
