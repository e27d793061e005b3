"""Rules for queries that are not worth asking."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.gateway.query_filter import first_reason, rules, strip_punctuation
from ragnostic.gateway.settings import FilterSettings

ALL = FilterSettings(
    min_chars=2, max_chars=10, no_letters=True, repeated=3, patterns=("(?i)test", "^x+y")
)


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("年假", None),
        ("  年  ", "too_short"),
        ("", "too_short"),
        ("十一个字的问题是太长了吧", "too_long"),
        ("123-456", "no_letters"),
        ("？？！", "no_letters"),
        ("１２３", "no_letters"),
        ("🙂🙂", None),
        ("aAa", "repeated"),
        ("aa", None),
        ("a TEST", "pattern_0"),
        ("xxy", "pattern_1"),
        ("นักเรียน", None),
    ],
)
def test_the_first_rule_that_names_a_query_gives_the_reason(query, reason):
    """Spaces around it do not count; letters are those of every script."""
    assert first_reason(query, rules(ALL)) == reason


def test_no_rule_is_on_by_itself():
    """Whatever is asked goes on."""
    assert rules(FilterSettings(on=True)) == []


def test_patterns_see_the_beginning_only():
    """So that nobody can make them slow with a long query."""
    tried = rules(FilterSettings(patterns=("z",)))
    assert first_reason("a" * 3000 + "z", tried) is None


@given(st.text())
def test_stripping_takes_from_the_end_and_never_everything(query):
    """A query of punctuation only stays; done twice it is the same."""
    short = strip_punctuation(query)
    assert query.startswith(short)
    assert short or not query
    assert strip_punctuation(short) == short
