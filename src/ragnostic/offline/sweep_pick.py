"""Which points of a grid are loaded: all of them, or some of a grid that is too large for that."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

from ragnostic.config.source import parse_assignment
from ragnostic.errors import UsageError
from ragnostic.offline.sweep_grid import Axis

LARGEST_GRID = 5_000
"""Combinations that are read and checked before anything runs; more would take minutes."""

Values = tuple[str, ...]
"""One value of every axis, as it is written."""


def picked(
    axes: Sequence[Axis], budget: int | None, seed: int, written: Mapping[str, Any]
) -> Iterator[Values]:
    """The points of the grid in its order, or ``budget`` points drawn from a grid of more than
    5,000, which is never listed as a whole.

    ``written``: the settings without the grid; the point that they are comes first among the
    drawn ones, where it is on the grid. Raises UsageError for more than can be run.
    """
    size = grid_size(axes)
    if size <= LARGEST_GRID:
        yield from itertools.product(*(axis.written for axis in axes))
        return
    if budget is None:
        raise UsageError(
            f"the grid has {size} combinations; at most {LARGEST_GRID} are possible",
            hint="vary fewer settings or fewer values of each, or draw some of them:"
            " --search random --budget 50",
        )
    if budget > LARGEST_GRID:
        raise UsageError(f"--budget {budget} is too large; at most {LARGEST_GRID} are possible")
    first = _written_point(axes, written)
    drawn = random.Random(seed).sample(range(size), budget)  # noqa: S311 - no secret
    points = [*([] if first is None else [first]), *(_point(axes, place) for place in drawn)]
    yield from list(dict.fromkeys(points))[:budget]


def grid_size(axes: Sequence[Axis]) -> int:
    """How many points a grid has.

    >>> grid_size([Axis(("a",), ("1", "2")), Axis(("b",), ("1", "2", "3"))])
    6
    """
    return prod(len(axis.written) for axis in axes)


def _point(axes: Sequence[Axis], place: int) -> Values:
    """The point at a place of the grid's order, in which the last axis varies quickest."""
    values: list[str] = []
    for axis in reversed(axes):
        place, at = divmod(place, len(axis.written))
        values.append(axis.written[at])
    return tuple(reversed(values))


def _written_point(axes: Sequence[Axis], written: Mapping[str, Any]) -> Values | None:
    """The point whose values are those of the settings; None where an axis has no such value."""
    point: list[str] = []
    for axis in axes:
        own: Any = written
        for key in axis.path:
            own = own.get(key) if isinstance(own, dict) else None
        for value in axis.written:
            if parse_assignment(axis.assignment(value))[1] == own:
                point.append(value)
                break
        else:
            return None
    return tuple(point)
