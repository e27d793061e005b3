"""Ids from header fields."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.gateway.trace_context import parse_traceparent, request_ids

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


@pytest.mark.parametrize(
    "value",
    [
        f"00-{TRACE}-{SPAN}-00",
        f" 00-{TRACE}-{SPAN}-ff ",
        f"cc-{TRACE}-{SPAN}-01",
        f"cc-{TRACE}-{SPAN}-01-what-comes-later",
    ],
)
def test_a_traceparent(value):
    """Of this version, and of later ones with more behind."""
    assert parse_traceparent(value) == (TRACE, SPAN)


@pytest.mark.parametrize(
    "value",
    [
        "",
        f"00-{TRACE}-{SPAN}",
        f"00-{TRACE}-{SPAN}-01-more",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE[1:]}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-0g",
        f"cc-{TRACE}-{SPAN}-01.more",
    ],
)
def test_what_is_no_traceparent(value):
    """W3C says so."""
    assert parse_traceparent(value) is None


@given(st.text(max_size=80))
def test_no_text_breaks_it(value):
    """It comes from outside."""
    found = parse_traceparent(value)
    assert found is None or len(found.trace_id) == 32


def test_the_first_header_that_holds_an_id_counts():
    """A traceparent that is none gives way to the next; a value of spaces is no id."""
    sources = {"trace_id": ["traceparent", "X-Request-Id"], "user_id": ["x-user"]}
    headers = {"traceparent": "00-broken", "x-request-id": " r1 ", "x-user": "  "}
    assert request_ids(headers, sources) == {"trace_id": "r1"}
    headers["traceparent"] = f"00-{TRACE}-{SPAN}-01"
    assert request_ids(headers, sources) == {"trace_id": TRACE, "span_id": SPAN}
    assert request_ids({"x-user": "年"}, sources) == {}
