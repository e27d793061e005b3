"""Rerankers: by embedding, and by services of three shapes."""

from __future__ import annotations

import json
import re

import pytest
from pydantic import ValidationError

from ragnostic.adapters.embedding_reranker import EmbeddingReranker
from ragnostic.adapters.http_reranker import HttpReranker
from ragnostic.errors import RetrievalError, UsageError
from ragnostic.ports import Candidate, Resources

LONG = "aa aa aa. " * 10 + "zz zz zz."


def candidates(*texts: str) -> list[Candidate]:
    """Candidates p10, p11, … with these texts."""
    return [Candidate(f"p{10 + number}", text) for number, text in enumerate(texts)]


def embedding(letters, **options) -> EmbeddingReranker:
    """The reranker over the letters embedder."""
    return EmbeddingReranker.build(
        EmbeddingReranker.Options(**options), Resources(embedder=letters)
    )


def test_all_candidates_come_back_by_cosine_and_ties_keep_their_order(letters):
    """top_n changes nothing: it only marks what the generator gets."""
    found = embedding(letters).rerank("aab", candidates("b", "ab", "a", "ab"), 1)
    assert found.order == (1, 3, 2, 0)
    assert found.scores is not None
    assert found.scores[0] == found.scores[1]
    assert list(found.scores) == sorted(found.scores, reverse=True)
    assert found.truncated == (False,) * 4


def test_prepared_candidates_are_not_embedded_again(letters):
    """Repeats are embedded once; rerank then only embeds the query."""
    told = []
    reranker = embedding(letters)
    reranker.prepare(["a", "b", "a"], lambda *step: told.append(step))
    assert letters.embedded == [("passage", "a"), ("passage", "b")]
    reranker.rerank("q", candidates("b", "a"), 5)
    assert letters.embedded[2:] == [("query", "q")]
    assert told[:2] == [("cut candidates", 1, 2), ("cut candidates", 2, 2)]
    assert told[-1] == ("embed passage", 2, 2)


def test_a_long_candidate_counts_by_its_best_segment(letters):
    """The last sentence answers the query: with segments it wins, cut off it loses."""
    offered = candidates("zz zq", LONG)
    best = embedding(letters, max_tokens=16).rerank("zz", offered, 5)
    cut = embedding(letters, max_tokens=16, long="truncate").rerank("zz", offered, 5)
    assert cut.order == (0, 1)
    assert cut.truncated == (False, True)
    assert best.scores is not None
    assert cut.scores is not None
    assert best.truncated == (False, False)
    assert best.scores[best.order.index(1)] > cut.scores[cut.order.index(1)]
    assert all(len(text.split()) <= 16 for _, text in letters.embedded)


def test_no_candidates_need_no_model(letters):
    """An empty ranking reranks to an empty ranking."""
    assert embedding(letters).rerank("q", [], 5).order == ()
    assert letters.embedded == []


def test_an_embedding_reranker_without_an_embedder_is_refused():
    """With the setting to make."""
    with pytest.raises(UsageError, match="reranker embedding needs an embedder"):
        EmbeddingReranker.build(EmbeddingReranker.Options(), Resources())


def http(url: str, shape: str = "cohere", **options) -> HttpReranker:
    """The reranker that calls ``url``."""
    options = {"model": None if shape == "tei" else "m", **options}
    return HttpReranker.build(HttpReranker.Options(url=url, shape=shape, **options), Resources())


def by_length(call):
    """A service that speaks the three shapes and scores a text by its share of "z"."""
    body = call.json
    texts = body["texts"] if "texts" in body else body["documents"]
    scored = sorted(
        ((text.count("z") / len(text), index) for index, text in enumerate(texts)), reverse=True
    )
    if "texts" in body:
        answer = [{"index": index, "score": score} for score, index in scored]
    else:
        rows = [{"index": index, "relevance_score": score} for score, index in scored]
        answer = {"id": "x", "results": rows[: body["top_n"]]}
    return 200, {}, json.dumps(answer).encode()


@pytest.mark.parametrize("shape", ["cohere", "jina", "tei"])
def test_each_shape_is_spoken(service, shape):
    """Request and answer as the services define them; all candidates are asked for."""
    service.reply = by_length
    reranker = http(service.url, shape, body={"extra": 1})
    reranker.prepare(["anything"])
    found = reranker.rerank("q", candidates("az", "zz", "aa"), 1)
    assert (found.order, found.scores) == ((1, 0, 2), (1.0, 0.5, 0.0))
    body = service.calls[0].json
    texts = ["az", "zz", "aa"]
    named = {"model": "m", "query": "q", "documents": texts, "top_n": 3, "extra": 1}
    assert (
        body
        == {
            "cohere": named,
            "jina": {**named, "return_documents": False},
            "tei": {"query": "q", "texts": texts, "truncate": True, "extra": 1},
        }[shape]
    )
    assert reranker.workers == 4


def test_segments_are_sent_as_documents_of_their_own_and_the_best_counts(service):
    """Long by segments keeps the whole text; truncation marks it."""
    service.reply = by_length
    offered = candidates("zzza", LONG, "z a")
    best = http(service.url, max_tokens=16).rerank("q", offered, 5)
    assert len(service.calls[0].json["documents"]) > 3
    assert sorted(best.order) == [0, 1, 2]
    cut = http(service.url, max_tokens=16, long="truncate").rerank("q", offered, 5)
    assert (
        service.calls[1].json["documents"][1] == LONG[: len(service.calls[1].json["documents"][1])]
    )
    assert cut.truncated == (False, True, False)
    assert best.truncated == (False, False, False)
    assert best.scores is not None
    assert cut.scores is not None
    assert best.scores[best.order.index(1)] > cut.scores[cut.order.index(1)] == 0


def test_batches_are_joined(service):
    """TEI takes 32 at a time unless told otherwise."""
    service.reply = by_length
    texts = ["z" * number + "a" * (40 - number) for number in range(40)]
    found = http(service.url, "tei").rerank("q", candidates(*texts), 5)
    assert [len(call.json["texts"]) for call in service.calls] == [32, 8]
    assert found.order == tuple(range(39, -1, -1))


def test_no_candidates_need_no_call(service):
    """Services answer 400 to an empty list."""
    assert http(service.url).rerank("q", [], 5).order == ()
    assert service.calls == []


def test_indices_point_into_what_was_sent_and_missing_items_are_no_error(service, shared):
    """The case from the field, for its own texts and for any others."""
    case = json.loads((shared / "cases" / "input-rerank-indices.json").read_text(encoding="utf-8"))
    given, expect = case["given"], case["expect"]
    service.answers(given["response"])
    offered = [Candidate(name, f"text of {name}") for name in given["sent"]]
    found = http(service.url).rerank("q", offered, given["top_n"])
    ranking = [offered[index].id for index in found.order]
    assert ranking == expect["ranking"]
    assert [name for name in given["sent"] if name not in ranking] == expect["not_returned"]
    assert found.scores == tuple(row["relevance_score"] for row in given["response"]["results"])


def test_an_answer_in_the_order_of_the_request_is_sorted_by_score(service):
    """Some servers do not sort; equal scores keep the order of the answer."""
    scores = [(0, 0.1), (2, 0.7), (1, 0.7)]
    service.answers({"results": [{"index": i, "relevance_score": s} for i, s in scores]})
    assert http(service.url).rerank("q", candidates("a", "b", "c"), 3).order == (2, 1, 0)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"index": 2, "relevance_score": 1}, "index 2 in the answer, but 2 documents were sent"),
        ({"index": -1, "relevance_score": 1}, "index -1 in the answer"),
        ({"index": "0", "relevance_score": 1}, "index '0' in the answer"),
        ({"index": True, "relevance_score": 1}, "index True in the answer"),
        ({"relevance_score": 1}, "index None in the answer"),
        ({"index": 1, "relevance_score": 1}, "index 1 comes twice"),
        ({"index": 0, "relevance_score": None}, "not a finite number: None"),
        ({"index": 0, "relevance_score": float("nan")}, "not a finite number: nan"),
        ({"index": 0, "score": 1}, "not a finite number: None"),
        ("text", "no list of results"),
    ],
)
def test_an_answer_that_points_nowhere_is_an_error(service, row, message):
    """Not a guess, not a zero."""
    service.answers({"results": [{"index": 1, "relevance_score": 0.5}, row]})
    with pytest.raises(RetrievalError, match=re.escape(message)):
        http(service.url).rerank("q", candidates("a", "b"), 2)


@pytest.mark.parametrize(("shape", "answer"), [("tei", {"results": []}), ("jina", [])])
def test_an_answer_of_another_shape_hints_at_the_setting(service, shape, answer):
    """The user chose the wrong shape."""
    service.answers(answer)
    with pytest.raises(RetrievalError, match="no list of results") as caught:
        http(service.url, shape).rerank("q", candidates("a"), 2)
    assert shape in caught.value.hint


def test_a_shape_that_names_a_model_needs_one():
    """TEI serves one model and needs none."""
    with pytest.raises(ValidationError, match="model is missing: the jina shape"):
        HttpReranker.Options(url="http://x", shape="jina")
    assert HttpReranker.Options(url="http://x", shape="tei").model is None
