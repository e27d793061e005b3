"""A service behind JMESPath expressions."""

from __future__ import annotations

from datetime import date

import pytest
from pydantic import ValidationError

from ragnostic.adapters.http_retriever import HttpRetriever
from ragnostic.errors import RetrievalError, UsageError
from ragnostic.ports import Resources

HITS = {
    "hits": [{"id": 7, "s": 0.9, "d": "a.md", "t": "x"}, {"id": "b", "s": 1, "d": None, "t": "y"}]
}
ONE_STAGE = {"ids": "hits[].id", "scores": "hits[].s", "texts": "hits[].t"}


def retriever(url: str, environment: dict[str, str] | None = None, **options) -> HttpRetriever:
    """The retriever that calls ``url``."""
    resources = Resources(environment=environment or {})
    return HttpRetriever.build(HttpRetriever.Options(url=url, **options), resources)


def test_one_stage_is_read_with_everything_the_expressions_name(service):
    """Numbers become text ids; the order of the list is the ranking."""
    service.answers(HITS)
    found = retriever(service.url, **ONE_STAGE, workers=9)
    hits = found.retrieve("年假", 2)["retrieve"]
    assert (hits.ids, hits.scores, hits.texts) == (("7", "b"), (0.9, 1.0), ("x", "y"))
    assert (hits.top_k, hits.doc_ids, found.workers) == (2, None, 9)
    assert hits.took_ms is not None
    assert hits.took_ms > 0
    assert service.calls[0].json == {"query": "年假", "top_k": 2}


def test_a_list_that_keeps_nulls_gives_null_ids_and_doc_ids(service):
    """A null id keeps its rank (METRICS 1.6)."""
    service.answers({"ids": [None, "a"], "docs": ["x", None]})
    hits = retriever(service.url, ids="ids", doc_ids="docs").retrieve("q", 5)["retrieve"]
    assert (hits.ids, hits.doc_ids) == ((None, "a"), ("x", None))


def test_several_stages_come_from_one_answer(service):
    """Time without an expression goes to the last such stage; top_k may differ by stage."""
    service.answers({"a": {"ids": ["x", "y"], "ms": 1e-3}, "b": ["y"]})
    stages = {"retrieve": {"ids": "a.ids", "took_ms": "a.ms"}, "rerank": {"ids": "b", "top_k": 1}}
    found = retriever(service.url, stages=stages).retrieve("q", 2)
    assert list(found) == ["retrieve", "rerank"]
    assert (found["retrieve"].ids, found["rerank"].ids) == (("x", "y"), ("y",))
    assert (found["retrieve"].top_k, found["rerank"].top_k) == (2, 1)
    assert found["retrieve"].took_ms == 1e-3
    assert found["rerank"].took_ms is not None
    assert found["rerank"].took_ms > 0


def test_stages_without_any_time_put_the_call_on_the_last_one(service):
    """The sum over the stages is the time of the call, never twice that."""
    service.answers({"a": [], "b": []})
    found = retriever(service.url, stages={"x": {"ids": "a"}, "y": {"ids": "b"}}).retrieve("q", 2)
    assert found["x"].took_ms is None
    assert found["y"].took_ms is not None


def test_distances_are_negated_so_that_higher_is_better(service):
    """Order is kept: the service ranks, not we."""
    service.answers({"ids": ["near", "far"], "d": [0.05, 0.9]})
    found = retriever(service.url, ids="ids", scores="d", score_order="distance")
    assert found.retrieve("q", 2)["retrieve"].scores == (-0.05, -0.9)


def test_scores_of_a_fusion_are_marked_as_ranks(service):
    """They stay as they are; no threshold is drawn on them."""
    service.answers({"ids": ["a"], "s": [0.03]})
    for order, marked in (("rank", True), ("similarity", False)):
        found = retriever(service.url, ids="ids", scores="s", score_order=order)
        hits = found.retrieve("q", 1)["retrieve"]
        assert (hits.scores, hits.scores_are_ranks) == ((0.03,), marked)


def test_a_get_call_sends_parameters(service):
    """By default ``query`` and ``top_k``; a lone surrogate does not break the address."""
    service.answers({"ids": []})
    retriever(service.url, method="GET", ids="ids").retrieve("a b\ud800", 3)
    params = {"q": "{query}", "n": "{top_k}", "fixed": "1"}
    retriever(service.url, method="GET", ids="ids", params=params).retrieve("年假&x=1", 3)
    assert service.calls[0].params == {"query": "a b?", "top_k": "3"}
    assert service.calls[1].params == {"q": "年假&x=1", "n": "3", "fixed": "1"}
    assert service.calls[1].raw == b""


def test_a_body_written_as_text_is_a_template_too(service):
    """Quotes and places inside the query stay what they are."""
    service.answers({"ids": []})
    body = '{"match": "{query}", "size": {top_k}}'
    retriever(service.url, ids="ids", body=body).retrieve('say "{top_k}"', 4)
    assert service.calls[0].json == {"match": 'say "{top_k}"', "size": 4}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"results": []}, "finds nothing in the answer, whose keys are: results"),
        ({}, r"\(none\)"),
        ([], "which is a list"),
        ({"ids": "abc"}, "ids should be a list"),
        ({"ids": {"a": 1}}, "ids should be a list"),
        ({"ids": [True]}, "text or whole numbers, not True"),
        ({"ids": [1.5]}, "text or whole numbers"),
        ({"ids": ["a"], "scores": ["x"]}, "not a finite number"),
        ({"ids": ["a"], "scores": [None]}, "not a finite number"),
        ({"ids": ["a"], "scores": []}, "1 id but 0 scores"),
        ({"ids": ["a"], "scores": [1], "texts": [1]}, "texts should be text"),
    ],
)
def test_an_answer_that_does_not_fit_fails_and_is_not_an_empty_ranking(service, answer, message):
    """No silent zero: each mismatch names the service and what was found."""
    service.answers(answer)
    options = {"ids": "ids"}
    if isinstance(answer, dict):
        options |= {name: name for name in ("scores", "texts") if name in answer}
    with pytest.raises(RetrievalError, match=message) as caught:
        retriever(service.url, **options).retrieve("q", 2)
    assert not caught.value.retryable
    assert "/search (retrieve)" in caught.value.message


def test_nan_in_an_answer_is_refused(service):
    """Python's JSON reader lets NaN through; we do not."""
    service.answers(b'{"ids": ["a"], "s": [NaN]}')
    with pytest.raises(RetrievalError, match="nan"):
        retriever(service.url, ids="ids", scores="s").retrieve("q", 2)


def test_an_expression_that_fails_on_the_answer_is_an_error(service):
    """JMESPath's own type errors name the expression."""
    service.answers({"ids": ["a"]})
    with pytest.raises(RetrievalError, match="sum"):
        retriever(service.url, ids="sum(ids)").retrieve("q", 2)


def test_all_wrong_expressions_are_told_at_once():
    """Each with its place in the settings."""
    with pytest.raises(ValidationError) as caught:
        HttpRetriever.Options(url="http://x", ids="a[", scores="b ||", body="{")
    assert [error["loc"] for error in caught.value.errors()] == [("body",), ("ids",), ("scores",)]
    assert "is not a JMESPath expression" in str(caught.value)
    assert "the body template is not JSON" in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "ids is missing"),
        ({"ids": "a", "stages": {"x": {"ids": "b"}}}, "both given"),
        ({"stages": {"query": {"ids": "b"}}}, "fixed column name"),
        ({"ids": "a", "method": "GET", "body": {}}, "GET call has no body"),
        ({"ids": "a", "body": {"since": date(2024, 1, 5)}}, "JSON"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(options, message):
    """Before anything is sent."""
    with pytest.raises(ValidationError, match=message):
        HttpRetriever.Options(url="http://x", **options)


def test_a_missing_variable_is_told_before_the_first_call():
    """By name, as a usage error."""
    with pytest.raises(UsageError, match="SEARCH_KEY"):
        retriever("http://x", ids="a", headers={"Authorization": "Bearer ${SEARCH_KEY}"})


def test_nulls_in_a_list_of_hits_keep_their_places(service):
    """A hit without an id still takes a rank, and all lists stay parallel."""
    hits = [{"id": None, "text": "x"}, {"id": "", "text": None}, {"id": "a"}]
    service.answers({"hits": hits})
    found = retriever(service.url, ids="hits[].id", texts="hits[*].text").retrieve("q", 5)
    assert found["retrieve"].ids == (None, "", "a")
    assert found["retrieve"].texts == ("x", None, None)


@pytest.mark.parametrize("name", ["ids", "texts", "scores", "doc_ids"])
def test_a_misspelt_field_names_the_expression_and_what_is_there(service, name):
    """It is neither an empty ranking nor a list of nulls."""
    service.answers({"hits": [{"id": "a", "content": "x"}]})
    options = {"ids": "hits[].id"} | {name: "hits[].idd"}
    message = r"'hits\[\]\.idd' finds nothing in 1 result; .* the keys: id, content"
    with pytest.raises(RetrievalError, match=message):
        retriever(service.url, **options).retrieve("q", 2)
