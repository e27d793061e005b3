"""The best run of an evaluation set by one metric, and whether it beats the second."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ragnostic.metrics import Metric
from ragnostic.offline.history import PastRun, RunSet
from ragnostic.report.run import count, number
from ragnostic.stats.comparison import MetricComparison, compare_sides
from ragnostic.stats.paired import TOLERANCE, is_upward


@dataclass(frozen=True, slots=True)
class RankedRun:
    """A run and its mean of the metric that ranks, with its 95 % interval."""

    run: PastRun
    stage: str
    mean: float
    low: float | None
    high: float | None
    n: int

    def as_json(self) -> dict[str, Any]:
        """Names and numbers."""
        beside = {name: getattr(self, name) for name in ("stage", "mean", "low", "high", "n")}
        return {"run": self.run.name, "tags": list(self.run.tags)} | beside


@dataclass(frozen=True, slots=True)
class BestRun:
    """The runs of one set that have the metric, best first.

    ``lead`` compares the best with the second, query by query (difference: best minus second);
    None where there is no second. ``without``: runs that lack the metric at that stage.
    """

    run_set: RunSet
    metric: str
    ranked: tuple[RankedRun, ...]
    lead: MetricComparison | None
    without: int

    def as_json(self) -> dict[str, Any]:
        """The object of ``runs best --json``."""
        return {
            "evaluation_set": {"name": self.run_set.name, "sha256": self.run_set.sha256},
            "metric": self.metric,
            "best": self.ranked[0].as_json() if self.ranked else None,
            "second": self.ranked[1].as_json() if len(self.ranked) > 1 else None,
            "lead": None if self.lead is None else self.lead.as_json(),
            "runs": len(self.ranked),
            "without_metric": self.without,
            "measured_otherwise": len(self.run_set.others),
        }


def best_run(run_set: RunSet, metric: str, stage: str | None = None) -> BestRun:
    """The best run of an evaluation set.

    ``metric`` by any of its names: only runs with that full name take part. ``stage``: the final
    one of each run where None. Of equal means the older run is the better one. Raises DataError
    for scores that cannot be read.
    """
    name = str(Metric.parse(metric))
    ranked = _ranked(run_set.runs, name, stage)
    lead = _lead(ranked[0], ranked[1], name, stage) if len(ranked) > 1 else None
    return BestRun(run_set, name, tuple(ranked), lead, len(run_set.runs) - len(ranked))


def _ranked(runs: Sequence[PastRun], metric: str, stage: str | None) -> list[RankedRun]:
    found: list[RankedRun] = []
    for run in runs:
        summary = run.summary(metric, stage)
        mean = None if summary is None else number(summary.get("mean"))
        if summary is not None and mean is not None:
            low, high = number(summary.get("low")), number(summary.get("high"))
            n = count(summary.get("n"))
            found.append(RankedRun(run, stage or run.stage, mean, low, high, n))
    sign = -1 if is_upward(metric) else 1
    # Means that differ by less than the tolerance are equal, and then the older run comes first.
    return sorted(found, key=lambda one: sign * round(one.mean / TOLERANCE))


def _lead(best: RankedRun, second: RankedRun, metric: str, stage: str | None) -> MetricComparison:
    base, candidate = (one.run.side((metric,), one.stage) for one in (second, best))
    return compare_sides(base, candidate, [metric], stage=stage)[metric]
