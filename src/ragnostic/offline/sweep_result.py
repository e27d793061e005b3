"""From the runs of a sweep to its table: means, differences, the best, the Pareto front."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from ragnostic.errors import UsageError
from ragnostic.metrics import Metric
from ragnostic.offline.compare_checks import check_comparable
from ragnostic.offline.run_folder import CHUNKS, RECORDS
from ragnostic.offline.run_source import RunSource, folder_source
from ragnostic.offline.sides import side_of_source
from ragnostic.offline.sweep import SweepRuns
from ragnostic.offline.sweep_plan import SweepPlan
from ragnostic.report.run import mapping, number
from ragnostic.report.sweep_view import PrunedRow, SweepMean, SweepRow, SweepView
from ragnostic.stats.comparison import Finding, compare_sides, finding_of
from ragnostic.stats.intervals import nearest_rank
from ragnostic.stats.paired import Difference, is_upward, with_holm
from ragnostic.stats.sides import Side


@dataclass(frozen=True, slots=True)
class _Measured:
    """A run of the sweep: its row so far, and its values a query."""

    row: SweepRow
    side: Side


def check_baseline(baseline: Path, metric: str) -> RunSource:
    """The run that a sweep is compared with; raises UsageError where it lacks the metric."""
    source = folder_source(baseline)
    final = source.stages[-1] if source.stages else ""
    if metric not in _summaries(source):
        there = ", ".join(_summaries(source)) or "none"
        raise UsageError(
            f"the baseline {source.name} has no {metric}; it has {there} at stage {final}",
            hint="rank by one of those with --metric, or evaluate the baseline with it",
        )
    return source


def check_alike(baseline: RunSource, run: Path) -> None:
    """Raise UsageError where the baseline asks other questions, or has another judge."""
    source = folder_source(run)
    check_comparable(baseline, baseline.asked(), source, source.asked())


def view_of(plan: SweepPlan, done: SweepRuns, baseline: RunSource | None = None) -> SweepView:
    """The table of a sweep. Without a ``baseline`` the combination that the configuration is
    stands for it, else the first one.
    """
    names = (plan.metric, *plan.beside)
    measured = [
        _measured(folder_source(done.run_of(one)), one.name, names) for one in done.finished
    ]
    keys = [one.key for one in done.finished]
    outside = None if baseline is None else _measured(baseline, baseline.name, names)
    inside = keys.index(plan.written) if plan.written in keys else 0
    base = outside or measured[inside]
    rows = _compared(measured, base, plan.metric)
    data = mapping(folder_source(done.run_of(done.finished[0])).meta.get("data"))
    asked = mapping(data.get("evaluation_set"))
    return SweepView(
        sweep=done.state.sweep,
        evaluation_set=str(asked.get("path") or ""),
        queries=len(measured[0].side.query_ids),
        metric=plan.metric,
        beside=plan.beside,
        rows=tuple(rows),
        baseline=base.row.name,
        total=plan.total,
        outside=None if outside is None else outside.row,
        chunkers_differ=plan.chunkers_differ,
        pruned=tuple(
            PrunedRow(one.combination.name, one.queries, one.score) for one in done.pruned
        ),
        left_out=plan.left_out,
    )


def _measured(source: RunSource, name: str, names: Sequence[str]) -> _Measured:
    summaries = _summaries(source)
    means = {
        metric: SweepMean(
            number(found.get("mean")),
            int(found.get("n") or 0),
            number(found.get("low")),
            number(found.get("high")),
        )
        for metric in names
        if (found := mapping(summaries.get(metric)))
    }
    took = source.read(RECORDS, ["latency_ms"], None)["latency_ms"].drop_null().cast(pa.float64())
    known = np.asarray(took.to_numpy(), dtype=np.float64)
    run = str(source.meta.get("run") or "")
    p50, p95 = nearest_rank(known, 50), nearest_rank(known, 95)
    unspent = _unspent(source, Metric.parse(names[0]))
    row = SweepRow(name=name, run=run, means=means, p50_ms=p50, p95_ms=p95, unspent=unspent)
    # Slices would be compared too where there are any, for nothing.
    side = side_of_source(source, source.stages[-1:], [names[0]], columns={})
    return _Measured(row, replace(side, name=name))


def _unspent(source: RunSource, metric: Metric) -> int:
    """Queries whose ranking has as many chunks as were asked for, and fewer tokens than the
    budget of the metric; 0 for a metric without one.
    """
    budget = metric.param("budget") if "budget" in metric.definition.params else 0
    if not budget:
        return 0
    chunks = source.read(CHUNKS, ["id", "tokens"], None)
    tokens = dict(zip(chunks["id"].to_pylist(), chunks["tokens"].to_pylist(), strict=True))
    stage = source.stages[-1]
    hits = source.read(RECORDS, [stage], None)[stage].to_pylist()
    return sum(
        hit is not None
        and len(hit["ids"] or ()) == hit["top_k"]
        and sum(tokens.get(id_) or 0 for id_ in hit["ids"]) < budget
        for hit in hits
    )


def _summaries(source: RunSource) -> dict[str, object]:
    stages = mapping(source.meta.get("stages"))
    final = mapping(stages.get(source.stages[-1] if source.stages else ""))
    return dict(mapping(final.get("metrics")))


def _compared(measured: Sequence[_Measured], base: _Measured, metric: str) -> list[SweepRow]:
    """The rows, best first, with all that is said of one beside the baseline and the best."""
    upward = is_upward(metric)
    order = sorted(measured, key=lambda one: _badness(one.row, metric, upward=upward))
    best = order[0] if order[0].row.means[metric].mean is not None else None
    differences = _family(base, [one for one in order if one is not base], metric)
    rivals = (
        {} if best is None else _family(best, [one for one in order if one is not best], metric)
    )
    front = _front([one.row for one in order], metric, upward=upward)
    return [
        replace(
            one.row,
            difference=differences.get(id(one)),
            finding=_finding(differences.get(id(one)), upward=upward),
            against_best=_finding(rivals.get(id(one)), upward=upward),
            best=one is best,
            pareto=one.row.name in front,
        )
        for one in order
    ]


def _badness(row: SweepRow, metric: str, *, upward: bool) -> float:
    value = row.means[metric].mean
    return math.inf if value is None else -value if upward else value


def _family(base: _Measured, others: Sequence[_Measured], metric: str) -> dict[int, Difference]:
    """Each run's difference to ``base``, p corrected over all of them."""
    found = [compare_sides(base.side, one.side, [metric]).metrics[0].difference for one in others]
    corrected = with_holm(found)
    return {id(one): difference for one, difference in zip(others, corrected, strict=True)}


def _finding(difference: Difference | None, *, upward: bool) -> Finding | None:
    """None, too, where there is no query on which both have a value."""
    if difference is None or difference.value is None:
        return None
    return finding_of(difference, higher_is_better=upward)


def _front(rows: Sequence[SweepRow], metric: str, *, upward: bool) -> set[str]:
    """Names of the rows that no other row beats in quality and latency at once."""
    points = [
        (_badness(row, metric, upward=upward), row.p50_ms, row.name)
        for row in rows
        if row.p50_ms is not None and row.means[metric].mean is not None
    ]
    return {
        name
        for bad, slow, name in points
        if not any(
            other_bad <= bad and other_slow <= slow and (other_bad < bad or other_slow < slow)
            for other_bad, other_slow, _ in points
        )
    }
