"""What the vector index of a configuration holds, and what it says when it is asked again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ragnostic.corpus.index_contents import Reading, read_contents
from ragnostic.corpus.index_expected import Expected, same_text
from ragnostic.corpus.index_findings import stale_ids
from ragnostic.diagnose.gathering import Again, AskAgain
from ragnostic.offline.implementations import Workshop
from ragnostic.offline.index_job import open_store
from ragnostic.ports import Progress, StoredBatch
from ragnostic.records import Chunk

_ROWS = 2048


@dataclass(frozen=True, slots=True)
class Held:
    """``texts``: chunk id → text in the index, None where it stores none; ``fresh``: id → whether
    its vector is that of its text, of those that were looked at.
    """

    texts: Mapping[str, str | None]
    fresh: Mapping[str, bool]


def held_by_index(workshop: Workshop, missed: frozenset[str]) -> Held:
    """All of the index in one pass. The vectors of ``missed`` are compared with what their texts
    are embedded to, and those of a sample, which says how much every vector differs.
    """
    chunks = {chunk.id: chunk for chunk in workshop.chunks}
    sample = workshop.configuration.settings.index.sample
    texts: dict[str, str | None] = {}

    def kept(batches: Iterable[StoredBatch]) -> Iterator[StoredBatch]:
        for batch in batches:
            for id_, text in zip(batch.ids, batch.texts, strict=True):
                texts[id_] = _shared(text, chunks, id_)
            yield batch

    embedder = workshop.embedder()
    with open_store(workshop) as store:
        total = store.count()
        reading = Reading(
            Expected(chunks),
            share=sample / total if sample and total else 1.0,
            also=missed,
            embed=lambda some: embedder.embed(some, "passage"),
            progress=workshop.progress,
        )
        found = read_contents(kept(store.scan(_ROWS)), total, reading)
    stale = stale_ids(found, workshop.configuration.settings.index.stale_below)
    return Held(texts, {id_: id_ not in stale for id_ in found.compared})


def _shared(text: str | None, chunks: Mapping[str, Chunk], id_: str) -> str | None:
    """A text that is the corpus's is kept once, in the corpus."""
    chunk = chunks.get(id_)
    return chunk.text if text is not None and chunk and same_text(text, chunk) else text


def ask_again(workshop: Workshop) -> AskAgain:
    """Asks the index as it is set, and with the largest effort that its adapter knows."""

    def again(texts: Sequence[str], depth: int, progress: Progress) -> list[Again]:
        if not texts:
            return []
        vectors = workshop.embedder().embed(texts, "query", progress)
        with open_store(workshop) as store:
            if vectors.shape[1] != store.dimension:
                return [Again(frozenset(), None) for _ in texts]
            top = max(store.efforts(depth), default=None)
            rounds = [
                [frozenset(store.search(vector, depth, effort).ids) for vector in vectors]
                for effort in ([None] if top is None else [None, top])
            ]
        raised = rounds[1] if top is not None else [None] * len(texts)
        return [Again(*pair) for pair in zip(rounds[0], raised, strict=True)]

    return again
