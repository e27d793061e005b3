"""What should be in a vector index, to hold it against."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from ragnostic.records import Chunk
from ragnostic.text import normalise

Match = Literal["id", "document"]


@dataclass(frozen=True)
class Expected:
    """The chunks that should be there, by id. ``match``: whether rows are known by chunk id or,
    where the index has ids of its own, only by document.
    """

    chunks: Mapping[str, Chunk]
    match: Match = "id"

    @cached_property
    def documents(self) -> Collection[str]:
        """Ids of all documents."""
        return frozenset(chunk.doc_id for chunk in self.chunks.values())

    def holds(self, id_: str, doc_id: str | None) -> bool:
        """Whether a row belongs there. One that names no document cannot be told by document."""
        if self.match == "id":
            return id_ in self.chunks
        return doc_id is None or doc_id in self.documents


def same_text(text: str, chunk: Chunk) -> bool:
    """Whether a stored text is the chunk's, with or without its context in front.

    >>> same_text("Leave  policy", Chunk("c", "d", 0, 12, 2, "Leave policy", "HR"))
    True
    """
    if text in {chunk.text, chunk.searchable}:
        return True
    return normalise(text) in (normalise(chunk.text), normalise(chunk.searchable))


def digest(text: str) -> int:
    """A text as 64 bits: equal texts are found without keeping them."""
    found = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(found, "little", signed=True)


_KEPT = 5


@dataclass(slots=True)
class Examples:
    """How many there are, and the first of them."""

    count: int = 0
    first: list[str] = field(default_factory=list)

    def add(self, ids: Iterable[str]) -> None:
        """Count them all, keep a few."""
        for id_ in ids:
            self.count += 1
            if len(self.first) < _KEPT:
                self.first.append(id_)
