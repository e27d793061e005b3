"""The exponentially weighted moving average that a figure is held against (METRICS 13)."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a figure usually is: b ← α·x + (1 − α)·b.

    It starts at the mean of the first ``min_windows`` values; before them ``value`` is None.
    ``seen`` counts the values it has learned from, ``total`` is their sum until it starts. Who
    compares a value with it does so *before* it learns of the value, and lets it learn of none
    while a rule fires or where a window holds too few rows.

    ``alpha``: (0, 1], the weight of a new value; ``min_windows`` ≥ 1.
    Raises ValueError for others.

    >>> usual = Baseline(alpha=0.5, min_windows=2)
    >>> [usual := usual.updated(x) for x in (0.75, 0.25, 1.0)][-1].value
    0.75
    """

    alpha: float = 0.2
    min_windows: int = 7
    value: float | None = None
    seen: int = 0
    total: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.alpha <= 1 or self.min_windows < 1:
            raise ValueError("alpha must be in (0, 1] and min_windows at least 1")

    def updated(self, x: float) -> Baseline:
        """The baseline after one value more."""
        seen = self.seen + 1
        if self.value is not None:
            moved = self.alpha * x + (1 - self.alpha) * self.value
            return replace(self, value=moved, seen=seen)
        total = self.total + x
        mean = total / seen if seen >= self.min_windows else None
        return replace(self, value=mean, seen=seen, total=total)
