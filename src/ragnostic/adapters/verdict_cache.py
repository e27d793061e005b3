"""Grades kept between runs: a passage is graded once a model, prompt and text.

Only hashes, grades and the model's name are stored, never text; and never a failure.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from ragnostic.adapters.cache_file import QUESTION, CacheFile
from ragnostic.adapters.vector_cache import default_cache_path
from ragnostic.errors import Fault
from ragnostic.judges.grader_prompt import MAX_GRADE, Prompt
from ragnostic.judges.grader_reply import Verdict

FILE = "verdicts.sqlite"


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
        self._file = CacheFile(
            path,
            "verdicts (key BLOB PRIMARY KEY, verdict TEXT NOT NULL)",
            self.faults,
            lambda what: Fault("verdict_cache", f"verdict cache {path}: {what}"),
        )

    def read(self, keys: Sequence[bytes]) -> dict[bytes, Verdict]:
        """The verdicts that are there and are whole."""
        found: dict[bytes, Verdict] = {}
        for start in range(0, len(keys), QUESTION):
            part = keys[start : start + QUESTION]
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
        self._file.close()

    def _run(self, statement: str, values: Sequence[object]) -> list[tuple[bytes, object]]:
        with self._file.guarded() as connection:
            if connection is not None:
                with connection:
                    return connection.execute(statement, values).fetchall()
        return []


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
