"""Which reranker worked on which retrieval of a trace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ragnostic.gateway.span_reading import Reading, SpanHit, text_id
from ragnostic.gateway.span_tree import SpanTree


class Retrieval(NamedTuple):
    """A retrieval and the rerankers that worked on it, in order. ``parts`` are the retrievers that
    it asked itself: shards, wordings, other retrievers; ``reranks_inside`` says that a reranker
    had a hand in what it returned.
    """

    span: Reading
    rerankers: tuple[Reading, ...] = ()
    parts: tuple[Reading, ...] = ()
    reranks_inside: bool = False


class Retrievals(NamedTuple):
    """The retrievals of a trace, and the rerankers whose retrieval is not in it."""

    found: tuple[Retrieval, ...]
    alone: tuple[Reading, ...]


def retrievals(tree: SpanTree) -> Retrievals:
    """The retrievals of a trace with their rerankers.

    A retriever that a retriever asked is a part of it and no retrieval of its own. A reranker
    inside a retriever belongs to it; another one to the retrieval whose documents it was given,
    the nearest in the tree and the latest before it; where it does not say what it was given, the
    tree and the time decide. Several retrievals merged by one reranker all have it.
    """
    outer = [span for span in tree.of_role("retriever") if _is_outer(tree, span)]
    of: dict[str, list[Reading]] = {span.span_id: [] for span in outer}
    alone: list[Reading] = []
    for reranker in tree.of_role("reranker"):
        owners = _owners(tree, reranker, outer, of)
        for owner in owners:
            of[owner.span_id].append(reranker)
        if not owners:
            alone.append(reranker)
    found = [_retrieval(tree, span, of[span.span_id]) for span in outer]
    return Retrievals(tuple(found), tuple(alone))


def hit_keys(hits: Iterable[SpanHit] | None) -> frozenset[str]:
    """By what hits are known to be the same: their ids, and the hashes of their texts."""
    found: set[str] = set()
    for hit in hits or ():
        found.update(key for key in (hit.id, hit.text and text_id(hit.text)) if key)
    return frozenset(found)


def _retrieval(tree: SpanTree, span: Reading, rerankers: Sequence[Reading]) -> Retrieval:
    below = {inner.span_id for inner in tree.descendants(span.span_id)}
    is_inside = any(reranker.span_id in below for reranker in rerankers)
    return Retrieval(span, tuple(rerankers), _parts(tree, span), is_inside)


def _is_outer(tree: SpanTree, span: Reading) -> bool:
    parent = tree.parent(span)
    return parent is None or parent.role != "retriever"


def _parts(tree: SpanTree, span: Reading) -> tuple[Reading, ...]:
    """The innermost retrievers below, which asked no other."""
    below = tree.of_role("retriever", span.span_id)
    asked = {inner.parent_id for inner in below}
    return tuple(inner for inner in below if inner.span_id not in asked)


def _owners(
    tree: SpanTree,
    reranker: Reading,
    outer: Sequence[Reading],
    known: dict[str, list[Reading]],
) -> Sequence[Reading]:
    above = {span.span_id for span in tree.ancestors(reranker)}
    inside = [span for span in outer if span.span_id in above]
    if inside:
        return inside[-1:]
    possible = outer
    if reranker.candidates:
        given = hit_keys(reranker.candidates)
        possible = [span for span in outer if given & _offered(tree, span)]
    earlier = [span for span in possible if span.start_ns <= reranker.start_ns]
    if not earlier:
        return possible[:1]
    steps = {span.span_id: tree.distance(reranker, span) for span in earlier}
    near = [span for span in earlier if steps[span.span_id] == min(steps.values())]
    fresh = [span for span in near if not known[span.span_id]]
    if not reranker.candidates:
        return (fresh or near)[-1:]
    if fresh:
        return fresh
    before = known[near[-1].span_id][-1]  # a second reranker after the first
    return [span for span in near if before in known[span.span_id]]


def _offered(tree: SpanTree, span: Reading) -> frozenset[str]:
    inner = (hit_keys(part.documents) for part in _parts(tree, span))
    return hit_keys(span.documents).union(*inner)
