"""The stages of a retrieval as rows: what was retrieved, what each reranker made of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ragnostic.errors import Fault
from ragnostic.gateway.span_reading import Reading, SpanHit, text_id
from ragnostic.gateway.span_rerankers import Retrieval
from ragnostic.gateway.spans import duration_ms

RETRIEVE, RERANK = "retrieve", "rerank"
_SILENT = "the span does not say which documents it returned"

Hits = tuple[SpanHit, ...]


def stage_hits(retrieval: Retrieval) -> dict[str, Hits | None]:
    """The hits of each stage, in pipeline order; None where the spans do not say.

    Hits of rerankers get the ids of the retrieved ones of the same text, as many rerankers know
    texts only.
    """
    retrieved = _retrieved(retrieval)
    found: dict[str, Hits | None] = {RETRIEVE: retrieved}
    ids = {text_id(hit.text): hit.id for hit in retrieved or () if hit.text and not hit.made}
    known = {hit.id for hit in retrieved or ()}
    for place, reranker in enumerate(retrieval.rerankers, 1):
        name = RERANK if place == 1 else f"{RERANK}_{place}"
        documents = reranker.documents
        found[name] = documents and tuple(_known(hit, known, ids) for hit in documents)
    return found


def stage_rows(
    retrieval: Retrieval, hits: Mapping[str, Hits | None]
) -> tuple[dict[str, dict[str, Any]], list[Fault]]:
    """The stages of a record row, and what is wrong with the times of their spans.

    Times that are wrong are handed on for the intake to count: a negative ``took_ms``, or
    ``started`` without an end.
    """
    rows: dict[str, dict[str, Any]] = {}
    faults: list[Fault] = []
    spans = [_timed(retrieval), *retrieval.rerankers]
    asked = [_asked(retrieval.span), *retrieval.rerankers]
    for name, timed, span in zip(hits, spans, asked, strict=True):
        row = _hits_row(hits[name], span)
        if timed is not None:
            times, fault = times_row(timed, "took_ms")
            row |= times
            faults += [fault] if fault else []
        rows[name] = row
    return rows, faults


def times_row(span: Reading, name: str) -> tuple[dict[str, Any], Fault | None]:
    """The duration of a span under ``name``, or what the intake tells the fault by.

    >>> times_row(Reading("t", "s", start_ns=10**6, end_ns=3 * 10**6), "took_ms")
    ({'took_ms': 2.0}, None)
    >>> times_row(Reading("t", "s", start_ns=3 * 10**6, end_ns=10**6), "took_ms")[0]
    {'took_ms': -2.0}
    """
    took, fault = duration_ms(span.span_id, span.start_ns, span.end_ns)
    if fault is None:
        return {name: took}, None
    if fault.kind == "negative_duration":
        return {name: (span.end_ns - span.start_ns) / 1e6}, fault
    return ({"started": span.start_ns} if span.start_ns else {}), fault


def _retrieved(retrieval: Retrieval) -> Hits | None:
    """What a retriever returned before anything inside it reranked."""
    span, rerankers, parts, reranks_inside = retrieval
    own = span.documents
    if span.role == "reranker":
        return span.candidates
    if reranks_inside:
        given = rerankers[0].candidates
        own = parts[0].documents if len(parts) == 1 and parts[0].documents else given or own
    elif not own and len(parts) == 1:
        own = parts[0].documents
    return own


def _timed(retrieval: Retrieval) -> Reading | None:
    """The span that tells how long the retrieval itself took."""
    span, rerankers, parts, reranks_inside = retrieval
    if span.role == "reranker":
        return None
    if not reranks_inside:
        return span
    return parts[0] if len(parts) == 1 else replace(span, end_ns=rerankers[0].start_ns)


def _asked(span: Reading) -> Reading:
    """What a reranker was given came from a retrieval of which nothing else is known."""
    return replace(span, top_k=None, error=None) if span.role == "reranker" else span


def _known(hit: SpanHit, known: Iterable[str | None], ids: Mapping[str, str | None]) -> SpanHit:
    if not hit.text or hit.id in known:
        return hit
    other = ids.get(text_id(hit.text))
    return hit if other is None else replace(hit, id=other, made=False)


def _hits_row(hits: Hits | None, span: Reading) -> dict[str, Any]:
    row: dict[str, Any] = {"ids": [hit.id for hit in hits or ()]}
    for name in ("score", "doc_id", "text"):
        values: Sequence[Any] = [getattr(hit, name) for hit in hits or ()]
        if any(value is not None for value in values):
            row[f"{name}s"] = values
    if span.top_k is not None:
        row["top_k"] = span.top_k
    failed = span.error or (_SILENT if hits is None else None)
    return {**row, "status": "failed", "error": failed} if failed else {**row, "status": "ok"}
