"""The gold of one query as items: each counted once, with its highest grades (METRICS 1.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ragnostic.errors import Fault
from ragnostic.records import EvalQuery, GoldSpan

Place = tuple[str | None, str | None, int | None, int | None, str | None]


@dataclass(frozen=True, slots=True)
class GoldItem:
    """One thing to be found: its alternatives, its grade, its grade on each facet (all ≥ 0)."""

    spans: tuple[GoldSpan, ...]
    grade: float
    facets: Mapping[str, float]


def items_of(query: EvalQuery, faults: list[Fault]) -> list[GoldItem]:
    """The distinct items of a query's gold, in order.

    Gold given twice counts once with its highest grade (Fault ``duplicate_gold``); gold without
    any id is left out (``null_gold_id``).

    >>> faults = []
    >>> a, b = GoldSpan(id="A"), GoldSpan(id="A", grade=2)
    >>> [item.grade for item in items_of(EvalQuery("q1", "?", ((a,), (b,))), faults)]
    [2.0]
    >>> print(faults[0])
    query 'q1': gold 'A' is given twice; it counts once, with its highest grade
    """
    merged: dict[frozenset[Place], GoldItem] = {}
    for alternatives in query.gold:
        spans: dict[Place, GoldSpan] = {}
        for span in alternatives:
            place = (span.id, span.doc_id, span.start, span.end, span.quote)
            if not (span.id or span.doc_id):
                message = f"query {query.query_id!r}: a gold id is null or empty; left out"
                faults.append(Fault("null_gold_id", message, (query.query_id,)))
                continue
            if place in spans:
                faults.append(_duplicate(query, span))
            spans.setdefault(place, span)
        if not spans:
            continue
        key = frozenset(spans)
        earlier = merged.get(key)
        if earlier is not None:
            faults.append(_duplicate(query, next(iter(spans.values()))))
        merged[key] = _merge(tuple(spans.values()), alternatives, earlier)
    return list(merged.values())


def name_of(span: GoldSpan) -> str:
    """The id by which a gold span is named in messages.

    >>> name_of(GoldSpan(doc_id="a.md", start=1, end=5))
    'a.md'
    """
    return span.id or span.doc_id or ""


def _merge(
    spans: tuple[GoldSpan, ...], given: Iterable[GoldSpan], earlier: GoldItem | None
) -> GoldItem:
    grade = earlier.grade if earlier else 0.0
    facets = dict(earlier.facets) if earlier else {}
    for span in given:
        grade = max(grade, float(span.grade))
        for facet, mark in span.facets.items():
            facets[facet] = max(facets.get(facet, 0.0), float(mark))
    return GoldItem(earlier.spans if earlier else spans, grade, facets)


def _duplicate(query: EvalQuery, span: GoldSpan) -> Fault:
    name = name_of(span)
    message = (
        f"query {query.query_id!r}: gold {name!r} is given twice; "
        "it counts once, with its highest grade"
    )
    return Fault("duplicate_gold", message, (query.query_id, name))
