"""Spans by OpenTelemetry's conventions for generative AI."""

from __future__ import annotations

import json

import pytest

from ragnostic.gateway.gen_ai import gen_ai_fields
from ragnostic.gateway.span_reader import read_span
from ragnostic.gateway.spans import SpanEvent, make_span

RETRIEVAL = {"gen_ai.operation.name": "retrieval"}
CHAT = {"gen_ai.operation.name": "chat"}


@pytest.mark.parametrize(
    ("attributes", "role"),
    [
        ({"gen_ai.operation.name": "retrieval"}, "retriever"),
        ({"gen_ai.span.kind": "RETRIEVER"}, "retriever"),
        ({"gen_ai.span.kind": "RERANKER"}, "reranker"),
        ({"gen_ai.operation.name": "rerank_documents"}, "reranker"),
        ({"gen_ai.operation.name": "text_completion"}, "llm"),
        ({"gen_ai.operation.name": "embeddings"}, "embedding"),
        ({"gen_ai.operation.name": "invoke_agent"}, "agent"),
        ({"gen_ai.operation.name": "execute_tool"}, "other"),
    ],
)
def test_operations_are_roles(attributes, role):
    """Those of the conventions, and the kinds that are built on them."""
    assert gen_ai_fields(attributes)["role"] == role


def test_other_spans_are_none_of_this_kind():
    """Nothing is read into them."""
    assert gen_ai_fields({"gen_ai.request.model": "m"}) == {}


def test_a_retrieval_as_objects_as_text_and_in_an_event():
    """The three ways in which documents may come."""
    documents = [
        {"id": "d1", "score": 0.9, "content": "one"},
        {"id": "d2"},
        {},
        {"text": "three", "metadata": {"chunk_id": "d4"}},
        {"page_content": "four", "source": "a.md"},
        "five",
    ]
    plain = {
        **RETRIEVAL,
        "gen_ai.retrieval.query.text": "how long?",
        "gen_ai.retrieval.top_k": 10,
        "gen_ai.data_source.id": "kb",
    }
    name = "gen_ai.retrieval.documents"
    spans = [
        make_span("ab" * 16, "cd" * 8, attributes={**plain, name: documents}.items()),
        make_span("ab" * 16, "cd" * 8, attributes={**plain, name: json.dumps(documents)}.items()),
        make_span(
            "ab" * 16,
            "cd" * 8,
            attributes=plain.items(),
            events=[("gen_ai.retrieval.details", 5, [(name, documents), ("other", 1)])],
        ),
    ]
    first, *others = map(read_span, spans)
    assert all(other == first for other in others)
    assert [hit.id for hit in first.documents[:4]] == ["d1", "d2", None, "d4"]
    assert first.documents[4].doc_id == "a.md"
    assert first.documents[5].text == "five"
    assert (first.query, first.top_k, first.labels) == ("how long?", 10, {"data_source": "kb"})


def test_documents_are_opt_in():
    """Not told is not none found."""
    assert "documents" not in gen_ai_fields(RETRIEVAL)
    assert gen_ai_fields({**RETRIEVAL, "gen_ai.retrieval.documents": []})["documents"] == ()


def test_older_names_of_the_depth():
    """It was the sampling parameter's name, and a floating number."""
    assert gen_ai_fields({**RETRIEVAL, "gen_ai.request.top_k": 5.0})["top_k"] == 5
    assert "top_k" not in gen_ai_fields({**RETRIEVAL, "gen_ai.request.top_k": 0})


def test_a_reranker():
    """Its documents before and after."""
    found = gen_ai_fields(
        {
            "gen_ai.operation.name": "rerank",
            "gen_ai.rerank.input_documents": [{"id": "a"}, {"id": "b"}],
            "gen_ai.rerank.output_documents": [{"id": "b", "score": 1}],
            "gen_ai.rerank.top_n": 1,
            "gen_ai.request.model": "r-1",
        }
    )
    assert [hit.id for hit in found["candidates"]] == ["a", "b"]
    assert (found["documents"][0].id, found["top_k"], found["model"]) == ("b", 1, "r-1")


def test_messages_of_a_model():
    """Texts and tool results; thinking and calls are no words of an answer."""
    asked = [
        {"role": "system", "parts": [{"type": "text", "content": "Be brief."}]},
        {"role": "user", "parts": [{"type": "text", "content": "How long?"}]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "content": "docs"}]},
    ]
    said = [
        {"role": "assistant", "parts": [{"type": "reasoning", "content": "hm"}, "Five."]},
        {"role": "assistant", "content": "days"},
        {"role": "assistant", "parts": [{"type": "tool_call", "name": "f"}]},
        "odd",
    ]
    found = gen_ai_fields(
        {
            **CHAT,
            "gen_ai.input.messages": asked,
            "gen_ai.output.messages": said,
            "gen_ai.request.model": "m",
            "gen_ai.response.model": "m-2",
        }
    )
    assert found["prompt"] == "Be brief.\nHow long?\ndocs"
    assert (found["answer"], found["model"]) == ("Five.\ndays", "m-2")


def test_an_agent_has_the_question_of_the_last_user_message():
    """And no prompt."""
    asked = [{"role": "user", "parts": [{"type": "text", "content": text}]} for text in "ab"]
    found = gen_ai_fields({"gen_ai.operation.name": "invoke_agent", "gen_ai.input.messages": asked})
    assert found["query"] == "b"
    assert "prompt" not in found


def test_older_forms_of_prompt_and_answer():
    """As text, flattened, or in the attributes of events."""
    flat = {"gen_ai.prompt.0.content": "q", "gen_ai.completion.0.content": "a"}
    found = gen_ai_fields({**CHAT, **flat})
    assert (found["prompt"], found["answer"]) == ("q", "a")
    events = [SpanEvent("gen_ai.content.completion", 0, {"gen_ai.completion": "a"})]
    assert gen_ai_fields(CHAT, events)["answer"] == "a"
    assert gen_ai_fields({**CHAT, "gen_ai.output.messages": "a"})["answer"] == "a"
    assert "answer" not in gen_ai_fields({**CHAT, "gen_ai.output.messages": []})


def test_who_asked():
    """Session and user by any of their names."""
    found = gen_ai_fields({**CHAT, "gen_ai.conversation.id": "c", "enduser.id": 7})
    assert (found["session_id"], found["user_id"]) == ("c", "7")
