"""Templates survive any query."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.adapters.template import fill, parse


@given(st.text(), st.integers(1, 1000))
def test_the_query_arrives_unchanged_whatever_it_holds(query, top_k):
    """Quotes, braces and places in a query are only text, also through a text template."""
    template = parse('{"q": "{query}", "k": {top_k}, "n": [{top_k},"{top_k}"], "x": null}')
    filled = fill(template, query, top_k)
    assert json.loads(json.dumps(filled)) == {
        "q": query,
        "k": top_k,
        "n": [top_k, top_k],
        "x": None,
    }


def test_a_query_without_quotes_in_the_template_is_refused_with_an_example():
    """It could never be valid JSON."""
    with pytest.raises(ValueError, match="write it as a table"):
        parse('{"q": {query}}')
