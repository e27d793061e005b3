"""Why a search may not see a passage."""

from __future__ import annotations

import pytest

from ragnostic.diagnose.hints import hints, overlap


@pytest.mark.parametrize(
    ("query", "passage", "told"),
    [
        ("vpn token", "the vpn needs a token", ()),
        ("error E5021", "the device is too hot", ("abbreviation_number_symbol", "no_shared_word")),
        ("error e5021", "error E5021 means hot", ()),
        ("年假有几天", "Annual leave: 20 days", ("language", "no_shared_word")),
        ("leave", "leave " * 600, ("long_passage",)),
        ("leave " * 200, "leave", ("long_query",)),
        ("leave", "vacation", ("no_shared_word",)),
    ],
)
def test_each_hint_by_what_speaks_for_it(query, passage, told):
    """And by nothing else."""
    assert hints(query, passage) == told


def test_a_query_without_words_shares_none():
    """None, not 0."""
    assert overlap("???", "text") is None
    assert "no_shared_word" not in hints("???", "text")
