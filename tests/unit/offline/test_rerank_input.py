"""Candidates in, a ranking of what the reranker returned out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.errors import RetrievalError, UsageError
from ragnostic.offline.rerank_input import candidates_of, check_texts, reranked
from ragnostic.ports import Candidate, Reranking
from ragnostic.records import Hits

_HITS = Hits(
    ids=("a", None, "c"),
    scores=(3.0, 2.0, 1.0),
    doc_ids=("A", "B", None),
    texts=("ta", "tb", "tc"),
    top_k=3,
    took_ms=9.0,
)


def test_texts_come_from_the_corpus_and_else_from_the_hits():
    """A null id has the text it was shown with."""
    candidates = candidates_of(_HITS, {"a": "stored"})
    assert candidates == [
        Candidate("a", "stored", 3.0),
        Candidate("", "tb", 2.0),
        Candidate("c", "tc", 1.0),
    ]


def test_rankings_without_any_text_are_refused():
    """A reranker cannot read ids; some texts missing is a count, not an error."""
    nothing = candidates_of(Hits(ids=("a", "b")), {})
    some = candidates_of(Hits(ids=("a", "b")), {"a": "t"})
    with pytest.raises(UsageError, match=r"dataset\.corpus"):
        check_texts([nothing, nothing])
    assert check_texts([nothing, some]) == 3
    assert check_texts([[], []]) == 0


def test_candidates_left_out_have_no_rank():
    """A service that returns fewer is believed: no place and no score is invented."""
    answer = Reranking(order=(2,), scores=(0.5,), truncated=(False, True, False))
    found = reranked(_HITS, answer, top_n=1, took_ms=4.0)
    assert (found.ids, found.doc_ids, found.texts) == (("c",), (None,), ("tc",))
    assert (found.truncated, found.scores) == ((False,), (0.5,))
    assert (found.top_k, found.top_n, found.took_ms) == (3, 1, 4.0)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Reranking(order=(0, 3)), "named candidate 3 of 3"),
        (Reranking(order=(-1,)), "named candidate -1 of 3"),
        (Reranking(order=(1, 1)), "a candidate twice"),
        (Reranking(order=(0, 1), scores=(0.1,)), "1 score for 2 candidates"),
    ],
)
def test_an_order_that_is_none_is_an_error(answer, message):
    """Never a silently wrong ranking."""
    with pytest.raises(RetrievalError, match=message):
        reranked(_HITS, answer, top_n=1, took_ms=None)


@given(st.permutations(range(6)), st.integers(0, 6))
def test_the_ranking_is_the_rerankers_order(order, returned):
    """Whatever part of the list comes back, in whatever order; nothing twice, nothing added."""
    hits = Hits(ids=tuple("abcdef"))
    found = reranked(hits, Reranking(order=tuple(order[:returned])), top_n=2, took_ms=None)
    assert list(found.ids) == ["abcdef"[index] for index in order[:returned]]
