"""Questions and answers inside the inputs and outputs of steps."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.gateway.json_words import answer_in, depth_in, query_in


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("how long?", "how long?"),
        ("  ", None),
        ("", None),
        (None, None),
        ({"question": "a", "query": "b"}, "b"),
        ({"inner": {"query": "deep"}, "question": "outer"}, "outer"),
        ({"query": "", "question": "a"}, "a"),
        ({"query": {"text": "a"}}, None),
        ({"messages": [{"role": "user", "content": "old"}, {"role": "user", "content": "a"}]}, "a"),
        ({"messages": [{"role": "human", "content": ["a"]}, {"role": "ai", "content": "b"}]}, "a"),
        ({"messages": [{"role": "system", "content": "be kind"}, "x"]}, None),
        ({"messages": "text"}, None),
        (["how long?"], None),
        ("[how long?", "[how long?"),
    ],
)
def test_the_question_in_an_input(value, found):
    """The text itself, or the outermost member of a telling name, or the last user message."""
    written = value if value is None or isinstance(value, str) else json.dumps(value)
    assert query_in(written) == found


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("Five.", "Five."),
        ("", None),
        ({"answer": "Five."}, "Five."),
        ({"llm": {"replies": ["Five.", "Six."]}}, "Five."),
        ({"llm": {"replies": []}}, None),
        ({"documents": [{"content": "a"}]}, None),
        ({"output": {"text": "Five."}}, "Five."),
    ],
)
def test_the_answer_in_an_output(value, found):
    """In the same way."""
    assert answer_in(value if isinstance(value, str) else json.dumps(value)) == found


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"top_k": 20}, 20),
        ({"args": {"k": 3}}, 3),
        ({"top_k": True}, None),
        ({"top_k": "20"}, None),
        ({"top_k": -1, "limit": 5}, 5),
        ("20", None),
        (None, None),
    ],
)
def test_how_many_results_an_input_asks_for(value, found):
    """A positive whole number only."""
    written = value if value is None or isinstance(value, str) else json.dumps(value)
    assert depth_in(written) == found


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["query", "messages", "content", "a"]), inner)
    ),
)


@given(JSON | st.text())
def test_any_input_gives_words_or_nothing(value):
    """Nothing is ever raised."""
    written = value if isinstance(value, str) else json.dumps(value)
    for found in (query_in(written), answer_in(written)):
        assert found is None or found.strip()
