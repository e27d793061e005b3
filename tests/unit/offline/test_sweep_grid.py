"""``--grid`` texts: split, refused, named."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.errors import ConfigError
from ragnostic.offline.sweep_grid import named, parse_axes, split_values

_PLAIN = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=8)


@given(st.lists(_PLAIN, min_size=1, max_size=5))
def test_quoted_values_come_back_whatever_is_in_them(texts):
    """Commas, brackets and quotes inside a string divide nothing."""
    written = [json.dumps(text, ensure_ascii=False) for text in texts]
    assert split_values(" , ".join(written)) == written


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("", [""]),
        ("1", ["1"]),
        ('"query: ",""', ['"query: "', '""']),
        ("'a,b',c", ["'a,b'", "c"]),
        ("[1,[2,3]],{a=1,b=2}", ["[1,[2,3]]", "{a=1,b=2}"]),
        (r'"a\",b",c', [r'"a\",b"', "c"]),
        ("nDCG(gain=exp,rel=2)@5,RR@5", ["nDCG(gain=exp,rel=2)@5", "RR@5"]),
        ("bob's,it", ["bob's", "it"]),
        ('["a)",b],c', ['["a)",b]', "c"]),
    ],
)
def test_values_are_split_at_plain_commas(text, values):
    """Outside quotes, parentheses, brackets and braces."""
    assert split_values(text) == values


@pytest.mark.parametrize("text", ['"a,b', "'a", "[1,2", "f(x", '["a]'])
def test_an_open_quote_or_bracket_is_refused(text):
    """Rather than guessed."""
    with pytest.raises(ValueError, match=r"is not closed|is missing"):
        split_values(text)


@pytest.mark.parametrize(
    ("grids", "sets", "message"),
    [
        (["retrieve.top_k"], [], "expected a.b=v1,v2"),
        (["retrieve..x=1"], [], "is no key"),
        (['embed.query_prefix="a'], [], "is not closed"),
        (["retrieve.top_k=1,,2"], [], 'write "" for an empty text'),
        (["retrieve.top_k=5,5"], [], "has the value 5 twice"),
        (["retrieve.top_k=1", "retrieve.top_k=2"], [], "is given twice"),
        (["retrieve.top_k=1"], ["retrieve.top_k=3"], "is also given by --set"),
        (["retrieve.http.headers.authorization=Bearer x"], [], "holds a secret"),
        (["run.name=a,b"], [], "changes no number"),
        (["dataset.split=test,dev"], [], "answer the same queries"),
    ],
)
def test_a_grid_that_makes_no_sense_is_told(grids, sets, message):
    """With the --grid it is about."""
    with pytest.raises(ConfigError, match="--grid") as caught:
        parse_axes(grids, sets)
    assert message in str(caught.value)


def test_all_faults_are_told_at_once():
    """Of several grids."""
    with pytest.raises(ConfigError) as caught:
        parse_axes(["a=1,1", "b", "run.out=x"])
    assert len(caught.value.faults) == 3


def test_true_and_one_are_two_values():
    """As they are in TOML."""
    assert parse_axes(["embed.cache=true,1"])[0].written == ("true", "1")


def test_a_corpus_may_be_varied_and_an_unknown_table_is_left_to_the_configuration():
    """The one exception in its table."""
    assert [axis.key for axis in parse_axes(["dataset.corpus=a,b", "retreive.top_k=1"])] == [
        "dataset.corpus",
        "retreive.top_k",
    ]


def test_names_show_values_as_toml_where_they_need_it():
    """Plain words are bare; texts with spaces, empty ones and lists are quoted."""
    axes = parse_axes(['a.b="x y",plain,""', "c=[1,2],true"])
    points = [('"x y"', "[1,2]"), ("plain", "true"), ('""', "true")]
    assert [named(axes, values)[0] for values in points] == [
        'a.b="x y", c=[1, 2]',
        "a.b=plain, c=true",
        'a.b="", c=true',
    ]
