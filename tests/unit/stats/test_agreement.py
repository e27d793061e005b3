"""Agreement of graders."""

from __future__ import annotations

import pytest

from ragnostic.stats.agreement import Agreement, agreement


def test_krippendorffs_own_example():
    """Interval data of his 2011 paper, four observers with gaps: alpha 0.849."""
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    items = [[float(g) for g in item if g is not None] for item in zip(*observers, strict=True)]
    found = agreement(items)
    assert found.items == 11
    assert found.alpha == pytest.approx(0.849, abs=5e-4)


def test_one_grader_says_nothing_about_agreement():
    """And neither does no grade."""
    nothing = Agreement(0, 0, None, None, None)
    assert agreement([[3.0], [1.0]]) == nothing
    assert agreement([]) == nothing


def test_graders_who_always_say_the_same_have_no_alpha():
    """Chance alone would give that too; the raw shares stand."""
    found = agreement([[2.0, 2.0], [2.0, 2.0, 2.0]])
    assert (found.pairs, found.equal, found.near, found.alpha) == (4, 1.0, 1.0, None)


def test_opposite_graders_are_below_chance():
    """A negative alpha is shown as it is."""
    found = agreement([[0.0, 3.0], [3.0, 0.0]])
    assert found.equal == 0.0
    assert found.near == 0.0
    assert found.alpha is not None
    assert found.alpha < 0
