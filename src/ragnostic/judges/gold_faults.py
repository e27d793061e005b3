"""What is odd about an evaluation set's gold, collected while it is resolved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ragnostic.errors import Fault, counted
from ragnostic.evalset.near_matches import near_matches
from ragnostic.judges.corpus_index import CorpusIndex

_NAMED = 20
_QUOTED = 60


@dataclass(slots=True)
class GoldFaults:
    """Query ids by what is odd; ``dangling`` by gold id, quotes by (document id, quote)."""

    dangling: dict[str, list[str]] = field(default_factory=dict)
    quote_not_found: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    quote_repeated: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    moved: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    uncovered: list[str] = field(default_factory=list)
    without_words: list[str] = field(default_factory=list)
    gold_for_unanswerable: list[str] = field(default_factory=list)

    def as_faults(self, queries_with_gold: int, corpus: CorpusIndex) -> list[Fault]:
        """One Fault for the dangling ids, one for each near match and quote, one for each of the
        other kinds.
        """
        faults = _dangling(self.dangling, queries_with_gold)
        known = corpus.chunk_ids | corpus.doc_ids
        for gold_id, corpus_id in near_matches(self.dangling, known):
            faults.append(near_match_fault(self.dangling[gold_id], gold_id, corpus_id, "corpus"))
        faults += _quotes(
            "quote_not_found", "is not found", "it is not in the corpus", self.quote_not_found
        )
        faults += _quotes(
            "quote_repeated",
            "is found several times",
            "its first place is taken",
            self.quote_repeated,
        )
        for kind, one, many, message, query_ids in (
            (
                "span_moved",
                "gold quote does",
                "gold quotes do",
                "not stand at the start given; searched for",
                self.moved,
            ),
            (
                "span_outside",
                "gold span ends",
                "gold spans end",
                "after the end of the document",
                self.outside,
            ),
            (
                "span_not_covered",
                "gold item is",
                "gold items are",
                "covered by no chunk; never found",
                self.uncovered,
            ),
            (
                "span_without_words",
                "gold span has",
                "gold spans have",
                "neither a quote nor a known document; never found",
                self.without_words,
            ),
            (
                "unanswerable_with_gold",
                "query is",
                "queries are",
                "marked unanswerable but given gold; it is not used",
                self.gold_for_unanswerable,
            ),
        ):
            if query_ids:
                found = counted(len(query_ids), one, many)
                text = f"{found} {message} ({_queries(query_ids)})"
                faults.append(Fault(kind, text, _first(query_ids), count=len(query_ids)))
        return faults


def near_match_fault(query_ids: Sequence[str], gold_id: str, known_id: str, where: str) -> Fault:
    """Two ids that differ only in white space or Unicode form (METRICS 1.6).

    >>> near_match_fault(["q2"], "a ", "a", "corpus").message[:60]
    "gold id 'a ' (query q2) is not in the corpus, but 'a' is: th"
    """
    message = (
        f"gold id {_shown(gold_id)} ({_queries(query_ids)}) is not in the {where}, but "
        f"{_shown(known_id)} is: they differ only in white space or Unicode form; not matched"
    )
    return Fault("near_match", message, (*_first(query_ids), gold_id, known_id))


def _shown(identity: str) -> str:
    r"""An id in quotes; with escapes beside it where two could look the same.

    >>> _shown("a "), _shown("é")
    ("'a '", "'é' = '\\xe9'")
    """
    return repr(identity) if identity.isascii() else f"{identity!r} = {identity!a}"


def _dangling(dangling: Mapping[str, Sequence[str]], queries_with_gold: int) -> list[Fault]:
    if not dangling:
        return []
    concerned = {query_id for query_ids in dangling.values() for query_id in query_ids}
    share = len(concerned) / queries_with_gold
    shown = [f"{gold_id} ({_queries(query_ids)})" for gold_id, query_ids in dangling.items()]
    more = ", …" if len(shown) > _NAMED else ""
    message = (
        f"{counted(len(dangling), 'gold id is', 'gold ids are')} not in the corpus, in "
        f"{len(concerned)} of {counted(queries_with_gold, 'query', 'queries')} ({share:.1%}): "
        f"{', '.join(shown[:_NAMED])}{more}"
    )
    ids = (*_first(list(dangling)), *_first(sorted(concerned)))
    return [Fault("dangling_gold", message, ids, count=len(dangling))]


def _quotes(
    kind: str, problem: str, result: str, quotes: Mapping[tuple[str, str], Sequence[str]]
) -> list[Fault]:
    faults: list[Fault] = []
    for (doc_id, quote), query_ids in quotes.items():
        shown = quote if len(quote) <= _QUOTED else quote[:_QUOTED] + "…"
        message = f"{doc_id}: the gold quote {shown!r} {problem} ({_queries(query_ids)}); {result}"
        faults.append(Fault(kind, message, (*_first(query_ids), doc_id), count=len(query_ids)))
    return faults


def _first(ids: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids))[:_NAMED]


def _queries(query_ids: Sequence[str]) -> str:
    """Query ids for a message.

    >>> _queries(["q1"]), _queries(["q1", "q2", "q3", "q4", "q5"])
    ('query q1', 'queries q1, q2, q3 and 2 more')
    """
    distinct = list(dict.fromkeys(query_ids))
    if len(distinct) == 1:
        return f"query {distinct[0]}"
    more = f" and {len(distinct) - 3} more" if len(distinct) > 3 else ""
    return f"queries {', '.join(distinct[:3])}{more}"
