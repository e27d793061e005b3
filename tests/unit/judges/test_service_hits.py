"""Quotes in the texts of a service."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragnostic.judges.service_hits import holds


@given(st.text("ab", min_size=1, max_size=12), st.text("ab", max_size=12), st.floats(0.01, 1))
def test_a_text_holds_what_it_contains_or_cuts_off(quote, text, overlap):
    """Against every piece of the quote, tried one by one."""
    needed = overlap * len(quote) - 1e-9
    whole = quote in text
    inside = bool(text) and text in quote and len(text) >= needed
    cut = any(
        size >= needed and (text.endswith(quote[:size]) or text.startswith(quote[-size:]))
        for size in range(1, len(quote))
    )
    assert holds(text, quote, overlap) == (whole or inside or cut)


def test_an_empty_quote_is_held_by_nothing():
    """Nothing was asked for."""
    assert not holds("text", "", 0.5)
    assert not holds("", "quote", 0.5)
