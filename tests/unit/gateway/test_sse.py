"""Streams as one object."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.gateway.sse import StreamEvent, merge, read_events, read_json_lines

EVENTS = "text/event-stream"
LINES = st.text(st.characters(exclude_characters="\r\n", codec="utf-8"))


def text_of(data):
    """The piece of the answer."""
    return data.get("t") if isinstance(data, dict) else None


@given(st.lists(st.tuples(LINES, st.sampled_from(["\n", "\r\n", "\r"])), min_size=1))
def test_data_comes_out_as_it_went_in(pairs):
    """Whatever ends the lines; an event per empty line."""
    body = "".join(f"data: {line}{end}{end}" for line, end in pairs).encode()
    assert [event.data for event in read_events(body)] == [line for line, _ in pairs]


def test_all_that_the_standard_allows():
    """A mark of order, comments, ids, names, no space behind the colon, fields without a value."""
    body = b"\xef\xbb\xbf: hi\nid: 7\nevent:x\ndata:a\ndata\ndata: b\nretry: 5\n\nevent: lost\n\n"
    assert list(read_events(body)) == [StreamEvent("x", "a\n\nb", 52)]


def test_an_event_that_was_cut_is_none():
    """Only a whole event counts, and the whole is not complete then."""
    body = b'data: {"t": "a"}\n\ndata: {"t": "b"}\n'
    merged = merge(body, EVENTS, text_of, "", truncated=False)
    assert (merged.answer, merged.complete) == ("a", False)


@pytest.mark.parametrize(
    ("body", "done", "truncated", "complete"),
    [
        (b'data: {"t": "a"}\n\n', "", False, True),
        (b'data: {"t": "a"}\n\n', "", True, False),
        (b'data: {"t": "a"}\n\n', "[DONE]", False, False),
        (b'data: {"t": "a"}\n\ndata: [DONE]\n\n', "[DONE]", False, True),
        (b'data: {"t": "a"}\n\n: still here\n\n', "", False, True),
        (b'data: {"t": "a"}\n\n: still he', "", False, False),
        (b"", "", False, True),
    ],
)
def test_when_a_stream_is_complete(body, done, truncated, complete):
    """The mark of its end is there where the service sends one, and nothing was cut."""
    assert merge(body, EVENTS, text_of, done, truncated=truncated).complete is complete


def test_without_any_text_there_is_no_answer():
    """None, which is not an empty one; data that is no JSON stays text."""
    merged = merge(b"event: a\ndata: x\n\n", EVENTS, text_of, "", truncated=False)
    assert merged.answer is None
    assert merged.first_text_end is None
    assert merged.events == [{"event": "a", "data": "x"}]


def test_lines_of_json():
    """Empty ones do not count."""
    body = b'{"t": "a"}\r\n\r\n{"t": "b"}\n{"t'
    assert [event.data for event in read_json_lines(body)] == ['{"t": "a"}', '{"t": "b"}']
    merged = merge(body, "application/x-ndjson", text_of, "", truncated=False)
    assert (merged.answer, merged.complete) == ("ab", False)


@given(st.text(min_size=1, max_size=30), st.integers(1, 5))
def test_text_is_whole_wherever_packets_cut_it(text, size):
    """Bytes are decoded from all of the body."""
    body = b"".join(
        b"data: " + json.dumps({"t": text[at : at + size]}).encode() + b"\n\n"
        for at in range(0, len(text), size)
    )
    assert merge(body, EVENTS, text_of, "", truncated=False).answer == text
