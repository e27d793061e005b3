"""JSON as its standard says."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.corpus.strict_json import RowError, parse_object, read_id

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["a", "b", "年"]), VALUES))
def test_good_json_comes_back_unchanged(value):
    """What the standard library writes is read the same."""
    assert parse_object(json.dumps(value)) == value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": NaN}', "NaN is no JSON number"),
        ('{"a": [-Infinity]}', "-Infinity is no JSON number"),
        ('{"a": 1e999}', "too large"),
        ('{"a": 1, "a": 2}', "'a' is given twice"),
        ('{"b": {"a": 1, "a": 1}}', "'a' is given twice"),
        ('{"a": "\\ud800"}', "half a character"),
        ('{"a": 1,}', "not valid JSON"),
        ('{"a": ' + "9" * 5000 + "}", "not valid JSON"),
        ('{"a": ' + "[" * 10_000 + "]" * 10_000 + "}", "nested too deeply"),
        ("[1]", "an array"),
        ("null", "not null"),
        ('"text"', "a string"),
        ("", "not valid JSON"),
    ],
)
def test_what_is_refused(text, words):
    """Each with one line for a person."""
    with pytest.raises(RowError, match=words) as caught:
        parse_object(text)
    assert "\n" not in str(caught.value)


def test_a_whole_character_written_as_two_escapes_is_kept():
    """A surrogate pair is one character."""
    assert parse_object('{"a": "\\ud83d\\ude00"}') == {"a": "😀"}


@pytest.mark.parametrize("value", [None, True, 1.5, [], {}, ""])
def test_an_id_is_text_or_a_whole_number(value):
    """Anything else is refused."""
    with pytest.raises(RowError):
        read_id(value, "id", [])
