"""Which part of a whole explains its change: mix and level, exactly summed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """A part before and after: its ``weight`` (rows, or what a ratio divides by) and its value."""

    weight: float
    value: float


@dataclass(frozen=True, slots=True)
class Contribution:
    """What a part adds to the change of the whole: by its ``level`` (it got better or worse) and by
    its ``mix`` (there is more or less of it).
    """

    level: float
    mix: float

    @property
    def total(self) -> float:
        """Both."""
        return self.level + self.mix


def contributions(before: Mapping[str, Part], after: Mapping[str, Part]) -> dict[str, Contribution]:
    """The change of a weighted mean, part by part; all totals add up to it.

    With shares w and values m of a part, and M the mean of both wholes: level is the mean share
    times the change of m, mix the change of w times (mean m - M). A part that is there on one side
    only has no level. Empty where a side has no weight at all.

    >>> found = contributions(
    ...     {"a": Part(1, 0.5), "b": Part(1, 0.7)}, {"a": Part(1, 0.3), "b": Part(1, 0.7)}
    ... )
    >>> round(found["a"].level, 3), round(found["b"].total, 3)
    (-0.1, 0.0)
    """
    sides = [_shares(before), _shares(after)]
    if not all(sides):
        return {}
    middle = sum(share * value for side in sides for share, value in side.values()) / 2
    found = {}
    for name in dict.fromkeys([*before, *after]):
        one, two = sides[0].get(name), sides[1].get(name)
        if one is None or two is None:
            share, value = one or two or (0.0, 0.0)
            moved = share if one is None else -share
            found[name] = Contribution(0.0, moved * (value - middle))
            continue
        level = (one[0] + two[0]) / 2 * (two[1] - one[1])
        found[name] = Contribution(level, (two[0] - one[0]) * ((one[1] + two[1]) / 2 - middle))
    return found


def _shares(parts: Mapping[str, Part]) -> dict[str, tuple[float, float]]:
    whole = sum(part.weight for part in parts.values())
    if whole <= 0:
        return {}
    return {name: (part.weight / whole, part.value) for name, part in parts.items() if part.weight}
