"""Exact search and its fusion with BM25."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.adapters.dense import DenseRetriever, nearest
from ragnostic.adapters.hybrid import HybridRetriever, fuse
from ragnostic.adapters.local_index import best
from ragnostic.errors import UsageError
from ragnostic.ports import Resources


def test_the_nearest_chunks_come_first_with_their_cosines(letters, make_chunks):
    """Passages are embedded once when built, the query when asked."""
    chunks = make_chunks(a="aaa", b="bbb", ab="ab")
    found = DenseRetriever.build(
        DenseRetriever.Options(), Resources(chunks=chunks, embedder=letters)
    )
    hits = found.retrieve("aa", 2)["retrieve"]
    assert hits.ids == ("a", "ab")
    assert hits.scores == pytest.approx((1.0, 0.7071), abs=0.02)
    assert hits.doc_ids == ("a.md", "ab.md")
    assert [role for role, _ in letters.embedded] == ["passage"] * 3 + ["query"]


def test_equal_texts_have_equal_scores_and_come_by_id_descending(letters, make_chunks):
    """Whatever block of the matrix product they fall into."""
    texts = {f"t{number:03}": "same words" for number in range(101)}
    found = DenseRetriever(
        sorted(make_chunks(**texts), key=lambda chunk: chunk.id, reverse=True), letters
    )
    hits = found.retrieve("words", 20)["retrieve"]
    assert hits.ids == tuple(f"t{number:03}" for number in range(100, 80, -1))
    assert len(set(hits.scores or ())) == 1


def test_a_batch_gives_what_single_queries_give(letters, make_chunks):
    """More queries than one matrix product takes."""
    chunks = make_chunks(a="aaa bc", b="bbb cd", c="ccc de", d="dd ea")
    found = DenseRetriever(chunks, letters)
    queries = [f"{'abcd'[number % 4]} {'e' * (number % 7)}" for number in range(130)]
    batch = found.retrieve_batch(queries, 3)
    single = [found.retrieve(query, 3) for query in queries]
    assert [hits["retrieve"].ids for hits in batch] == [hits["retrieve"].ids for hits in single]
    assert [hits["retrieve"].scores for hits in batch] == [
        hits["retrieve"].scores for hits in single
    ]


@given(st.integers(1, 60), st.integers(0, 70), st.integers(0, 10_000))
def test_nearest_equals_sorting_everything(rows, top_k, seed):
    """The float32 product may only pick candidates, never decide an order."""
    rng = np.random.default_rng(seed)
    vectors = rng.integers(-2, 3, (rows, 4)).astype(np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1)
    query = vectors[0]
    positions, scores = nearest(vectors, query, vectors @ query, top_k)
    exact = np.round(vectors.astype(float) @ query.astype(float), 9)
    expected = sorted(range(rows), key=lambda row: (-exact[row], row))[:top_k]
    assert positions.tolist() == expected
    assert scores.tolist() == [exact[row] for row in expected]


def test_best_of_nothing_is_nothing():
    """top_k 0 is a ranking of length 0."""
    assert best(np.array([1.0, 2.0]), 0).tolist() == []


@pytest.mark.parametrize("retriever", [DenseRetriever, HybridRetriever])
def test_what_is_missing_is_told(retriever, letters, make_chunks):
    """A corpus and an embedder are needed."""
    with pytest.raises(UsageError, match="needs an embedder"):
        retriever.build(retriever.Options(), Resources(chunks=make_chunks(a="x")))
    with pytest.raises(UsageError, match="needs a corpus"):
        retriever.build(retriever.Options(), Resources(embedder=letters))


def test_hybrid_adds_reciprocal_ranks_of_both_sides(letters, make_chunks):
    """a: rank 1 in both = 2/61; the others only stand in the dense ranking."""
    resources = Resources(chunks=make_chunks(a="fox", b="foox", c="hen"), embedder=letters)
    found = HybridRetriever.build(HybridRetriever.Options(), resources)
    hits = found.retrieve("fox", 2)["retrieve"]
    assert hits.ids == ("a", "b")
    assert hits.scores == pytest.approx((2 / 61, 1 / 62))
    assert (hits.doc_ids, hits.top_k) == (("a.md", "b.md"), 2)
    assert hits.scores_are_ranks


def test_a_weight_of_zero_switches_a_side_off(letters, make_chunks):
    """Then the ranking is the other side's."""
    resources = Resources(chunks=make_chunks(a="fox", b="hen"), embedder=letters)
    options = HybridRetriever.Options.model_validate({"weights": {"dense": 0}, "depth": 1})
    assert HybridRetriever.build(options, resources).retrieve("fox", 5)["retrieve"].ids == ("a",)


def test_ties_of_the_fusion_are_by_id_descending():
    """Two lists that mirror each other tie everywhere."""
    assert [name for name, _ in fuse([["a", "b"], ["b", "a"]], [1, 1])] == ["b", "a"]
