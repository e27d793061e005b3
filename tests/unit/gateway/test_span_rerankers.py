"""Which reranker worked on which retrieval: by place, by documents, by time."""

from __future__ import annotations

import runpy
from pathlib import Path

from ragnostic.gateway.span_reading import Reading, SpanHit
from ragnostic.gateway.span_rerankers import retrievals
from ragnostic.gateway.span_tree import SpanTree

BUILD = runpy.run_path(str(Path(__file__).parent / "span_builders.py"))
hits = BUILD["hits"]


def retriever(name, parent, *ids, at=0):
    """A retriever that returned these."""
    return Reading("t", name, parent, start_ns=at, role="retriever", documents=hits(*ids))


def reranker(name, parent, *ids, at=0):
    """A reranker that was given these."""
    candidates = hits(*ids) if ids else None
    return Reading("t", name, parent, start_ns=at, role="reranker", candidates=candidates)


def owners(*spans):
    """Retrieval → its rerankers, and the rerankers by themselves."""
    found = retrievals(SpanTree(spans))
    by_name = {
        one.span.span_id: [reranker.span_id for reranker in one.rerankers] for one in found.found
    }
    return by_name, [span.span_id for span in found.alone]


ROOT = Reading("t", "root")


def test_a_reranker_beside_its_retriever():
    """Of the same parent, with the documents it was given."""
    found = owners(ROOT, retriever("r", "root", "a", "b", at=1), reranker("k", "root", "a", at=2))
    assert found == ({"r": ["k"]}, [])


def test_three_retrievals_of_one_agent_each_have_their_own():
    """Even where they found the same documents."""
    spans = [ROOT]
    for turn in range(3):
        spans.append(retriever(f"r{turn}", "root", "a", "b", at=10 * turn + 1))
        spans.append(reranker(f"k{turn}", "root", "a", "b", at=10 * turn + 2))
    assert owners(*spans) == ({"r0": ["k0"], "r1": ["k1"], "r2": ["k2"]}, [])


def test_documents_decide_before_time():
    """The retrieval that returned what the reranker was given."""
    found = owners(
        ROOT,
        retriever("r1", "root", "a", at=1),
        retriever("r2", "root", "b", at=2),
        reranker("k", "root", "a", at=3),
    )
    assert found == ({"r1": ["k"], "r2": []}, [])


def test_the_same_text_is_the_same_document():
    """Rerankers often know no ids."""
    text = (SpanHit("made", text="Five  days", made=True),)
    found = owners(
        ROOT,
        Reading("t", "r", "root", role="retriever", documents=(SpanHit("d1", text="Five days"),)),
        Reading("t", "k", "root", start_ns=1, role="reranker", candidates=text),
    )
    assert found == ({"r": ["k"]}, [])


def test_a_reranker_of_several_retrievals_belongs_to_all():
    """What hybrid retrieval merges; the next turn is another matter."""
    found = owners(
        ROOT,
        retriever("words", "root", "a", at=1),
        retriever("dense", "root", "b", at=2),
        reranker("k", "root", "a", "b", at=3),
        retriever("words2", "root", "a", at=11),
        retriever("dense2", "root", "b", at=12),
        reranker("k2", "root", "a", "b", at=13),
    )
    assert found == ({"words": ["k"], "dense": ["k"], "words2": ["k2"], "dense2": ["k2"]}, [])


def test_a_second_reranker_follows_the_first():
    """Both belong to the retrieval, in order."""
    found = owners(
        ROOT,
        retriever("r", "root", "a", "b", at=1),
        reranker("k1", "root", "a", "b", at=2),
        reranker("k2", "root", "a", at=3),
    )
    assert found == ({"r": ["k1", "k2"]}, [])


def test_without_documents_the_tree_and_the_time_decide():
    """The nearest, the latest before it, the one without a reranker first."""
    step = Reading("t", "step", "root")
    found = owners(
        ROOT,
        step,
        retriever("far", "root", "a", at=3),
        retriever("r1", "step", "a", at=1),
        retriever("r2", "step", "a", at=2),
        reranker("k", "step", at=4),
        reranker("k2", "step", at=5),
    )
    assert found == ({"far": [], "r1": ["k2"], "r2": ["k"]}, [])


def test_clocks_that_disagree_do_not_tear_apart_what_documents_join():
    """A reranker that seems to begin before its retriever."""
    found = owners(ROOT, retriever("r", "root", "a", at=9), reranker("k", "root", "a", at=2))
    assert found == ({"r": ["k"]}, [])


def test_a_reranker_inside_a_retriever_is_the_retrievers():
    """Whatever it was given."""
    found = owners(retriever("r", None, "a", at=1), reranker("k", "r", "z", at=2))
    assert found == ({"r": ["k"]}, [])


def test_a_reranker_that_matches_nothing_is_alone():
    """No retrieval of the trace returned what it was given."""
    found = owners(ROOT, retriever("r", "root", "a"), reranker("k", "root", "z", at=2))
    assert found == ({"r": []}, ["k"])
    assert owners(ROOT, reranker("k", "root")) == ({}, ["k"])


def test_retrievers_that_a_retriever_asked_are_parts_of_it():
    """The innermost ones; a retriever further down with a step between is its own retrieval."""
    outer = retriever("outer", None, "a")
    tree = SpanTree(
        [
            outer,
            retriever("middle", "outer", "a", at=1),
            retriever("p1", "middle", "a", at=2),
            retriever("p2", "middle", "b", at=3),
        ]
    )
    (found,) = retrievals(tree).found
    assert found.span == outer
    assert [part.span_id for part in found.parts] == ["p1", "p2"]
    assert not found.reranks_inside
