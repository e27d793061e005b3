"""Vectors kept between runs: a passage is embedded once a model, prefix and content.

Only hashes and vectors are stored, never text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ragnostic.adapters.cache_file import QUESTION, CacheFile
from ragnostic.errors import Fault
from ragnostic.ports import Embedder, Progress, Role, Vectors, no_progress

KEPT = "embed and keep"
"""What progress is told while vectors are embedded and stored."""
_TRANSACTION = 256
"""Texts embedded between two commits: what a kill may lose."""
_UNIT_TOLERANCE = 1e-3


def default_cache_path(environment: Mapping[str, str]) -> Path:
    """Where vectors are kept: ``$XDG_CACHE_HOME`` or ``~/.cache``.

    >>> default_cache_path({"XDG_CACHE_HOME": "/var/cache/me"}).as_posix()
    '/var/cache/me/ragnostic/vectors.sqlite'
    """
    configured = environment.get("XDG_CACHE_HOME", "")
    home = environment.get("HOME", "")
    base = Path(configured) if configured else (Path(home) if home else Path.home()) / ".cache"
    return base / "ragnostic" / "vectors.sqlite"


class CachedEmbedder:
    """An embedder that looks up before it embeds.

    ``path`` ``None`` keeps nothing. ``fresh`` ignores what earlier runs stored, but stores.
    ``hits`` and ``misses`` count texts; a repeated text within one call is embedded once.
    Several processes may share a file. A damaged or unusable file is never fatal: it is renamed
    aside or left out, and told in ``faults``. An embedder may offer ``role_key(role) -> str`` to
    say what beside its name makes vectors differ (a prefix).
    """

    def __init__(self, embedder: Embedder, path: Path | None, *, fresh: bool = False) -> None:
        self.name = embedder.name
        self.hits = 0
        self.misses = 0
        self.faults: list[Fault] = []
        self._embedder = embedder
        self._fresh = fresh
        self._own: set[bytes] = set()
        self._store = None if path is None else _Store(path, self.faults)

    def embed(self, texts: Sequence[str], role: Role, progress: Progress = no_progress) -> Vectors:
        """As the wrapped embedder; ``progress`` counts the texts that were not in the cache.

        Queries are always embedded: their time is part of a retrieval's ``took_ms``.
        """
        if role == "query":
            return self._embedder.embed(texts, role, progress)
        keys = [self._key(text) for text in texts]
        unique = dict(zip(keys, texts, strict=True))
        found = self._look_up(list(unique))
        missing = [key for key in unique if key not in found]
        self.misses += len(missing)
        self.hits += len(texts) - len(missing)
        for start in range(0, len(missing), _TRANSACTION):
            part = missing[start : start + _TRANSACTION]
            told = _shifted(
                progress,
                start,
                len(missing),
                kept=self._store is not None and self._store.is_usable,
            )
            vectors = self._embedder.embed([unique[key] for key in part], role, told)
            found.update(zip(part, vectors, strict=True))
            if self._store is not None:
                self._store.write(part, vectors)
                self._own.update(part)
        if not keys:
            return self._embedder.embed([], role)
        return np.stack([found[key] for key in keys])

    def count_tokens(self, text: str) -> int:
        """As the wrapped embedder."""
        return self._embedder.count_tokens(text)

    def close(self) -> None:
        """Close the file; done by itself when the object goes."""
        if self._store is not None:
            self._store.close()

    def _key(self, text: str) -> bytes:
        role_key = getattr(self._embedder, "role_key", None)
        digest = hashlib.sha256()
        for part in (self.name, "" if role_key is None else role_key("passage"), text):
            encoded = part.encode("utf-8", "surrogatepass")
            digest.update(len(encoded).to_bytes(8, "little"))
            digest.update(encoded)
        return digest.digest()

    def _look_up(self, keys: list[bytes]) -> dict[bytes, Vectors]:
        if self._store is None:
            return {}
        wanted = [key for key in keys if key in self._own] if self._fresh else keys
        found = self._store.read(wanted)
        sizes = [len(vector) for vector in found.values()]
        usual = max(set(sizes), key=sizes.count, default=0)
        return {key: vector for key, vector in found.items() if len(vector) == usual}


def _shifted(progress: Progress, offset: int, total: int, *, kept: bool) -> Progress:
    """A Progress of one part that tells of the whole; it says so where the vectors are stored."""
    return lambda label, done, _: progress(KEPT if kept else label, offset + done, total)


class _Store:
    """The cache file: key → float32 bytes. Reads nothing and writes nothing once it failed."""

    def __init__(self, path: Path, faults: list[Fault]) -> None:
        self._file = CacheFile(
            path,
            "vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL)",
            faults,
            lambda what: Fault("vector_cache", f"vector cache {path}: {what}"),
        )
        self.close = self._file.close

    @property
    def is_usable(self) -> bool:
        """Whether anything can be stored."""
        return self._file.is_usable

    def read(self, keys: Sequence[bytes]) -> dict[bytes, Vectors]:
        """The vectors that are there and are whole."""
        found: dict[bytes, Vectors] = {}
        with self._file.guarded() as connection:
            for start in range(0, len(keys) if connection else 0, QUESTION):
                part = keys[start : start + QUESTION]
                marks = ",".join("?" * len(part))
                rows = connection.execute(  # type: ignore[union-attr] # the range is empty then
                    f"SELECT key, vector FROM vectors WHERE key IN ({marks})",  # noqa: S608 (only ?)
                    part,
                )
                found.update(
                    (key, vector) for key, raw in rows if (vector := _whole(raw)) is not None
                )
        return found

    def write(self, keys: Sequence[bytes], vectors: Vectors) -> None:
        """Store in one transaction."""
        rows = [
            (key, np.asarray(vector, dtype="<f4").tobytes())
            for key, vector in zip(keys, vectors, strict=True)
        ]
        with self._file.guarded() as connection:
            if connection is not None:
                with connection:
                    connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)


def _whole(raw: bytes) -> Vectors | None:
    """The vector, or ``None`` if the bytes are no unit vector (a damaged row is a miss)."""
    if not raw or len(raw) % 4:
        return None
    vector = np.frombuffer(raw, dtype="<f4")
    with np.errstate(all="ignore"):
        square = float(vector @ vector)
    return vector if abs(square - 1) < _UNIT_TOLERANCE else None
