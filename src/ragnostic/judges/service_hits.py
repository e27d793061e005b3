"""Gold against the hits of a service whose corpus we do not have (METRICS 1.8)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from ragnostic.records import GoldSpan, Hits
from ragnostic.text import normalise


@dataclass(frozen=True, slots=True)
class Seen:
    """One hit as the service showed it."""

    id: str
    doc_id: str | None
    text: str | None


def seen_hits(stages: Mapping[str, Hits], known: AbstractSet[str]) -> list[Seen]:
    """The distinct hits of all stages that have an id and are no chunk of the known corpus."""
    seen: dict[Seen, None] = {}
    for hits in stages.values():
        blanks = (None,) * len(hits.ids)
        rows = zip(hits.ids, hits.doc_ids or blanks, hits.texts or blanks, strict=True)
        for identity, doc_id, text in rows:
            if identity and identity not in known:
                seen[Seen(identity, doc_id, text)] = None
    return list(seen)


def matching(span: GoldSpan, quote: str | None, seen: Iterable[Seen], overlap: float) -> list[str]:
    """Ids of the hits that match one gold span.

    An id matches the hit of that id, or else the hits of that document. Document gold matches its
    hits; span gold, whose words are ``quote``, matches hits that hold at least ``overlap`` of
    them, and the document where it comes whole.

    >>> hits = [Seen("c1", "D1", "Five days of leave."), Seen("c2", "D1", None)]
    >>> matching(GoldSpan(id="D1"), None, hits, 0.5)
    ['c1', 'c2']
    >>> matching(GoldSpan(doc_id="D1", quote="five days"), "five days", hits, 0.5)
    ['c1']
    """
    name = span.id or span.doc_id
    if any(hit.id == name for hit in seen):
        return [name] if name else []
    if span.quote is None and span.start is None:
        return [hit.id for hit in seen if hit.doc_id == name]
    if quote is None:
        return []
    wanted = normalise(quote)
    return [hit.id for hit in seen if hit.text and holds(normalise(hit.text), wanted, overlap)]


def holds(text: str, quote: str, overlap: float) -> bool:
    """Whether a text holds at least ``overlap`` of a quote in one piece; both normalised. The piece
    may be cut off at either end of the text.

    >>> holds("leave is five", "five days off", 0.3), holds("leave is five", "five days off", 0.5)
    (True, False)
    """
    if not quote or quote in text:
        return bool(quote)
    needed = max(1, math.ceil(overlap * len(quote) - 1e-9))
    if text in quote:
        return len(text) >= needed
    return any(
        text.endswith(quote[:size]) or text.startswith(quote[-size:])
        for size in range(min(len(quote), len(text)), needed - 1, -1)
    )
