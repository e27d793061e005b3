"""Readings: from spans of both conventions, kept as JSON, masked, the fuller of two."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.gateway.span_reader import read_span
from ragnostic.gateway.span_reading import (
    ROLES,
    Reading,
    SpanHit,
    from_payload,
    fuller,
    masked,
    to_payload,
)
from ragnostic.gateway.span_values import Cut
from ragnostic.gateway.spans import make_span

IDS = ("ab" * 16, "cd" * 8)
TEXTS = st.none() | st.text(max_size=8)
HITS = st.none() | st.lists(
    st.builds(SpanHit, TEXTS, TEXTS, TEXTS, st.none() | st.floats(0, 1), st.booleans()), max_size=3
).map(tuple)
READINGS = st.builds(
    Reading,
    st.just("t"),
    st.just("s"),
    TEXTS,
    end_ns=st.integers(0, 9),
    role=st.sampled_from(ROLES),
    query=TEXTS,
    documents=HITS,
    candidates=HITS,
    labels=st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2),
    cuts=st.dictionaries(st.text(max_size=3), st.builds(Cut, st.integers(), st.text()), max_size=1),
)


@given(READINGS)
def test_a_reading_comes_back_as_it_was_kept(reading):
    """Whatever is in it."""
    assert from_payload(to_payload(reading)) == reading


@given(READINGS, READINGS, READINGS)
def test_the_fuller_of_versions_does_not_depend_on_their_order(one, two, three):
    """It is the one that says most, always the same."""
    assert fuller(one, two) == fuller(two, one)
    assert fuller(fuller(one, two), three) == fuller(one, fuller(two, three))
    assert fuller(one, two).detail == max(one.detail, two.detail)


def test_masking_touches_texts_and_nothing_else():
    """Ids, hashes, names of labels and numbers stay."""
    hit = SpanHit("13800138000", "13800138000", "call 13800138000", 0.5)
    reading = Reading(
        "t",
        "s",
        query="13800138000",
        documents=(hit,),
        session_id="13800138000",
        labels={"13800138000": "13800138000"},
    )
    found = masked(reading, lambda text: text.replace("13800138000", "‹phone›"))
    assert found.query == "‹phone›"
    assert found.documents == (SpanHit("13800138000", "13800138000", "call ‹phone›", 0.5),)
    assert found.candidates is None
    assert (found.session_id, found.labels) == ("13800138000", {"13800138000": "‹phone›"})


def test_both_conventions_in_one_span():
    """OpenInference is believed, the other fills its gaps."""
    attributes = {
        "openinference.span.kind": "RETRIEVER",
        "input.value": "how long?",
        "gen_ai.operation.name": "retrieval",
        "gen_ai.retrieval.query.text": "other words",
        "gen_ai.retrieval.documents": [{"id": "d1"}],
        "gen_ai.retrieval.top_k": 7,
        "gen_ai.data_source.id": "kb",
    }
    reading = read_span(make_span(*IDS, attributes=attributes.items()))
    assert (reading.query, reading.top_k) == ("how long?", 7)
    assert [hit.id for hit in reading.documents] == ["d1"]
    assert reading.labels == {"data_source": "kb"}


def test_a_tool_of_one_convention_may_be_a_retrieval_of_the_other():
    """The role that means something wins."""
    attributes = {"openinference.span.kind": "TOOL", "gen_ai.operation.name": "retrieval"}
    assert read_span(make_span(*IDS, attributes=attributes.items())).role == "retriever"


def test_any_span_may_know_who_asked_and_what_served():
    """A span that only takes the request is often the one that does."""
    attributes = {"session.id": "s", "enduser.id": "u"}
    span = make_span(*IDS, attributes=attributes.items(), resource={"service.name": "shop"})
    reading = read_span(span)
    assert (reading.role, reading.session_id, reading.user_id) == ("other", "s", "u")
    assert reading.service == "shop"
    unnamed = make_span(*IDS, resource={"service.name": "unknown_service:python"})
    assert read_span(unnamed).service is None


@pytest.mark.parametrize(
    ("message", "events", "told"),
    [
        ("time-out", [], "time-out"),
        ("", [("exception", 1, [("exception.message", "refused")])], "refused"),
        ("", [("other", 1, [])], "the span ended in an error"),
    ],
)
def test_why_a_span_failed(message, events, told):
    """By its status, by the exception, or at least that it did."""
    assert read_span(make_span(*IDS, status=2, message=message, events=events)).error == told
    assert read_span(make_span(*IDS, status=1, message=message, events=events)).error is None
