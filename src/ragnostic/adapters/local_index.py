"""What the built-in retrievers share: their corpus, and the best k of an array of scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ragnostic.errors import UsageError
from ragnostic.ports import Embedder, Resources
from ragnostic.records import Chunk, Hits


def corpus(resources: Resources, name: str) -> list[Chunk]:
    """The chunks by id descending, so that position order is the tie order (METRICS 1.4)."""
    if not resources.chunks:
        raise UsageError(
            f"retriever {name} needs a corpus, and there is no chunk",
            hint="set dataset.corpus to a folder of .md or .txt files, a JSONL or a Parquet file",
        )
    return sorted(resources.chunks, key=lambda chunk: chunk.id, reverse=True)


def embedder(resources: Resources, name: str) -> Embedder:
    """The embedder of the run; raises UsageError where none is set."""
    if resources.embedder is None:
        raise UsageError(f"{name} needs an embedder", hint='set [embed] use = "e5-small"')
    return resources.embedder


def best(scores: npt.NDArray[np.floating], top_k: int) -> npt.NDArray[np.intp]:
    """Positions of the ``top_k`` highest scores, best first; equal ones in position order.

    >>> best(np.array([0.5, 0.9, 0.5, 0.1]), 2).tolist()
    [1, 0]
    """
    if top_k <= 0:
        return np.empty(0, dtype=np.intp)
    candidates = np.arange(len(scores))
    if top_k < len(scores):
        threshold = np.partition(scores, -top_k)[-top_k]
        candidates = np.flatnonzero(scores >= threshold)
    order = np.argsort(-scores[candidates], kind="stable")[:top_k]
    return candidates[order]


def hits(chunks: Sequence[Chunk], scores: Sequence[float], top_k: int, took_ms: float) -> Hits:
    """Ranked chunks with their scores as Hits."""
    return Hits(
        ids=tuple(chunk.id for chunk in chunks),
        scores=tuple(scores),
        doc_ids=tuple(chunk.doc_id for chunk in chunks),
        top_k=top_k,
        took_ms=took_ms,
    )
