"""Walking through nested values."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragnostic.gateway.texts import cut, is_deeper, rewrite

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(json_values)
def test_nothing_changes_where_the_visit_changes_nothing(value):
    """Types and order included."""
    assert rewrite(value, lambda _, text: text) == value


def test_a_value_that_holds_itself_is_too_deep():
    """Python callers can hand in such a thing."""
    value: list = []
    value += [value] * 3
    assert is_deeper(value)


def test_depth_counts_what_is_inside():
    """An empty list is no level, a leaf in a list is."""
    assert not is_deeper({"a": []}, 1)
    assert is_deeper({"a": [1]}, 1)
    assert not is_deeper("text", 0)


@given(st.text(), st.integers(0, 40))
def test_a_cut_text_is_a_beginning_that_fits(text, limit):
    """And no character is broken."""
    short = cut(text, limit)
    assert text.startswith(short)
    assert len(short.encode()) <= limit
