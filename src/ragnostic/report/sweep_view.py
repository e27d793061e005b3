"""What a sweep found, as data: the table of its page, of the terminal and of its JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragnostic.stats.comparison import Finding
    from ragnostic.stats.paired import Difference


@dataclass(frozen=True, slots=True)
class SweepMean:
    """The mean of a metric at the final stage with its 95 % interval; None where undefined."""

    mean: float | None
    n: int
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class SweepRow:
    """One combination, or the run that all are compared with.

    ``difference`` is against the baseline, its ``p_holm`` over the combinations of the table;
    None for the baseline itself. ``finding``: what it comes to; None, too, where no query has a
    value on both sides. ``against_best``: what can be said of it beside the best one;
    None for the best itself and for an outside baseline. ``p50_ms``, ``p95_ms``: latency of a
    query over all stages. ``pareto``: no other is at least as good and as quick, and better in
    one of both. ``unspent``: queries whose ranking was cut by top_k before the token budget of the
    ranking metric was spent, so that a larger top_k could still raise it.
    """

    name: str
    run: str
    means: Mapping[str, SweepMean]
    difference: Difference | None = None
    finding: Finding | None = None
    against_best: Finding | None = None
    p50_ms: float | None = None
    p95_ms: float | None = None
    best: bool = False
    pareto: bool = False
    unspent: int = 0

    def as_json(self) -> dict[str, Any]:
        """The object of ``ragnostic sweep --json``."""
        return {
            "name": self.name,
            "run": self.run,
            "metrics": {name: asdict(found) for name, found in self.means.items()},
            "difference": None if self.difference is None else self.difference.as_json(),
            "finding": self.finding,
            "against_best": self.against_best,
            "latency_ms": {"p50": self.p50_ms, "p95": self.p95_ms},
            "best": self.best,
            "pareto": self.pareto,
            "budget_unspent": self.unspent,
        }


@dataclass(frozen=True, slots=True)
class PrunedRow:
    """A combination that a search by halving left early, with its mean on ``queries`` queries."""

    name: str
    queries: int
    score: float | None


@dataclass(frozen=True, slots=True)
class SweepView:
    """A sweep: ``rows`` best first, the ``baseline`` by name.

    ``outside`` is the row of a baseline that is no combination of the sweep. ``metric`` ranks
    the rows; ``beside`` stand next to it. ``total``: how many distinct combinations the grid
    has; ``queries``: how many queries each of the rows answered. ``left_out``: combinations
    whose settings come to those of another, with its name.
    """

    sweep: str
    evaluation_set: str
    queries: int
    metric: str
    beside: tuple[str, ...]
    rows: tuple[SweepRow, ...]
    baseline: str
    total: int
    outside: SweepRow | None = None
    chunkers_differ: bool = False
    pruned: Sequence[PrunedRow] = ()
    left_out: Sequence[tuple[str, str]] = ()

    @property
    def best(self) -> SweepRow | None:
        """The row with the best mean; None where no combination has one."""
        return next((row for row in self.rows if row.best), None)

    @property
    def others_are_worse(self) -> bool:
        """Whether every row but the best is worse than it, beyond chance."""
        others = [row for row in self.rows if not row.best]
        return bool(others) and all(row.against_best == "worse" for row in others)

    @property
    def rivals(self) -> tuple[SweepRow, ...]:
        """The rows that cannot be told apart from the best one."""
        return tuple(row for row in self.rows if row.against_best in {"same", "cannot_tell"})

    def as_json(self) -> dict[str, Any]:
        """The object of ``ragnostic sweep --json``, but for the places of its files."""
        return {
            "sweep": self.sweep,
            "metric": self.metric,
            "chunkers_differ": self.chunkers_differ,
            "baseline": self.baseline,
            "best": None if self.best is None else self.best.name,
            "not_told_apart": [row.name for row in self.rivals],
            "combinations": [row.as_json() for row in self.rows],
            "baseline_run": None if self.outside is None else self.outside.as_json(),
            "pruned": [asdict(row) for row in self.pruned],
            "left_out": [{"name": name, "same_as": same} for name, same in self.left_out],
            "total": self.total,
        }
