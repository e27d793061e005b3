"""The runs of one evaluation set over time: values, what changed, and where it turned."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ragnostic.errors import UsageError
from ragnostic.metrics import Metric
from ragnostic.offline.easy_queries import LAST, easy_queries
from ragnostic.offline.history import PastRun, RunSet
from ragnostic.offline.run_folder import REPORT
from ragnostic.offline.settings_diff import SILENT, settings_diff
from ragnostic.report.numbers import NOTHING
from ragnostic.report.run import count, mapping, number, text
from ragnostic.report.trend_view import TrendRun, TrendValue, TrendView, Turn
from ragnostic.stats.comparison import compare_sides, finding_of
from ragnostic.stats.paired import TOLERANCE, Difference, is_upward, with_holm
from ragnostic.stats.sides import Side


def trend(
    run_set: RunSet,
    *,
    metrics: Sequence[str] | None = None,
    last: int = LAST,
    page: Path | None = None,
) -> TrendView:
    """All runs of one evaluation set by time, at the final stage of each.

    ``metrics``: by any of their names; those that the newest run was asked for where None.
    ``last``: see :func:`ragnostic.offline.easy_queries.easy_queries`. ``page``: where the page
    will stand, so that it links to the reports. A turn is a run whose paired change against the
    run before chance does not explain, p corrected by Holm over all changes and metrics shown
    (METRICS 11). Raises UsageError where no run has any of the metrics.
    """
    shown = _metrics(run_set, metrics)
    before = [None, *run_set.runs[:-1]]
    runs = tuple(
        _trend_run(run, earlier, shown, page)
        for run, earlier in zip(run_set.runs, before, strict=True)
    )
    return TrendView(
        evaluation_set=run_set.name,
        metrics=shown,
        runs=runs,
        best=_best(runs, shown),
        turns=_turns(run_set.runs, shown),
        easy=easy_queries(run_set, last=last).queries,
        last=min(last, len(runs)),
    )


def _metrics(run_set: RunSet, wanted: Sequence[str] | None) -> tuple[str, ...]:
    newest = run_set.runs[-1]
    score = mapping(mapping(newest.meta.get("settings")).get("score"))
    names = wanted if wanted is not None else score.get("metrics") or ()
    shown = tuple(dict.fromkeys(str(Metric.parse(name)) for name in names))
    if any(run.summary(metric) is not None for run in run_set.runs for metric in shown):
        return shown
    there = ", ".join(run_set.metrics())
    raise UsageError(
        f"no run of {run_set.name} has a mean of {' or '.join(shown) or 'any metric'}",
        hint=f"there are: {there}" if there else "",
    )


def _trend_run(
    run: PastRun, before: PastRun | None, metrics: Sequence[str], page: Path | None
) -> TrendRun:
    changed = [] if before is None else _changed(before, run)
    summaries = {metric: run.summary(metric) for metric in metrics}
    return TrendRun(
        name=run.name,
        created=text(run.meta.get("created")),
        tags=run.tags,
        settings_changed=tuple(changed),
        values={
            metric: TrendValue(
                number(found.get("mean")),
                number(found.get("low")),
                number(found.get("high")),
                count(found.get("n")),
            )
            for metric, found in summaries.items()
            if found is not None
        },
        stage=run.stage,
        link=_link(run, page),
    )


def _changed(before: PastRun, run: PastRun) -> list[tuple[str, str, str]]:
    """(key, before, now) of the settings that can change a number."""
    tables = (mapping(one.meta.get("settings")) for one in (before, run))
    return [
        (one.key, one.base or NOTHING, one.candidate or NOTHING)
        for one in settings_diff(*tables)
        if not one.key.startswith(SILENT)
    ]


def _link(run: PastRun, page: Path | None) -> str | None:
    report = run.folder / REPORT
    if page is None or not report.is_file():
        return None
    return Path(os.path.relpath(report.resolve(), page.resolve().parent)).as_posix()


def _best(runs: Sequence[TrendRun], metrics: Sequence[str]) -> dict[str, str]:
    """The best run by each metric; of equal means the oldest."""
    best: dict[str, str] = {}
    for metric in metrics:
        sign = 1 if is_upward(metric) else -1
        means = [
            (run.name, sign * value.mean)
            for run in runs
            if (value := run.values.get(metric)) is not None and value.mean is not None
        ]
        top = max((mean for _, mean in means), default=None)
        if top is not None:
            best[metric] = next(name for name, mean in means if mean >= top - TOLERANCE)
    return best


def _turns(runs: Sequence[PastRun], metrics: Sequence[str]) -> tuple[Turn, ...]:
    """Changes against the run before that has the metric, all of them one family of tests."""
    tested: list[tuple[str, str, Difference]] = []
    latest: dict[str, Side] = {}
    for run in runs:
        having = tuple(metric for metric in metrics if run.summary(metric) is not None)
        if not having:
            continue
        side = run.side(having)
        for metric in having:
            if metric in latest:
                found = compare_sides(latest[metric], side, [metric])[metric]
                tested.append((metric, run.name, found.difference))
            latest[metric] = side
    corrected = with_holm([difference for _, _, difference in tested])
    return tuple(
        Turn(metric, name, found.value, found.low, found.high)
        for (metric, name, _), found in zip(tested, corrected, strict=True)
        if found.value is not None and finding_of(found) in {"better", "worse"}
    )
