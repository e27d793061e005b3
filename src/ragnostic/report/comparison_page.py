"""The model of the comparison page: everything it says, as data. No HTML and no language in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ragnostic.report.page import Ranking

if TYPE_CHECKING:
    from ragnostic.stats.comparison import Finding
    from ragnostic.stats.gates import GateResult
    from ragnostic.stats.paired import Difference

Kind = Literal["worse", "better", "lost", "found"]


@dataclass(frozen=True, slots=True)
class Sided:
    """A name, its stage and what is known of one of the two systems."""

    name: str
    stage: str
    created: str | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """An interval drawn on an axis: all three are shares of its length, 0 = left end."""

    low: float
    at: float
    high: float


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """A metric, or a slice by the main metric."""

    name: str
    difference: Difference
    finding: Finding
    unpaired: int
    span: Span | None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with intervals on one axis from ``-reach`` to ``reach``.

    ``left_out`` are compared slices past the first 20, ``small`` those with too few queries.
    """

    column: str
    rows: tuple[ComparedRow, ...]
    reach: float
    left_out: int = 0
    small: int = 0


@dataclass(frozen=True, slots=True)
class Histogram:
    """Queries by their difference: (from, to, count), lowest first; equal ones are not in it."""

    metric: str
    bars: tuple[tuple[float, float, int], ...]
    equal: int
    turned: bool


@dataclass(frozen=True, slots=True)
class Slopes:
    """First relevant ranks before and after: (rank, rank, queries), most frequent first.

    None is a list without any relevant chunk. ``still`` queries kept their first rank; ``hidden``
    moved on a path that is not drawn; ``read`` of the ``total`` changed queries were looked at.
    """

    paths: tuple[tuple[int | None, int | None, int], ...]
    still: int
    hidden: int
    read: int
    total: int


@dataclass(frozen=True, slots=True)
class ChangedQuery:
    """A query that differs. Rankings are None where that run is not at hand."""

    query_id: str
    before: float
    after: float
    kinds: tuple[Kind, ...]
    query: str | None = None
    language: str | None = None
    expected: str | None = None
    first: tuple[int | None, int | None] | None = None
    rankings: tuple[Ranking | None, Ranking | None] = (None, None)

    @property
    def opens(self) -> bool:
        """Whether there is anything to see below its line."""
        return any(ranking is not None for ranking in self.rankings)


@dataclass(frozen=True, slots=True)
class Filter:
    """One way to see the list: how many queries it holds, and how many of them are shown."""

    kind: Kind | Literal["all"]
    total: int
    shown: int


@dataclass(frozen=True, slots=True)
class Few:
    """Ids or lines: the first ones, and how many there are in all."""

    items: tuple[str, ...]
    total: int

    @property
    def more(self) -> int:
        """How many are not shown."""
        return self.total - len(self.items)


@dataclass(frozen=True, slots=True)
class ComparisonPage:
    """A whole comparison page."""

    base: Sided
    candidate: Sided
    cutoff: int
    shared: int
    main: ComparedRow | None
    metrics: Table
    gate: GateResult | None
    histogram: Histogram | None
    slopes: Slopes | None
    slices: tuple[Table, ...]
    filters: tuple[Filter, ...]
    queries: tuple[ChangedQuery, ...]
    settings: tuple[tuple[str, str, str], ...]
    announced: Few
    only_base: Few
    only_candidate: Few
    missing_base: Few
    missing_candidate: Few
    unshared: tuple[str, ...]
    warnings: Few
