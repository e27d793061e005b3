"""A retrieval service with known faults, for benchmarks/diagnosis.py: a chunker, an embedder
and a reranker as plugins, and a search function over a real FAISS index.

What is wrong with it stands in the file that the environment variable PLANTS names.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Self

import faiss
import numpy as np
from pydantic import BaseModel, ConfigDict

from ragnostic.adapters.embedding_reranker import EmbeddingReranker
from ragnostic.corpus.chunking import make_chunks
from ragnostic.ports import Candidate, Progress, Reranking, Resources, Role, Vectors, no_progress
from ragnostic.records import Chunk, Document
from ragnostic.text import count_tokens, words

DIMENSIONS = 2048
ENTRY_POINTS = """\
[ragnostic.chunkers]
planted = planted_system:PlantedChunker
[ragnostic.embedders]
hashing = planted_system:HashingEmbedder
[ragnostic.rerankers]
planted = planted_system:PlantedReranker
"""


@cache
def plants() -> dict[str, Any]:
    """What is wrong in this process."""
    found: dict[str, Any] = json.loads(Path(os.environ["PLANTS"]).read_text(encoding="utf-8"))
    return found


class NoOptions(BaseModel):
    """Nothing to set: PLANTS says all."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class PlantedChunker:
    """Cuts each document at the places that are given for it."""

    Options: ClassVar[type[BaseModel]] = NoOptions

    @classmethod
    def build(cls, options: Any, resources: Resources) -> Self:
        """As plugins are built."""
        del options, resources
        return cls()

    def chunk(self, document: Document) -> list[Chunk]:
        """Between two borders."""
        return cut(document, plants()["borders"].get(document.doc_id, ()))


def cut(document: Document, borders: Sequence[int]) -> list[Chunk]:
    """The pieces between these places, without the white space around them."""
    text, spans = document.text, []
    for start, end in pairwise([0, *borders, len(text)]):
        piece = text[start:end]
        if piece.strip():
            begin = start + len(piece) - len(piece.lstrip())
            spans.append((begin, start + len(piece.rstrip())))
    return make_chunks(document, spans, [""] * len(spans))


class HashingEmbedder:
    """Words by their idf, hashed into 2,048 numbers with signs: shared words count, no more."""

    Options: ClassVar[type[BaseModel]] = NoOptions
    needs_embedder: ClassVar[bool] = False
    name = "hashing"

    @classmethod
    def build(cls, options: Any, resources: Resources) -> Self:
        """As plugins are built."""
        del options, resources
        return cls()

    def count_tokens(self, text: str) -> int:
        """As chunk sizes are counted."""
        return count_tokens(text)

    def embed(self, texts: Sequence[str], role: Role, progress: Progress = no_progress) -> Vectors:
        """Unit vectors; a text without words points away from all others."""
        del role, progress
        rows = np.zeros((len(texts), DIMENSIONS), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word, count in Counter(words(text)).items():
                place, sign = _place(word)
                row[place] += sign * math.sqrt(count) * _weight(word)
            if not row.any():
                row[_place("\0" + text)[0]] = 1.0
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        return rows / norms


@cache
def _place(word: str) -> tuple[int, float]:
    digest = hashlib.blake2b(word.encode(), digest_size=8).digest()
    number = int.from_bytes(digest, "little")
    return number % DIMENSIONS, 1.0 if number >> 63 else -1.0


@cache
def _weight(word: str) -> float:
    counts = plants()["counts"]
    return math.log(1 + plants()["texts"] / (0.5 + counts.get(word, 0)))


class PlantedReranker(EmbeddingReranker):
    """By cosine; what is to be demoted comes last."""

    def rerank(self, query: str, candidates: Sequence[Candidate], top_n: int) -> Reranking:
        """The order of the embedding reranker, the demoted ones at its end."""
        found = super().rerank(query, candidates, top_n)
        demoted = set(plants()["demoted"].get(query, ()))
        low = [candidates[place].id in demoted for place in found.order]
        order = np.argsort(low, kind="stable").tolist()
        return Reranking(
            order=tuple(found.order[place] for place in order),
            scores=tuple(float(-rank) for rank in range(len(order))),
            truncated=found.truncated,
            took_ms=found.took_ms,
        )


@cache
def _index() -> tuple[list[str], list[str], Any]:
    """Ids, texts and index of what the service holds."""
    lines = Path(plants()["index"]).read_text(encoding="utf-8").splitlines()
    held = [json.loads(line) for line in lines]
    vectors = HashingEmbedder().embed([row["text"] for row in held], "passage")
    faiss.omp_set_num_threads(1)
    if plants()["kind"] == "hnsw":
        index = faiss.IndexHNSWFlat(DIMENSIONS, 16, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = 200
        index.hnsw.efSearch = plants()["effort"] or 4 * len(held)
    else:
        lists = round(math.sqrt(len(plants()["trained"])))
        quantizer = faiss.IndexFlatIP(DIMENSIONS)
        index = faiss.IndexIVFFlat(quantizer, DIMENSIONS, lists, faiss.METRIC_INNER_PRODUCT)
        index.cp.seed = 7
        # Trained on the system without faults, so that mending one moves no other chunk.
        index.train(HashingEmbedder().embed(plants()["trained"], "passage"))
        index.nprobe = plants()["effort"] or lists
    index.add(vectors)
    return [row["chunk_id"] for row in held], [row["text"] for row in held], index


def retrieve(query: str, k: int) -> list[dict[str, Any]]:
    """The service's search."""
    ids, texts, index = _index()
    scores, places = index.search(HashingEmbedder().embed([query], "query"), k)
    found = [(float(s), int(p)) for s, p in zip(scores[0], places[0], strict=True) if p >= 0]
    return [{"id": ids[place], "score": score, "text": texts[place]} for score, place in found]
