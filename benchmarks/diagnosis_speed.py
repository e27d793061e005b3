"""100,000 missed items attributed: python benchmarks/diagnosis_speed.py [--queries 50000].

A corpus of 100,000 chunks with vectors of 384 numbers, two items a query that no stage holds, so
that each needs exact search by the user's words and by what was really sent (other words for a
tenth of the queries). Vectors are at hand, as from the cache; embedding is not timed. Beside it,
in the same run: FAISS's exact index (IndexFlatIP) asked for the first 20 of the same queries, which
tells no ranks and no causes.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Sequence

import faiss
import numpy as np

from ragnostic.diagnose.diagnosis import diagnose
from ragnostic.diagnose.exact import DenseSearch
from ragnostic.diagnose.gathering import Known, Stages, gather
from ragnostic.diagnose.misses import Asked, Found, Item
from ragnostic.ports import Progress, Role, Vectors, no_progress
from ragnostic.records import Chunk

DIMENSIONS, DEPTH, K = 384, 20, 5


class Vectored:
    """An embedder whose vectors are at hand: texts are "q 7", "r 7" or "c 7"."""

    name = "at hand"

    def __init__(self, chunks: int, queries: int) -> None:
        draw = np.random.default_rng(7)
        self._rows = {
            "c": _unit(draw.standard_normal((chunks, DIMENSIONS), np.float32)),
            "q": _unit(draw.standard_normal((queries, DIMENSIONS), np.float32)),
            "r": _unit(draw.standard_normal((queries, DIMENSIONS), np.float32)),
        }

    def count_tokens(self, text: str) -> int:
        """Not asked here."""
        return len(text)

    def embed(self, texts: Sequence[str], role: Role, progress: Progress = no_progress) -> Vectors:
        """The rows that the texts name."""
        del role, progress
        found: Vectors = np.stack([self._rows[text[0]][int(text[2:])] for text in texts])
        return found


def _unit(rows: Vectors) -> Vectors:
    unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--queries", type=int, default=50_000)
    parser.add_argument("--chunks", type=int, default=100_000)
    given = parser.parse_args()
    embedder = Vectored(given.chunks, given.queries)
    chunks = {f"c{n}": Chunk(f"c{n}", f"d{n}", 0, 3, 1, f"c {n}") for n in range(given.chunks)}
    asked, items = {}, []
    for n in range(given.queries):
        name = f"q{n}"
        asked[name] = Asked(name, f"q {n}", (f"r {n}" if n % 10 == 0 else f"q {n}",))
        for place in range(2):
            chunk = f"c{(2 * n + place) % given.chunks}"
            items.append(Item(name, place, (chunk,), 1.0, (None,), weight=0.5, missed=True))
    found = Found(("retrieve",), K, asked, tuple(items))
    known = Known(chunks=chunks, search=lambda searched: DenseSearch(searched, embedder))
    started, cpu = time.perf_counter(), time.process_time()
    told = diagnose(found, gather(found, Stages(DEPTH, reranked=False), known))
    took, cpu = time.perf_counter() - started, time.process_time() - cpu
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    index = faiss.IndexFlatIP(DIMENSIONS)
    index.add(embedder.embed([f"c {n}" for n in range(given.chunks)], "passage"))
    started = time.perf_counter()
    texts = [f"q {n}" for n in range(given.queries)]
    index.search(embedder.embed(texts, "query"), DEPTH)
    peer = time.perf_counter() - started
    causes = {gain.cause: gain.items for gain in told.gains}
    print(
        f"{len(told.misses)} missed items, {given.queries} queries, {given.chunks} chunks: {causes}"
    )
    print(
        f"ragnostic {took:.1f} s ({cpu:.1f} CPU s), {memory:.0f} MB; faiss top {DEPTH} {peer:.1f} s"
    )
    print(f"ratio {took / peer:.2f}")


if __name__ == "__main__":
    main()
