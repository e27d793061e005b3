"""What is exported: names, values and labels, whatever the format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["gauge", "counter"]
MOST_LABELS = 5


@dataclass(frozen=True, slots=True)
class Sample:
    """One value of a family; the labels of a family are always the same names."""

    value: float
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Family:
    """A metric of the monitoring system: ``name`` with its unit, ``help`` in one sentence.

    A counter's name ends without ``_total``, which the format adds.
    """

    name: str
    help: str
    kind: Kind
    samples: Sequence[Sample]


@dataclass(frozen=True, slots=True)
class Histogram:
    """Cumulative counts by upper bound in seconds; the last count is of everything."""

    name: str
    help: str
    bounds: Sequence[float]
    rows: Sequence[tuple[Mapping[str, str], Sequence[int], float]]
    """Labels, counts (one more than bounds), and the sum of all values."""
