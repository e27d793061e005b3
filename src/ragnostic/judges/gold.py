"""The judge ``gold``: an evaluation set's judgments as chunk ids (METRICS 1.8, 12)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from ragnostic.errors import Fault
from ragnostic.evalset.near_matches import near_matches
from ragnostic.judges.corpus_index import CorpusIndex
from ragnostic.judges.gold_faults import near_match_fault
from ragnostic.judges.gold_resolving import Resolved, Resolver
from ragnostic.judges.service_hits import Seen, matching, seen_hits
from ragnostic.records import Chunk, Document, EvalQuery, Hits


@dataclass
class GoldJudge:
    """Gold of an evaluation set as parallel lists of chunk ids, grades, weights, items, facets.

    Made by :meth:`build`. ``faults`` holds what is odd about the gold; for a service whose corpus
    we do not have it grows with each :meth:`judge` (near matches). ``dangling`` holds the gold
    ids that neither a chunk nor a document of the corpus has; it is empty without a corpus.

    >>> from ragnostic.records import GoldSpan
    >>> query = EvalQuery("q1", "Why?", ((GoldSpan(id="a", grade=2),),))
    >>> GoldJudge.build([query], None).judge(query, {})
    {'ids': ['a'], 'grades': [2.0], 'weights': [1.0], 'items': [0], 'facets': [None]}
    """

    resolver: Resolver
    resolved: Mapping[str, Sequence[Resolved]]
    faults: list[Fault]
    dangling: frozenset[str]
    name: str = field(default="gold", init=False)

    @classmethod
    def build(
        cls,
        queries: Sequence[EvalQuery],
        chunks: Sequence[Chunk] | None,
        documents: Sequence[Document] | None = None,
        *,
        overlap: float = 0.5,
    ) -> Self:
        """A judge for these queries, over this corpus (``chunks=None``: a service's, unknown).

        ``documents`` give the texts in which quotes are found; without them the chunks do.
        ``overlap`` is the share (0 to 1) of a gold span that a chunk must cover.
        """
        corpus = CorpusIndex(chunks or (), documents)
        resolver = Resolver(corpus, overlap, has_corpus=chunks is not None)
        resolved = {query.query_id: resolver.resolve(query) for query in queries}
        return cls(resolver, resolved, resolver.faults(), frozenset(resolver.noted.dangling))

    def judge(self, query: EvalQuery, stages: Mapping[str, Hits]) -> dict[str, list[Any]] | None:
        """The judgments of one query; empty lists if it has none, None if it was not built in.

        All entries of an item carry the item's number and grade; an item without any chunk keeps
        one entry with a null id, so that R counts it. A facet adds entries with its own grade.
        """
        resolved = self.resolved.get(query.query_id)
        if resolved is None:
            return None
        seen = seen_hits(stages, self.resolver.corpus.chunk_ids)
        judged: dict[str, list[Any]] = {
            name: [] for name in ("ids", "grades", "weights", "items", "facets")
        }
        for number, entry in enumerate(resolved):
            ids = self._found_as(entry, seen) or (None,)
            for facet, grade in ((None, entry.item.grade), *entry.item.facets.items()):
                judged["ids"] += ids
                judged["grades"] += [grade] * len(ids)
                judged["weights"] += [1.0 if grade > 0 else 0.0] * len(ids)
                judged["items"] += [number] * len(ids)
                judged["facets"] += [facet] * len(ids)
        if not self.resolver.has_corpus:
            self._note_near_matches(query.query_id, resolved, seen)
        return judged

    def _found_as(self, entry: Resolved, seen: Sequence[Seen]) -> tuple[str, ...]:
        """The ids of an item, with those of the hits from outside the corpus that match it."""
        ids = dict.fromkeys(entry.ids)
        for span in entry.item.spans:
            words = self.resolver.words_of(span)
            matched = matching(span, words, seen, self.resolver.overlap) if seen else []
            if not matched and span.id and not self.resolver.has_corpus:
                matched = [span.id]
            ids.update(dict.fromkeys(matched))
        return tuple(ids)

    def _note_near_matches(
        self, query_id: str, resolved: Sequence[Resolved], seen: Sequence[Seen]
    ) -> None:
        gold = [span.id or span.doc_id or "" for entry in resolved for span in entry.item.spans]
        known = {hit.id for hit in seen} | {hit.doc_id for hit in seen if hit.doc_id}
        for gold_id, result_id in near_matches(gold, known):
            fault = near_match_fault([query_id], gold_id, result_id, "results")
            if fault not in self.faults:
                self.faults.append(fault)
