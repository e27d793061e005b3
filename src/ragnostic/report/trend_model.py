"""From the runs of one evaluation set to their page: :func:`build_trend` (pure, no language)."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from ragnostic.report.directions import lower_is_better
from ragnostic.report.notes import setting_text
from ragnostic.report.trend_page import Mark, TrendLine, TrendPage, TrendPoint, TrendRow, TurnRow
from ragnostic.report.trend_view import TrendRun, TrendView, Turn

MOST_RUNS = 200
MOST_EASY = 100
MOST_CHANGED = 20


def build_trend(view: TrendView) -> TrendPage:
    """Everything the page says about the runs of one evaluation set, as data.

    The latest 200 runs are shown; numbers count from the oldest of all, 1.
    """
    hidden = max(len(view.runs) - MOST_RUNS, 0)
    turned = {
        (turn.metric, turn.run): 1 if _is_up(turn.metric, turn.difference) else -1
        for turn in view.turns
    }
    numbers = {run.name: number for number, run in enumerate(view.runs, 1)}
    rows = tuple(_row(view, run, numbers[run.name]) for run in view.runs[hidden:])
    lines = (_line(view, metric, numbers, turned, hidden) for metric in view.metrics)
    by_name = {row.name: row for row in rows}

    def newest(turn: Turn) -> int:
        return -numbers.get(turn.run, 0)

    return TrendPage(
        evaluation_set=view.evaluation_set,
        metrics=view.metrics,
        lines=tuple(line for line in lines if line.points),
        marks=tuple(Mark(row.number, ", ".join(row.tags)) for row in rows if row.tags),
        turns=tuple(
            TurnRow(turn, by_name.get(turn.run), _is_up(turn.metric, turn.difference))
            for turn in sorted(view.turns, key=newest)
        ),
        rows=rows,
        hidden=hidden,
        easy=view.easy[:MOST_EASY],
        easy_total=len(view.easy),
        last=view.last,
    )


def _is_up(metric: str, difference: float) -> bool:
    return (difference > 0) != lower_is_better(metric)


def _line(
    view: TrendView,
    metric: str,
    numbers: Mapping[str, int],
    turned: Mapping[tuple[str, str], int],
    hidden: int,
) -> TrendLine:
    points = tuple(
        TrendPoint(numbers[run.name], run.values[metric], turned.get((metric, run.name), 0))
        for run in view.runs[hidden:]
        if metric in run.values and run.values[metric].mean is not None
    )
    return TrendLine(metric, points, numbers.get(view.best.get(metric, "")))


def _row(view: TrendView, run: TrendRun, number: int) -> TrendRow:
    return TrendRow(
        number=number,
        name=run.name,
        created=run.created,
        tags=run.tags,
        stage=run.stage,
        link=None if run.link is None else f"./{quote(run.link)}",
        values=tuple(run.values.get(metric) for metric in view.metrics),
        best=frozenset(metric for metric, name in view.best.items() if name == run.name),
        changed=tuple(
            (key, setting_text(key, before), setting_text(key, after))
            for key, before, after in run.settings_changed[:MOST_CHANGED]
        ),
    )
