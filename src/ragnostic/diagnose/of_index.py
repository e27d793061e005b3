"""What the vector index of a configuration holds, and what it says when it is asked again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragnostic.corpus.index_expected import same_text
from ragnostic.diagnose.gathering import Again, AskAgain
from ragnostic.offline.implementations import Workshop
from ragnostic.offline.index_job import open_store
from ragnostic.ports import Progress
from ragnostic.records import Chunk

_ROWS = 2048


def held_texts(workshop: Workshop) -> dict[str, str | None]:
    """Chunk id → text in the index, None where it stores none. A text that is the corpus's is kept
    once, in the corpus.
    """
    chunks = {chunk.id: chunk for chunk in workshop.chunks}
    held: dict[str, str | None] = {}
    with open_store(workshop) as store:
        total = store.count()
        for batch in store.scan(_ROWS):
            for id_, text in zip(batch.ids, batch.texts, strict=True):
                held[id_] = _shared(text, chunks, id_)
            workshop.progress("read the index", min(len(held), total), total)
    return held


def _shared(text: str | None, chunks: Mapping[str, Chunk], id_: str) -> str | None:
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
