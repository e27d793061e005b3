"""A corpus snapshot as scoring looks into it: ids, vectors, and texts by their hash."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ragnostic.metrics.inputs import Floats
from ragnostic.ports import Vectors
from ragnostic.scoring import ChunkTokens
from ragnostic.scoring.lookup import IdIndex

_DIGEST = re.compile(r"(?:sha256:)?([0-9a-f]{64}|[0-9a-f]{16})", re.IGNORECASE)
_SHORT = 16
_PAIRS = 10_000


class Snapshot(Protocol):
    """What is read of a corpus snapshot; :class:`ragnostic.store.snapshots.Snapshot` is one."""

    @property
    def fingerprint(self) -> str:
        """Identity of its content."""
        ...

    @property
    def chunks(self) -> pa.Table:
        """``id``, ``text`` and perhaps ``tokens`` of each chunk."""
        ...

    @property
    def vectors(self) -> Vectors | None:
        """(n, d), parallel to the chunks; None where there are none."""
        ...


@dataclass(frozen=True)
class CorpusView:
    """A snapshot, with what is looked up in it made once."""

    snapshot: Snapshot

    @cached_property
    def ids(self) -> IdIndex:
        """The chunk ids."""
        return IdIndex.of(self.snapshot.chunks["id"].combine_chunks())

    @cached_property
    def norms(self) -> Floats:
        """Length of each vector; 0 for one that has no direction, none at all without vectors."""
        vectors = self.snapshot.vectors
        if vectors is None:
            return np.zeros(0)
        lengths = np.sqrt(np.einsum("nd,nd->n", vectors, vectors, dtype=np.float64))
        return np.where(np.isfinite(lengths), lengths, 0.0)

    def unit(self, rows: npt.NDArray[np.int64]) -> Floats:
        """Vectors of chunks (by row, any shape) as float64 of length 1; (…, d)."""
        vectors = self.snapshot.vectors
        if vectors is None:
            return np.zeros((*rows.shape, 0))
        found: Floats = vectors[rows].astype(np.float64) / self.norms[rows][..., None]
        return found

    @cached_property
    def random_distance(self) -> float | None:
        """Mean cosine distance of random pairs of chunks, seeded by the fingerprint (METRICS 7).

        None with fewer than two vectors that have a direction.
        """
        usable = np.flatnonzero(self.norms > 0)
        if usable.size < 2:
            return None
        seed = int.from_bytes(hashlib.sha256(self.snapshot.fingerprint.encode()).digest()[:8])
        draw = np.random.default_rng(seed)
        first = draw.integers(usable.size, size=_PAIRS)
        # A step of at least one place, so that no chunk is paired with itself.
        second = (first + draw.integers(1, usable.size, size=_PAIRS)) % usable.size
        total = 0.0
        for start in range(0, _PAIRS, 1000):
            part = slice(start, start + 1000)
            pair = self.unit(usable[first[part]]), self.unit(usable[second[part]])
            total += float((1 - np.einsum("nd,nd->n", *pair).clip(-1, 1)).sum())
        return total / _PAIRS

    @cached_property
    def tokens(self) -> ChunkTokens | None:
        """Token counts of the chunks, where they are known."""
        chunks = self.snapshot.chunks
        if "tokens" not in chunks.column_names:
            return None
        counts = chunks["tokens"].cast(pa.float64()).fill_null(float("nan")).to_numpy()
        return ChunkTokens(self.ids, np.asarray(counts, dtype=np.float64))

    @cached_property
    def _by_digest(self) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, list[str]] = defaultdict(list)
        chunks = self.snapshot.chunks
        pairs = zip(chunks["id"].to_pylist(), chunks["text"].to_pylist(), strict=True)
        for id_, text in pairs:
            if text is not None:
                digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
                found[digest].append(id_)
                found[digest[:_SHORT]].append(id_)
        return {digest: tuple(ids) for digest, ids in found.items()}

    def by_hash(self, name: str) -> tuple[str, ...]:
        """Ids of the chunks whose text has this hash: SHA-256 in hex, whole or its first 16
        digits, perhaps after ``sha256:``. Empty where there is none.
        """
        shape = _DIGEST.fullmatch(name)
        return self._by_digest.get(shape[1].lower(), ()) if shape else ()
