"""A corpus snapshot as the gold judge asks it: which chunks lie where in which document."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

from ragnostic.records import Chunk, Document

Span = tuple[int, int]
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Located:
    """Where a quote stands in a document (its first place), and whether it stands there again."""

    span: Span | None
    repeated: bool = False


@dataclass
class CorpusIndex:
    """Chunks by document, and the documents' texts (put together from the chunks if need be).

    >>> index = CorpusIndex([Chunk("c1", "d", 0, 5, 2, "ab cd"), Chunk("c2", "d", 6, 8, 1, "ef")])
    >>> index.locate("d", "cd ef").span, index.covering("d", (3, 8), overlap=0.4)
    ((3, 8), ['c1', 'c2'])
    """

    chunks: Sequence[Chunk]
    documents: Sequence[Document] | None = None
    chunk_ids: frozenset[str] = field(init=False)
    doc_ids: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self._by_document: dict[str, list[Chunk]] = {}
        for chunk in sorted(self.chunks, key=lambda chunk: (chunk.start, chunk.end)):
            self._by_document.setdefault(chunk.doc_id, []).append(chunk)
        self._texts = {document.doc_id: document.text for document in self.documents or ()}
        self._located: dict[tuple[str, str], Located] = {}
        self.chunk_ids = frozenset(chunk.id for chunk in self.chunks)
        self.doc_ids = frozenset((*self._by_document, *self._texts))

    def of_document(self, doc_id: str) -> list[str]:
        """Ids of a document's chunks, in the order of the text."""
        return [chunk.id for chunk in self._by_document.get(doc_id, ())]

    def text(self, doc_id: str) -> str | None:
        """The document's text; put together from its chunks, with spaces in the gaps, if only
        those are known; None for an unknown document.
        """
        if doc_id not in self._texts and doc_id in self._by_document:
            self._texts[doc_id] = _put_together(self._by_document[doc_id])
        return self._texts.get(doc_id)

    def locate(self, doc_id: str, quote: str) -> Located:
        """The place of a quote: exact, else with any white space for white space."""
        key = (doc_id, quote)
        if key not in self._located:
            self._located[key] = _locate(self.text(doc_id) or "", quote)
        return self._located[key]

    def covering(self, doc_id: str, span: Span, overlap: float) -> list[str]:
        """Ids of the chunks that cover at least ``overlap`` (0 to 1) of a half-open span."""
        start, end = span
        needed = overlap * (end - start) - _TOLERANCE
        chunks = self._by_document.get(doc_id, [])
        begun = bisect_left(chunks, end, key=lambda chunk: chunk.start)
        return [
            chunk.id
            for chunk in chunks[:begun]
            if (shared := min(chunk.end, end) - max(chunk.start, start)) > 0 and shared >= needed
        ]


def _put_together(chunks: Sequence[Chunk]) -> str:
    text = [" "] * max(chunk.end for chunk in chunks)
    for chunk in chunks:
        text[chunk.start : chunk.end] = chunk.text
    return "".join(text)


def _locate(text: str, quote: str) -> Located:
    start = text.find(quote)
    if start >= 0:
        return Located((start, start + len(quote)), text.find(quote, start + 1) >= 0)
    pattern = re.compile(r"\s+".join(map(re.escape, quote.split())))
    matches = pattern.finditer(text)
    first = next(matches, None)
    if first is None:
        return Located(None)
    return Located(first.span(), next(matches, None) is not None)
