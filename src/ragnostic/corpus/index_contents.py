"""One pass over a vector index: what it holds, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ragnostic.corpus.index_expected import Examples, Expected, digest, same_text
from ragnostic.ports import Progress, StoredBatch, Vectors, no_progress
from ragnostic.text import normalise

UNIT_TOLERANCE = 1e-2
"""Half precision and bytes leave a unit vector's length within this of 1."""

Embed = Callable[[list[str]], Vectors]


@dataclass(slots=True)
class Contents:
    """What one pass found. Memory grows with the number of ids, never with the vectors.

    ``cosines``: of sampled vectors with what their texts embed to, and ``compared`` their ids;
    ``versions``: document → version → ids; ``digests``: id → its text, for comparing builds.
    """

    rows: int = 0
    ids: set[str] = field(default_factory=set)
    documents: set[str] = field(default_factory=set)
    orphans: Examples = field(default_factory=Examples)
    known: int = 0
    with_document: int = 0
    duplicate_ids: Examples = field(default_factory=Examples)
    duplicate_texts: Examples = field(default_factory=Examples)
    stale_texts: Examples = field(default_factory=Examples)
    with_text: int = 0
    no_vector: Examples = field(default_factory=Examples)
    not_finite: Examples = field(default_factory=Examples)
    zero: Examples = field(default_factory=Examples)
    not_unit: Examples = field(default_factory=Examples)
    norms: tuple[float, float] | None = None
    compared: list[str] = field(default_factory=list)
    cosines: list[float] = field(default_factory=list)
    versions: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    digests: dict[str, int] = field(default_factory=dict)

    def of_several_versions(self) -> Mapping[str, Mapping[str, list[str]]]:
        """The documents that are there in more than one version."""
        return {name: held for name, held in self.versions.items() if len(held) > 1}


@dataclass(frozen=True, slots=True)
class Reading:
    """How an index is read. ``embed`` makes vectors of texts, for a ``share`` of the rows that is
    always the same, and for the ids ``also``; without it vectors are not compared. ``listing``
    keeps the digests.
    """

    expected: Expected | None
    share: float = 1.0
    also: frozenset[str] = frozenset()
    embed: Embed | None = None
    listing: bool = False
    progress: Progress = no_progress


def read_contents(batches: Iterable[StoredBatch], total: int, reading: Reading) -> Contents:
    """Everything that one pass tells."""
    found = Contents()
    texts: set[int] = set()
    for batch in batches:
        _rows(found, batch, texts, reading)
        sound = _vectors(found, batch)
        _compare(found, batch, sound, reading)
        reading.progress("read the index", min(found.rows, total), total)
    return found


def _rows(found: Contents, batch: StoredBatch, texts: set[int], reading: Reading) -> None:
    rows = zip(batch.ids, batch.texts, batch.doc_ids, batch.versions, strict=True)
    for id_, text, doc_id, version in rows:
        found.rows += 1
        if id_ in found.ids:
            found.duplicate_ids.add([id_])
        found.ids.add(id_)
        if doc_id is not None:
            found.with_document += 1
            found.documents.add(doc_id)
            if version is not None:
                found.versions.setdefault(doc_id, {}).setdefault(version, []).append(id_)
        _place(found, reading.expected, id_, doc_id, text)
        if text is not None:
            key = digest(normalise(text))
            if key in texts:
                found.duplicate_texts.add([id_])
            texts.add(key)
            found.with_text += 1
            if reading.listing:
                found.digests[id_] = key


def _place(
    found: Contents, expected: Expected | None, id_: str, doc_id: str | None, text: str | None
) -> None:
    """Whether the row belongs there, with this text."""
    if expected is None:
        return
    if not expected.holds(id_, doc_id):
        found.orphans.add([id_])
        return
    found.known += 1
    chunk = expected.chunks.get(id_)
    if chunk is not None and text is not None and not same_text(text, chunk):
        found.stale_texts.add([id_])


def _vectors(found: Contents, batch: StoredBatch) -> npt.NDArray[np.bool_]:
    """Which rows have a vector with a direction."""
    held = np.array([size > 0 for size in batch.sizes], dtype=bool)
    finite = np.isfinite(batch.vectors).all(axis=1)
    with np.errstate(all="ignore"):
        norms = np.linalg.norm(batch.vectors.astype(np.float64), axis=1)
    zero = finite & (norms == 0)
    sound: npt.NDArray[np.bool_] = held & finite & ~zero
    uneven = sound & (np.abs(norms - 1) > UNIT_TOLERANCE)
    for told, rows in (
        (found.no_vector, ~held),
        (found.not_finite, held & ~finite),
        (found.zero, held & zero),
        (found.not_unit, uneven),
    ):
        told.add(batch.ids[row] for row in np.flatnonzero(rows).tolist())
    if sound.any():
        ends = (float(norms[sound].min()), float(norms[sound].max()))
        known = found.norms or ends
        found.norms = (min(known[0], ends[0]), max(known[1], ends[1]))
    return sound


def _compare(
    found: Contents, batch: StoredBatch, sound: npt.NDArray[np.bool_], reading: Reading
) -> None:
    """Cosines of the sampled rows with what their texts are embedded to."""
    if reading.embed is None:
        return
    pairs = _sampled(batch, sound, reading)
    if not pairs:
        return
    rows, texts = [row for row, _ in pairs], [text for _, text in pairs]
    fresh = reading.embed(texts)
    if fresh.shape[1] != batch.vectors.shape[1]:
        return
    stored = batch.vectors[rows].astype(np.float64)
    stored /= np.linalg.norm(stored, axis=1, keepdims=True)
    lengths = np.linalg.norm(fresh.astype(np.float64), axis=1)
    products = np.einsum("ij,ij->i", stored, fresh.astype(np.float64))
    best: dict[int, float] = {}
    for row, cosine in zip(rows, (products / np.maximum(lengths, 1e-30)).tolist(), strict=True):
        best[row] = max(cosine, best.get(row, -1.0))
    found.compared += [batch.ids[row] for row in best]
    found.cosines += best.values()


def _sampled(
    batch: StoredBatch, sound: npt.NDArray[np.bool_], reading: Reading
) -> list[tuple[int, str]]:
    """(row, text) of what is compared: the text of today with and without its context. Without
    anything to hold the index against, or ids in common, the stored text.
    """
    pairs: list[tuple[int, str]] = []
    expected = reading.expected
    by_id = expected is not None and expected.match == "id"
    for row in np.flatnonzero(sound).tolist():
        id_, text = batch.ids[row], batch.texts[row]
        if id_ not in reading.also and not drawn(id_, reading.share):
            continue
        chunk = expected.chunks.get(id_) if expected is not None else None
        if by_id and chunk is not None:
            pairs += [(row, one) for one in dict.fromkeys((chunk.searchable, chunk.text))]
        elif not by_id and text is not None:
            pairs.append((row, text))
    return pairs


def drawn(id_: str, share: float) -> bool:
    """Whether an id is in a sample of this share: always the same ids.

    >>> drawn("c1", 1.0), drawn("c1", 0.0)
    (True, False)
    """
    return share >= 1 or (digest(id_) % _PARTS) < share * _PARTS


_PARTS = 1 << 32
