"""Gold of an evaluation set into the ids under which it can be found in a corpus."""

from __future__ import annotations

from dataclasses import dataclass, field

from ragnostic.errors import Fault
from ragnostic.judges.corpus_index import CorpusIndex, Span
from ragnostic.judges.gold_faults import GoldFaults
from ragnostic.judges.gold_items import GoldItem, items_of
from ragnostic.records import EvalQuery, GoldSpan


@dataclass(frozen=True, slots=True)
class Resolved:
    """An item and the chunk ids under which it can be found, before any result is seen.

    A dangling id stands for itself; no ids mean that no chunk of the corpus matches.
    """

    item: GoldItem
    ids: tuple[str, ...]


@dataclass
class Resolver:
    """Resolves query after query and collects what is odd.

    Without a corpus (``has_corpus=False``) nothing is looked up: items keep no ids.
    """

    corpus: CorpusIndex
    overlap: float
    has_corpus: bool
    noted: GoldFaults = field(default_factory=GoldFaults)
    item_faults: list[Fault] = field(default_factory=list)
    queries_with_gold: int = 0

    def resolve(self, query: EvalQuery) -> list[Resolved]:
        """The distinct items of a query; none for an unanswerable one."""
        if not query.answerable:
            if query.gold:
                self.noted.gold_for_unanswerable.append(query.query_id)
            return []
        items = items_of(query, self.item_faults)
        self.queries_with_gold += bool(items)
        return [Resolved(item, self._ids(query.query_id, item)) for item in items]

    def faults(self) -> list[Fault]:
        """All that was odd in the queries resolved so far."""
        return self.item_faults + self.noted.as_faults(self.queries_with_gold, self.corpus)

    def words_of(self, span: GoldSpan) -> str | None:
        """What a span says, as far as its quote or the documents tell."""
        text = self.corpus.text(span.doc_id or "")
        if span.quote is not None or text is None or span.start is None:
            return span.quote
        return text[span.start : span.end]

    def _ids(self, query_id: str, item: GoldItem) -> tuple[str, ...]:
        if not self.has_corpus:
            for span in item.spans:
                if span.start is not None and self.words_of(span) is None:
                    self.noted.without_words.append(query_id)
            return ()
        found = [self._in_corpus(query_id, span) for span in item.spans]
        ids = dict.fromkeys(identity for part in found for identity in part or ())
        if not ids and [] in found:
            self.noted.uncovered.append(query_id)
        return tuple(ids)

    def _in_corpus(self, query_id: str, span: GoldSpan) -> list[str] | None:
        """Ids of the chunks that match a gold span; None where its place is not found."""
        if span.id is not None and span.id in self.corpus.chunk_ids:
            return [span.id]
        name = span.id or span.doc_id or ""
        if name not in self.corpus.doc_ids:
            self.noted.dangling.setdefault(name, []).append(query_id)
            return [name]
        if span.start is None and span.quote is None:
            return self.corpus.of_document(name)
        place = self._place(query_id, name, span)
        return None if place is None else self.corpus.covering(name, place, self.overlap)

    def _place(self, query_id: str, doc_id: str, span: GoldSpan) -> Span | None:
        """Where a span is: as given, unless its quote does not stand there."""
        if span.start is not None and span.end is not None:
            text = self.corpus.text(doc_id) or ""
            if span.end > len(text):
                self.noted.outside.append(query_id)
            if span.quote is None or text[span.start : span.end] == span.quote:
                return span.start, span.end
            self.noted.moved.append(query_id)
        quote = span.quote or ""
        located = self.corpus.locate(doc_id, quote)
        if located.span is None:
            self.noted.quote_not_found.setdefault((doc_id, quote), []).append(query_id)
        elif located.repeated:
            self.noted.quote_repeated.setdefault((doc_id, quote), []).append(query_id)
        return located.span
