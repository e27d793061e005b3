"""Stages of a retrieval: what was retrieved, what was reranked, and how long it took."""

from __future__ import annotations

import runpy
from pathlib import Path

from ragnostic.gateway.span_reading import Reading, SpanHit
from ragnostic.gateway.span_rerankers import Retrieval, retrievals
from ragnostic.gateway.span_stages import stage_hits, stage_rows
from ragnostic.gateway.span_tree import SpanTree

BUILD = runpy.run_path(str(Path(__file__).parent / "span_builders.py"))
hits = BUILD["hits"]
MS = 10**6
BEGUN = 1_767_225_600 * 10**9


def reading(name, parent, role, start, end, **fields):
    """A span from ``start`` to ``end``, in ms."""
    times = {"start_ns": BEGUN + start * MS, "end_ns": end and BEGUN + end * MS}
    return Reading("t", name, parent, role=role, **times, **fields)


def rows(retrieval):
    """The stages of a retrieval, and the kinds of faults."""
    found, faults = stage_rows(retrieval, stage_hits(retrieval))
    return found, [fault.kind for fault in faults]


def only(*spans):
    """The only retrieval of a trace."""
    (found,) = retrievals(SpanTree(spans)).found
    return found


def test_a_retriever_by_itself():
    """Ids, scores, sources, texts in parallel; lists that hold nothing are left out."""
    documents = (SpanHit("a", "s", "one", 0.5), SpanHit("b"))
    span = reading("r", None, "retriever", 0, 80, documents=documents, top_k=10)
    found, faults = rows(Retrieval(span))
    assert found == {
        "retrieve": {
            "ids": ["a", "b"],
            "scores": [0.5, None],
            "doc_ids": ["s", None],
            "texts": ["one", None],
            "top_k": 10,
            "status": "ok",
            "took_ms": 80.0,
        }
    }
    assert faults == []
    assert "scores" not in rows(Retrieval(reading("r", None, "retriever", 0, 1, documents=())))[0]


def test_rerankers_are_stages_in_order():
    """The second has a number."""
    span = reading("r", None, "retriever", 0, 80, documents=hits("a", "b"))
    first = reading("k1", None, "reranker", 80, 90, documents=hits("b", "a"), top_k=2)
    second = reading("k2", None, "reranker", 90, 95, documents=hits("a"))
    found, _ = rows(Retrieval(span, (first, second)))
    assert list(found) == ["retrieve", "rerank", "rerank_2"]
    assert [stage["ids"] for stage in found.values()] == [["a", "b"], ["b", "a"], ["a"]]
    assert [stage["took_ms"] for stage in found.values()] == [80.0, 10.0, 5.0]
    assert (found["retrieve"].get("top_k"), found["rerank"]["top_k"]) == (None, 2)


def test_hits_of_a_reranker_that_knows_texts_only_get_the_retrieved_ids():
    """So that both stages speak of the same chunks."""
    retrieved = (SpanHit("a", text="one  day"), SpanHit("b", text="two"))
    made = (SpanHit("h2", text="two", made=True), SpanHit("h1", text="one day", made=True))
    other = (*made, SpanHit("c", text="three"), SpanHit("a", text="anything"), SpanHit("d"))
    span = reading("r", None, "retriever", 0, 1, documents=retrieved)
    reranker = reading("k", None, "reranker", 1, 2, documents=other)
    assert rows(Retrieval(span, (reranker,)))[0]["rerank"]["ids"] == ["b", "a", "c", "a", "d"]


def test_a_retriever_that_reranks_inside():
    """What the inner one returned was retrieved; the outer's documents are the end of it."""
    outer = reading("r", None, "retriever", 0, 100, documents=hits("b"))
    inner = reading("p", "r", "retriever", 0, 60, documents=hits("a", "b"))
    reranker = reading("k", "r", "reranker", 60, 95, candidates=hits("a", "b"), documents=hits("b"))
    found, _ = rows(only(outer, inner, reranker))
    assert (found["retrieve"]["ids"], found["retrieve"]["took_ms"]) == (["a", "b"], 60.0)
    assert (found["rerank"]["ids"], found["rerank"]["took_ms"]) == (["b"], 35.0)


def test_a_retriever_that_reranks_inside_and_logs_no_inner_retriever():
    """The candidates were retrieved, until the reranker began."""
    outer = reading("r", None, "retriever", 0, 100, documents=hits("b"))
    reranker = reading("k", "r", "reranker", 60, 95, candidates=hits("a", "b"), documents=hits("b"))
    found, _ = rows(only(outer, reranker))
    assert (found["retrieve"]["ids"], found["retrieve"]["took_ms"]) == (["a", "b"], 60.0)


def test_an_outer_retriever_without_documents_has_those_of_its_only_part():
    """Of several parts nobody knows how they were merged."""
    outer = reading("r", None, "retriever", 0, 100, documents=())
    part = reading("p", "r", "retriever", 0, 60, documents=hits("a"))
    other = reading("q", "r", "retriever", 0, 60, documents=hits("b"))
    assert rows(only(outer, part))[0]["retrieve"]["ids"] == ["a"]
    assert rows(only(outer, part, other))[0]["retrieve"]["ids"] == []


def test_a_failed_retriever_is_a_failed_stage():
    """With what it says; so is one that does not say what it returned."""
    failed = reading("r", None, "retriever", 0, 1, documents=(), error="time-out")
    stage = rows(Retrieval(failed))[0]["retrieve"]
    assert (stage["ids"], stage["status"], stage["error"]) == ([], "failed", "time-out")
    silent = rows(Retrieval(reading("r", None, "retriever", 0, 1)))[0]["retrieve"]
    assert (silent["status"], silent["error"]) == (
        "failed",
        "the span does not say which documents it returned",
    )


def test_a_reranker_by_itself():
    """Its candidates were retrieved, nobody knows how fast or how deep; its fault is its own."""
    span = reading(
        "k", None, "reranker", 0, 5, candidates=hits("a", "b"), documents=hits("b"), top_k=1
    )
    found, faults = rows(Retrieval(span, (span,)))
    assert found["retrieve"] == {"ids": ["a", "b"], "status": "ok"}
    assert found["rerank"] == {"ids": ["b"], "top_k": 1, "status": "ok", "took_ms": 5.0}
    assert faults == []


def test_times_that_are_wrong_are_handed_on_as_faults():
    """For the intake to count; never as a value (METRICS 6)."""
    back = reading("r", None, "retriever", 100, 60, documents=())
    assert rows(Retrieval(back))[0]["retrieve"]["took_ms"] == -40.0
    assert rows(Retrieval(back))[1] == ["negative_duration"]
    endless = reading("r", None, "retriever", 100, 0, documents=())
    stage = rows(Retrieval(endless))[0]["retrieve"]
    assert "took_ms" not in stage
    assert stage["started"] == endless.start_ns
    timeless = Reading("t", "r", role="retriever", documents=())
    assert rows(Retrieval(timeless)) == ({"retrieve": {"ids": [], "status": "ok"}}, ["no_start"])
