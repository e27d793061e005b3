"""Stages of all queries, with failures that stay failures."""

from __future__ import annotations

import pytest

from ragnostic.errors import RetrievalError, UsageError
from ragnostic.offline.calls import CallPolicy
from ragnostic.offline.stages import (
    ask_all,
    cannot_change_order,
    check_free_name,
    failed_queries,
    rerank_all,
    stages_of_answers,
)
from ragnostic.ports import Candidate, Reranking, no_progress
from ragnostic.records import EvalQuery, Hits

_POLICY = CallPolicy(retries=0)


class _Retriever:
    """Answers from a table; an exception in it is raised."""

    workers = 2
    needs_corpus = needs_embedder = False

    def __init__(self, answers) -> None:
        self._answers = answers

    def retrieve(self, query: str, top_k: int):
        answer = self._answers[query]
        if isinstance(answer, Exception):
            raise answer
        return answer


class _Reverse:
    """Turns the candidates round, and fails where it is told."""

    workers = 1
    needs_embedder = False

    def __init__(self, failing: str = "", left_out: int = 0) -> None:
        self.prepared: list[str] = []
        self.asked: list[int] = []
        self._failing = failing
        self._left_out = left_out

    def prepare(self, texts, progress=no_progress) -> None:
        self.prepared += texts

    def rerank(self, query: str, candidates, top_n: int) -> Reranking:
        self.asked.append(top_n)
        if query == self._failing:
            raise RetrievalError("reranker is down")
        order = tuple(range(len(candidates)))[::-1]
        return Reranking(
            order=order[: len(order) - self._left_out],
            truncated=tuple(len(candidate.text) > 2 for candidate in candidates),
        )


def _queries(*names: str) -> list[EvalQuery]:
    return [EvalQuery(f"id-{name}", name) for name in names]


def _retrieve(answers):
    asked = ask_all(_Retriever(answers), _queries(*answers), 7, _POLICY, no_progress)
    return stages_of_answers(asked, 7)


def _rerank(reranker, rankings, texts, *names):
    queries = _queries(*names)
    return rerank_all(
        reranker, queries, rankings, texts, top_n=1, policy=_POLICY, progress=no_progress
    )


def test_a_failed_query_is_failed_in_every_stage():
    """With the reason, and with what it was asked for."""
    both = {"recall": Hits(("a",), top_k=50), "rank": Hits(("a",))}
    stages = _retrieve({"q1": RetrievalError("timed out"), "q2": both})
    assert list(stages) == ["recall", "rank"]
    for rankings in stages.values():
        assert rankings[0] == Hits(top_k=7, status="failed", error="timed out")
    assert (stages["recall"][1].top_k, stages["rank"][1].top_k) == (50, 7)
    assert failed_queries(stages) == {0}


def test_a_stage_that_one_answer_does_not_hold_is_absent_there():
    """Not failed, and not an empty ranking that somebody returned."""
    stages = _retrieve({"q1": {"recall": Hits(), "rank": Hits()}, "q2": {"recall": Hits()}})
    assert stages["rank"][1] is None
    assert failed_queries(stages) == set()


def test_the_call_is_timed_where_the_retriever_does_not_say():
    """Only for one stage: the time of several cannot be told apart from outside."""
    one = _retrieve({"q": {"retrieve": Hits()}, "p": {"retrieve": Hits(took_ms=3.0)}})["retrieve"]
    assert one[0].took_ms >= 0
    assert one[1].took_ms == 3.0
    assert _retrieve({"q": {"a": Hits(), "b": Hits()}})["a"][0].took_ms is None


def test_without_any_answer_there_is_one_failed_stage():
    """So that the failures can be counted."""
    assert list(_retrieve({"q": RetrievalError("down")})) == ["retrieve"]


def test_all_candidates_are_asked_for_and_top_n_is_a_mark():
    """Unique texts are prepared once, in the order in which they occur."""
    reranker = _Reverse()
    rankings = [Hits(("a", "b"), top_k=20), Hits(("b", "c"), top_k=20)]
    found = _rerank(reranker, rankings, {"a": "A", "b": "B", "c": "long"}, "q1", "q2")
    assert reranker.prepared == ["A", "B", "long"]
    assert reranker.asked == [2, 2]
    assert [hits.ids for hits in found.hits] == [("b", "a"), ("c", "b")]
    assert [(hits.top_k, hits.top_n) for hits in found.hits] == [(20, 1), (20, 1)]
    assert found.truncated_share == 0.25
    assert found.faults == ()


def test_failures_and_empty_rankings_stay_what_they_are():
    """A failed retrieval is not reranked; an empty one is an empty ranking; absent is empty."""
    failed = Hits(top_k=5, status="failed", error="timed out")
    rankings = [failed, Hits(top_k=5), None, Hits(("a",), top_k=5)]
    found = _rerank(_Reverse(failing="q4"), rankings, {"a": "A"}, "q1", "q2", "q3", "q4")
    assert [hits.status for hits in found.hits] == ["failed", "ok", "ok", "failed"]
    assert [hits.error for hits in found.hits] == ["timed out", None, None, "reranker is down"]
    assert found.truncated_share is None


def test_candidates_left_out_or_without_text_are_told():
    """By count and query."""
    found = _rerank(_Reverse(left_out=1), [Hits(("a", "b"))], {"a": "A"}, "q1")
    assert {fault.kind: fault.count for fault in found.faults} == {
        "candidate_without_text": 1,
        "rerank_left_out": 1,
    }
    assert found.faults[1].ids == ("id-q1",)


def test_a_stage_of_the_rerankers_name_is_refused():
    """Two stages of one name would overwrite each other."""
    check_free_name({"retrieve": []})
    with pytest.raises(UsageError, match="already holds a stage 'rerank'"):
        check_free_name({"retrieve": [], "rerank": []})


def test_the_same_cosine_twice_is_warned_about():
    """Only dense before embedding, and only where every candidate is scored whole."""
    candidates = [[Candidate("a", "one two"), Candidate("b", "one")]]

    def warning(retriever: str, reranker: str, limit: int):
        return cannot_change_order(
            retriever, reranker, candidates, limit, lambda text: len(text.split())
        )

    assert warning("dense", "embedding", 2).kind == "rerank_cannot_change_order"
    assert warning("dense", "embedding", 1) is None
    assert warning("bm25", "embedding", 2) is None
    assert warning("dense", "http", 2) is None
