"""Ids that are probably meant to be equal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.evalset.near_matches import near_matches


@pytest.mark.parametrize(
    ("gold", "known"),
    [
        ("a ", "a"),
        ("a", "\ta\r\n"),
        ("é", "e\u0301"),
        ("Ａ１", "A1"),
        ("年假", "年假\u3000"),
        ("\ufeffid", "id"),
        ("ﬁle\u200b", "file"),
    ],
)
def test_ids_equal_after_trimming_or_composing_are_listed(gold, known):
    """In both directions."""
    assert near_matches([gold], [known, "other"]) == [(gold, known)]
    assert near_matches([known], {gold, "other"}) == [(known, gold)]


def test_exact_ids_and_other_differences_are_not_listed():
    """Case, leading zeros and an id that is known exactly."""
    assert near_matches(["a", "7", "B"], ["a", "a ", "007", "b"]) == []
    assert near_matches([], ["a"]) == []


@given(st.sets(st.text(max_size=5)), st.sets(st.text(max_size=5)))
def test_pairs_differ_and_fold_to_the_same(gold, known):
    """For any ids."""
    for left, right in near_matches(gold, known):
        assert left != right
        assert left in gold - known
        assert right in known
        folded = [unicodedata.normalize("NFKC", x).strip().strip() for x in (left, right)]
        assert folded[0].replace("\u200b", "") == folded[1].replace("\u200b", "")
