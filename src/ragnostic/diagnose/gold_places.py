"""Where the gold of a missed item is: in the corpus at all, and whole in a chunk or cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ragnostic.judges.corpus_index import CorpusIndex
from ragnostic.judges.gold_resolving import Resolved
from ragnostic.records import Chunk, Document, GoldSpan
from ragnostic.text import normalise

_LONGEST_SHOWN = 400


@dataclass(frozen=True, slots=True)
class Place:
    """Where an item is. ``elsewhere``: a document that holds its text although the gold does not
    name it. ``halves``: the pieces of a span that no chunk holds whole, in order; ``uncut``: the
    chunk that would hold it, its neighbours put together; ``span`` its place in the document,
    where it has one.
    """

    in_corpus: bool
    halves: tuple[str, ...] = ()
    uncut: Chunk | None = None
    document: str | None = None
    span: tuple[int, int] | None = None
    elsewhere: str | None = None


@dataclass
class GoldPlaces:
    """The corpus as it is now, asked for the gold of items.

    >>> from ragnostic.records import Chunk, Document
    >>> chunks = [Chunk("c1", "d", 0, 5, 2, "ab cd"), Chunk("c2", "d", 5, 8, 1, " ef")]
    >>> places = GoldPlaces([Document("d", "ab cd ef")], chunks)
    >>> places.of_span(GoldSpan(doc_id="d", quote="cd ef")).halves
    ('cd', ' ef')
    >>> places.of_span(GoldSpan(doc_id="d", quote="xy")).in_corpus
    False
    """

    documents: Sequence[Document]
    chunks: Sequence[Chunk]
    corpus: CorpusIndex = field(init=False)

    def __post_init__(self) -> None:
        self.corpus = CorpusIndex(self.chunks, self.documents)
        self._by_document: dict[str, list[Chunk]] = {}
        for chunk in sorted(self.chunks, key=lambda chunk: (chunk.start, chunk.end)):
            self._by_document.setdefault(chunk.doc_id, []).append(chunk)

    def of(self, resolved: Resolved) -> Place:
        """The place of an item: of the first of its alternatives that is there."""
        places = [self.of_span(span) for span in resolved.item.spans]
        there = [place for place in places if place.in_corpus]
        whole = [place for place in there if not place.halves]
        return next(iter(whole or there or places), Place(in_corpus=False))

    def of_span(self, span: GoldSpan) -> Place:
        """The place of one alternative."""
        if span.id is not None and span.id in self.corpus.chunk_ids:
            return Place(in_corpus=True)
        name = span.id or span.doc_id or ""
        located = self._located(name, span) if name in self.corpus.doc_ids else None
        if located is not None:
            return self._cut(name, located)
        if name in self.corpus.doc_ids and span.quote is None:
            return Place(in_corpus=True, document=name)
        return Place(in_corpus=False, elsewhere=self._elsewhere(span.quote or ""))

    def _located(self, name: str, span: GoldSpan) -> tuple[int, int] | None:
        """Where a span is in its document, unless its quote says something else."""
        text = self.corpus.text(name) or ""
        start, end, quote = span.start, span.end, span.quote
        given = start is not None and end is not None and end <= len(text)
        if given and quote in (None, text[start:end]):
            return start or 0, end or 0
        return None if quote is None else self.corpus.locate(name, quote).span

    def _elsewhere(self, quote: str) -> str | None:
        """A document that holds a quote, white space, case and width aside."""
        wanted = normalise(quote)
        return next((name for name, text in self._normalised if wanted and wanted in text), None)

    @cached_property
    def _normalised(self) -> list[tuple[str, str]]:
        return [(document.doc_id, normalise(document.text)) for document in self.documents]

    def _cut(self, name: str, span: tuple[int, int]) -> Place:
        text = self.corpus.text(name) or ""
        start, end = _trimmed(text, *span)
        chunks = self._by_document.get(name, ())
        around = [chunk for chunk in chunks if chunk.start < end and chunk.end > start]
        if any(chunk.start <= start and end <= chunk.end for chunk in around):
            return Place(in_corpus=True, document=name, span=(start, end))
        halves = tuple(_piece(text, start, end, chunk) for chunk in around)
        uncut = _together(text, around) if around else None
        lost = (text[start:end][:_LONGEST_SHOWN],)
        return Place(
            in_corpus=True, halves=halves or lost, uncut=uncut, document=name, span=(start, end)
        )


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    begin = start + len(piece) - len(piece.lstrip())
    return (begin, start + len(piece.rstrip())) if piece.strip() else (start, end)


def _piece(text: str, start: int, end: int, chunk: Chunk) -> str:
    return text[max(start, chunk.start) : min(end, chunk.end)][:_LONGEST_SHOWN]


def _together(text: str, chunks: Sequence[Chunk]) -> Chunk:
    start, end = min(chunk.start for chunk in chunks), max(chunk.end for chunk in chunks)
    first = chunks[0]
    return Chunk(
        id=f"uncut:{first.doc_id}:{start}:{end}",
        doc_id=first.doc_id,
        start=start,
        end=end,
        tokens=sum(chunk.tokens for chunk in chunks),
        text=text[start:end],
        context=first.context,
    )
