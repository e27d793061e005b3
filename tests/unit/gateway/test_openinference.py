"""Spans in OpenInference form: roles, flattened lists, texts."""

from __future__ import annotations

import json

import pytest

from ragnostic.gateway.openinference import listed, openinference_fields

KIND = "openinference.span.kind"


def fields(kind, **attributes):
    """Fields of a span of a kind; names with _ for dots."""
    return openinference_fields({KIND: kind, **attributes})


@pytest.mark.parametrize(
    ("kind", "role"),
    [
        ("RETRIEVER", "retriever"),
        ("retriever", "retriever"),
        ("RERANKER", "reranker"),
        ("LLM", "llm"),
        ("EMBEDDING", "embedding"),
        ("AGENT", "agent"),
        ("CHAIN", "chain"),
        ("TOOL", "other"),
        (7, "other"),
    ],
)
def test_kinds_are_roles(kind, role):
    """Those that matter to retrieval."""
    assert fields(kind)["role"] == role


def test_without_a_kind_the_names_tell():
    """Some exporters drop the kind."""
    assert openinference_fields({"retrieval.documents.0.document.id": "a"})["role"] == "retriever"
    assert openinference_fields({"reranker.query": "a"})["role"] == "reranker"
    assert openinference_fields({"http.method": "GET"}) == {}


def test_the_documents_of_a_retriever_in_their_order():
    """By number, not by name: 10 comes after 9."""
    attributes = {f"retrieval.documents.{n}.document.id": f"d{n}" for n in (10, 9, 2, 0)}
    attributes |= {"retrieval.documents.x.document.id": "?", "retrieval.documents.3": "?"}
    found = fields("RETRIEVER", **attributes)
    assert [hit.id for hit in found["documents"]] == ["d0", "d2", "d9", "d10"]


def test_documents_may_be_a_list():
    """As viewers export them, flat or nested inside."""
    for form in ([{"document.id": "a"}], [{"document": {"id": "a", "metadata": {"source": "s"}}}]):
        (hit,) = fields("RETRIEVER", **{"retrieval.documents": form})["documents"]
        assert hit.id == "a"


def test_a_retriever_that_names_no_document_found_none():
    """Flattened, an empty list leaves no name; hidden output is unknown."""
    assert fields("RETRIEVER", **{"input.value": "q"})["documents"] == ()
    hidden = fields("RETRIEVER", **{"input.value": "__REDACTED__", "output.value": "__REDACTED__"})
    assert "documents" not in hidden
    assert "query" not in hidden


def test_a_retriever_that_answers_too():
    """A service that retrieves and generates in one call; a list of documents is no answer."""
    both = fields("RETRIEVER", **{"llm.model_name": "m", "output.value": "Five days."})
    assert (both["answer"], both["model"]) == ("Five days.", "m")
    assert "answer" not in fields("RETRIEVER", **{"output.value": "Five days."})
    assert "answer" not in fields("RETRIEVER", **{"llm.model_name": "m", "output.value": "[1]"})


def test_a_retriever_may_say_how_deep_it_was_asked():
    """Where its input is an object that says so."""
    found = fields("RETRIEVER", **{"input.value": '{"query": "q", "top_k": 20}'})
    assert (found["query"], found["top_k"]) == ("q", 20)


def test_a_reranker():
    """What it was given, what it made of it, how many it was asked for."""
    found = fields(
        "RERANKER",
        **{
            "reranker.query": "who?",
            "input.value": '{"query": "other"}',
            "reranker.top_k": 2,
            "reranker.model_name": "r-1",
            "reranker.input_documents.0.document.content": "one",
            "reranker.output_documents.0.document.id": "a",
            "reranker.output_documents.0.document.score": 0.7,
        },
    )
    assert (found["query"], found["top_k"], found["model"]) == ("who?", 2, "r-1")
    assert found["candidates"][0].text == "one"
    assert found["documents"][0].score == 0.7
    assert fields("RERANKER", **{"input.value": "q", "reranker.top_k": 0})["query"] == "q"


def test_a_model_with_messages():
    """All that it was shown, all that it said; parts of a message too."""
    found = fields(
        "LLM",
        **{
            "input.value": "ignored",
            "llm.input_messages.0.message.content": "Be brief.",
            "llm.input_messages.1.message.contents.0.message_content.text": "How long?",
            "llm.input_messages.1.message.contents.1.message_content.type": "image",
            "llm.output_messages.0.message.content": "Five days.",
            "llm.model_name": "m-1",
            "llm.response.model_name": "m-1-0609",
        },
    )
    assert found["prompt"] == "Be brief.\nHow long?"
    assert (found["answer"], found["model"]) == ("Five days.", "m-1-0609")


def test_a_model_without_messages():
    """Its input and output as they stand."""
    found = fields("LLM", **{"input.value": "How long?", "output.value": '{"text": "Five."}'})
    assert (found["prompt"], found["answer"]) == ("How long?", "Five.")
    assert "query" not in found


def test_a_step_has_a_question_and_an_answer():
    """Text or JSON."""
    found = fields("CHAIN", **{"input.value": '{"question": "q"}', "output.value": "a"})
    assert (found["query"], found["answer"]) == ("q", "a")


def test_who_asked_and_what_else_is_told():
    """Session, user, plain members of the metadata, tags."""
    metadata = {"shop": 7, "vip": True, "plan": "a", "nested": {}, "none": None}
    attributes = {"session.id": "s", "user.id": 7, "tag.tags": ["x", "y"]}
    for form in (metadata, json.dumps(metadata)):
        found = fields("CHAIN", metadata=form, **attributes)
        assert (found["session_id"], found["user_id"]) == ("s", "7")
        assert found["labels"] == {"shop": "7", "vip": "true", "plan": "a", "tags": "x, y"}
    assert fields("CHAIN", metadata="no json", **{"tag.tags": "x"})["labels"] == {}


def test_lists_of_lists_and_values_that_are_none():
    """What is no object is no member."""
    assert listed({"docs": ["x", {"a": [{"b": 1}, {"b": 2}]}]}, "docs") == [
        {"a.0.b": 1, "a.1.b": 2}
    ]
    assert listed({"docs.0": {"a": 1}, "docs.99999999999.a": 1}, "docs") == []
