"""Contributions add up to the change, and go to the part that changed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.stats.contribution import Part, contributions

SIDES = st.dictionaries(
    st.sampled_from("abcde"),
    st.builds(Part, st.integers(0, 1000), st.floats(0.0, 1.0)),
    max_size=5,
)


def mean(parts):
    """The weighted mean; None without weight."""
    whole = sum(part.weight for part in parts.values())
    return sum(part.weight * part.value for part in parts.values()) / whole if whole else None


@given(SIDES, SIDES)
def test_contributions_add_up_to_the_change(before, after):
    """Whatever comes, goes or changes its share; nothing is said where a side is empty."""
    found = contributions(before, after)
    one, two = mean(before), mean(after)
    if one is None or two is None:
        assert found == {}
        return
    assert sum(part.total for part in found.values()) == pytest.approx(two - one, abs=1e-9)


def test_a_part_that_got_worse_has_all_of_it():
    """The others have nothing, though the whole got worse."""
    before = {"a": Part(100, 0.8), "b": Part(300, 0.6)}
    after = {"a": Part(100, 0.4), "b": Part(300, 0.6)}
    found = contributions(before, after)
    assert found["a"].level == pytest.approx(-0.1)
    assert found["a"].mix == found["b"].total == pytest.approx(0.0)


def test_more_of_what_is_bad_is_mix():
    """No part got worse, and the whole did."""
    before = {"a": Part(300, 0.8), "b": Part(100, 0.4)}
    after = {"a": Part(100, 0.8), "b": Part(300, 0.4)}
    found = contributions(before, after)
    assert {part.level for part in found.values()} == {0.0}
    assert found["a"].mix + found["b"].mix == pytest.approx(-0.2)


def test_a_part_that_is_new_is_mix():
    """It has no level before."""
    found = contributions({"a": Part(1, 0.8)}, {"a": Part(1, 0.8), "b": Part(1, 0.4)})
    assert found["b"].level == 0.0
    assert found["b"].total + found["a"].total == pytest.approx(-0.2)
