"""Points of grids that are too large to be listed."""

from __future__ import annotations

import pytest

from ragnostic.errors import UsageError
from ragnostic.offline.sweep_grid import parse_axes
from ragnostic.offline.sweep_pick import picked

HUGE = parse_axes(
    [
        f"retrieve.top_k={','.join(map(str, range(1, 2003)))}",
        f"rerank.top_n={','.join(map(str, range(1, 1001)))}",
    ]
)


def test_a_small_grid_is_listed_as_a_whole():
    """In its order, the last axis quickest; a budget changes nothing."""
    axes = parse_axes(["a.b=1,2", "c.d=x,y"])
    everything = [("1", "x"), ("1", "y"), ("2", "x"), ("2", "y")]
    assert list(picked(axes, None, 0, {})) == everything
    assert list(picked(axes, 2, 0, {})) == everything


def test_a_grid_of_many_thousands_is_refused_as_a_whole():
    """They would all be loaded before anything runs; what is run has the same limit."""
    with pytest.raises(UsageError, match="2002000 combinations; at most 5000") as caught:
        list(picked(HUGE, None, 0, {}))
    assert "--search random" in caught.value.hint
    with pytest.raises(UsageError, match="--budget 6000 is too large"):
        list(picked(HUGE, 6000, 0, {}))


def test_points_of_a_huge_grid_are_drawn():
    """Distinct, repeatable, others with another seed."""
    drawn = list(picked(HUGE, 50, 1, {}))
    assert drawn == list(picked(HUGE, 50, 1, {}))
    assert drawn != list(picked(HUGE, 50, 2, {}))
    assert len(set(drawn)) == len(drawn) == 50
    assert all(int(top_k) <= 2002 and int(top_n) <= 1000 for top_k, top_n in drawn)


def test_the_settings_as_written_come_first_where_they_are_on_the_grid():
    """And where they are not nothing stands for them."""
    written = {"retrieve": {"top_k": 20}, "rerank": {"top_n": 5}}
    drawn = list(picked(HUGE, 3, 1, written))
    assert drawn[0] == ("20", "5")
    assert len(drawn) == 3
    free = list(picked(HUGE, 3, 1, {}))
    assert drawn[1:] == free[:2]
    for elsewhere in ({"retrieve": {"top_k": 20}, "rerank": {"top_n": 1001}}, {"retrieve": 1}):
        assert list(picked(HUGE, 3, 1, elsewhere)) == free
