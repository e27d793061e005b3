"""Perturbations of queries: pure, seeded, and what they say they are."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.errors import UsageError
from ragnostic.monitor.perturbations import MASK, PERTURBATIONS, parse_perturbations, perturb


@given(st.text(), st.integers(0, 10), st.sampled_from(sorted(PERTURBATIONS)))
def test_a_perturbation_is_pure(query, seed, kind):
    """The same query and seed give the same text, never the query itself but for ``seed``."""
    found = perturb(kind, query, seed)
    assert found == perturb(kind, query, seed)
    assert (found == query) is (kind == "seed")


@given(st.lists(st.sampled_from(["年", "leave", "VPN", "假", "x1"]), min_size=2, max_size=60))
def test_a_tenth_of_the_tokens_is_masked(tokens):
    """At least one, and the others stay."""
    query = " ".join(tokens)
    masks = max(1, round(0.1 * len(tokens)))
    found = perturb("mask", query, 7)
    assert found.split().count(MASK) == masks
    assert len(found.split()) == len(tokens)


def test_the_seed_decides_what_is_masked():
    """Some other seed masks another token."""
    assert len({perturb("mask", "one two three four five", seed) for seed in range(9)}) > 1


def test_a_single_token_is_not_masked_away():
    """Nothing would be left to ask."""
    assert perturb("mask", "VPN", 0) is None
    assert perturb("mask", "？？", 0) is None


@pytest.mark.parametrize(
    ("query", "expected"),
    [("怎么请假？", "怎么请假"), ("怎么请假", "怎么请假？"), ("why. ", "why"), ("why", "why?")],
)
def test_punctuation_is_removed_or_added(query, expected):
    """In the query's own language."""
    assert perturb("punctuation", query, 0) == expected


def test_marks_alone_are_left():
    """A query of nothing but marks would be empty without them."""
    assert perturb("punctuation", "？？", 0) is None


@given(st.text(min_size=1))
def test_case_and_width_are_folded(query):
    """What comes out is in its normal form."""
    found = perturb("case", query, 0)
    if found is not None:
        assert unicodedata.is_normalized("NFKC", found)


def test_names_are_checked():
    """With the nearest; none at all is refused."""
    assert parse_perturbations("seed,case") == ["seed", "case"]
    with pytest.raises(UsageError, match="did you mean mask"):
        parse_perturbations("seed,masks")
    with pytest.raises(UsageError, match="no perturbation is named"):
        parse_perturbations(",")
