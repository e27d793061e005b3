"""One string changed, nothing else."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.gateway.json_edit import find_string, replace_string

SCALARS = st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=8)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=12,
)

TEXTS = st.tuples(st.text(max_size=10), st.text(max_size=10))


@given(st.lists(VALUES, min_size=2, max_size=2), TEXTS, st.booleans(), st.integers(0, 3))
def test_only_the_string_changes(around, texts, ascii_only, indent):
    """The rest of the text is the same, character by character."""
    (before, behind), (old, new) = around, texts
    tree = {"a": before, "list": [before, {"q": old}, behind], "z": behind}
    body = json.dumps(tree, ensure_ascii=ascii_only, indent=indent or None)
    place = find_string(body, "list.1.q")
    assert place is not None
    assert place.value == old
    changed = replace_string(body.encode(), "list.1.q", new)
    assert changed is not None
    text = changed.decode()
    assert text.startswith(body[: place.start])
    assert text.endswith(body[place.end :])
    assert json.loads(text) == {**tree, "list": [before, {"q": new}, behind]}


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("", "q"),
        ("[", "0"),
        ('{"q": 1}', "q"),
        ('{"q": "a"} x', "q"),
        ('{"q": "a"}', "p"),
        ('{"q": "a"}', "q.0"),
        ('["a"]', "1"),
        ('["a"]', "x"),
        ("[" * 5000 + "]" * 5000, "0"),
        ("7", "q"),
    ],
)
def test_where_there_is_no_string_there_is_none(text, path):
    """Nothing is changed then."""
    assert find_string(text, path) is None
    assert replace_string(text.encode(), path, "b") is None


def test_bytes_that_are_no_text_stay():
    """And of keys given twice the last counts."""
    assert replace_string(b'{"q": "\xff"}', "q", "b") is None
    assert replace_string(b'{"q": "a", "q": "b"}', "q", "c") == b'{"q": "a", "q": "c"}'


def test_places_are_counted_from_the_end_too():
    """The last message of a chat."""
    assert replace_string(b'[ "a" , "b" ]', "-1", "c") == b'[ "a" , "c" ]'
