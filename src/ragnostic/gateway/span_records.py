"""A trace as record rows: one a retrieval (METRICS 13: trace id and the span that asked)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragnostic.gateway.span_answers import Outcome, around, first_known, outcome_of
from ragnostic.gateway.span_reading import Reading, SpanHit
from ragnostic.gateway.span_rerankers import Retrieval, retrievals
from ragnostic.gateway.span_stages import RERANK, RETRIEVE, stage_hits, stage_rows, times_row
from ragnostic.gateway.span_tree import SpanTree

SOURCE = "otlp"
_COLUMNS = ("query_id", "category", "language", "group")


def trace_rows(
    tree: SpanTree, *, is_closed: bool = True, source: str = SOURCE
) -> list[dict[str, Any]]:
    """The record rows of a trace, in order of time.

    While a trace may still get spans (``is_closed`` false), a retriever whose caller has not come
    and a reranker without a retrieval give no row yet: what comes may make them part of another.
    The ``revision`` of a row grows with what is known of its trace.

    >>> spans = [Reading("t", "a", role="retriever", query="q", documents=(SpanHit("d"),))]
    >>> (row,) = trace_rows(SpanTree(spans))
    >>> row["record_id"], row["query"], row["stages"]["retrieve"]["ids"]
    ('t:a', 'q', ['d'])
    """
    found = retrievals(tree)
    waiting = set() if is_closed else set(tree.orphans)
    ready = [retrieval for retrieval in found.found if retrieval.span.span_id not in waiting]
    if is_closed:
        ready += [Retrieval(span, (span,)) for span in found.alone]
    ready.sort(key=lambda retrieval: (retrieval.span.start_ns, retrieval.span.span_id))
    return [_row(tree, retrieval, source) for retrieval in ready]


def holds_back(tree: SpanTree) -> bool:
    """Whether a trace gives rows only when no span can come any more."""
    found = retrievals(tree)
    orphans = set(tree.orphans)
    return bool(found.alone) or any(one.span.span_id in orphans for one in found.found)


def _row(tree: SpanTree, retrieval: Retrieval, source: str) -> dict[str, Any]:
    span, rerankers, parts, _ = retrieval
    hits = stage_hits(retrieval)
    pool = _pool(hits)
    outcome = outcome_of(tree, span, pool)
    root = tree.root_of(span)
    near = [span, *rerankers, *tree.ancestors(span), *([root] if root else [])]
    stages, faults = stage_rows(retrieval, hits)
    times, fault = times_row(root, "latency_ms") if root else ({}, None)
    labels = _labels(tree, retrieval, outcome, hits)
    kinds = [found.kind for found in (*faults, *([fault] if fault else []))]
    if kinds:
        labels["faults"] = ", ".join(dict.fromkeys(kinds))
    embedding = _embedding(tree, span)
    row: dict[str, Any] = {
        "record_id": f"{span.trace_id}:{span.span_id}",
        "trace_id": span.trace_id,
        "span_id": span.span_id,
        "session_id": first_known([*(step.session_id for step in near), tree.asked_by[0]]),
        "user_id": first_known([*(step.user_id for step in near), tree.asked_by[1]]),
        "ts": next((time for step in near for time in (step.start_ns, step.end_ns) if time), None),
        "service": first_known(step.service for step in near),
        "model_version": embedding or labels.get("llm_model"),
        "source": source,
        "query": first_known(step.query for step in near),
        "searched": _searched(retrieval),
        "answer": outcome.answer,
        "context_ids": outcome.context_ids or _reranked(hits),
        "outcome": "failed" if stages[RETRIEVE]["status"] == "failed" else "ok",
        "fanout": len(parts) if len(parts) > 1 else None,
        **times,
        "stages": stages,
        "revision": tree.detail,
        "capture": _capture([span, *rerankers, *([outcome.model] if outcome.model else [])]),
    }
    row |= {name: labels.pop(name) for name in _COLUMNS if name in labels}
    row["labels"] = labels
    return {name: value for name, value in row.items() if value is not None}


def _pool(hits: Mapping[str, tuple[SpanHit, ...] | None]) -> list[SpanHit]:
    """All hits, those of the last stage first."""
    return [hit for stage in reversed(list(hits.values())) for hit in stage or ()]


def _reranked(hits: Mapping[str, tuple[SpanHit, ...] | None]) -> list[str] | None:
    """What the last reranker let through is what the model is given, as far as is known."""
    last = list(hits)[-1]
    through = hits[last] if last.startswith(RERANK) else None
    return None if through is None else list(dict.fromkeys(hit.id for hit in through if hit.id))


def _embedding(tree: SpanTree, span: Reading) -> str | None:
    models = (step.model for steps in around(tree, span, "embedding") for step in steps)
    return first_known(models)


def _searched(retrieval: Retrieval) -> list[str] | None:
    """What was really sent, where the retriever asked others in its own words."""
    asked = dict.fromkeys(part.query for part in retrieval.parts if part.query)
    return None if not asked or set(asked) == {retrieval.span.query} else list(asked)


def _labels(
    tree: SpanTree,
    retrieval: Retrieval,
    outcome: Outcome,
    hits: Mapping[str, tuple[SpanHit, ...] | None],
) -> dict[str, str]:
    span, rerankers = retrieval.span, retrieval.rerankers
    found: dict[str, str] = {}
    for step in (*reversed(list(tree.ancestors(span))), *rerankers, span):
        found |= step.labels
    told: dict[str, str | None] = {
        "retriever": span.name,
        "embedding_model": _embedding(tree, span),
        "rerank_model": first_known(reranker.model for reranker in rerankers),
        "llm_model": first_known(
            step.model for step in (outcome.model, span if span.answer else None) if step
        ),
        "ids_from": "text" if any(hit.made for hit in _pool(hits)) else None,
        "context_from": "prompt" if outcome.context_ids else RERANK if _reranked(hits) else None,
        "parent": "missing" if span.span_id in tree.orphans else None,
    }
    if span.role == "reranker":
        told |= {"retriever": None, "reranker": span.name, "retrieve_from": "rerank input"}
    return found | {name: value for name, value in told.items() if value}


def _capture(spans: list[Reading]) -> dict[str, Any] | None:
    cuts = {
        f"{span.role}:{name}": cut._asdict() for span in spans for name, cut in span.cuts.items()
    }
    return {"truncated": True, "cut": cuts} if cuts else None
