"""``ragnostic runs trend``: all runs of one evaluation set over time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ragnostic.cli.choices import Language
from ragnostic.cli.console import print_json, print_table, print_warnings
from ragnostic.cli.pages import refuse_stdout, write_page
from ragnostic.cli.runs_options import DEFAULT_OUT, AsJson, EvaluationSet, Out, left_out_lines
from ragnostic.errors import counted
from ragnostic.metrics import Metric, parse_list
from ragnostic.offline.history import read_history
from ragnostic.offline.trend import trend
from ragnostic.report.html import moment
from ragnostic.report.numbers import NOTHING, bound, decimal, signed
from ragnostic.report.trend_view import TrendRun, TrendValue, TrendView
from ragnostic.report.visible import visible


def trend_command(
    *,
    metrics: Annotated[
        str | None,
        typer.Option(help="Comma-separated metric names; those of the newest run without it."),
    ] = None,
    evaluation_set: EvaluationSet = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the trend page too.")
    ] = None,
    lang: Annotated[Language, typer.Option(help="Language of the page.")] = Language.zh,
    out: Out = DEFAULT_OUT,
    as_json: AsJson = False,
) -> None:
    """Which version was best, and when it turned: all runs of one evaluation set by time.

    Without --set, the evaluation set of the newest run. A turn is a change against the run before
    that chance does not explain.
    """
    refuse_stdout(html=html)
    history = read_history(out)
    run_set = history.one(evaluation_set)
    names = None if metrics is None else [str(metric) for metric in parse_list(metrics)]
    view = trend(run_set, metrics=names, page=html)
    lines = left_out_lines(history, [run_set])
    others = [one for one in history.sets if one is not run_set]
    if others and evaluation_set is None:
        lines.append(f"other evaluation sets, see --set: {', '.join(map(str, others))}")
    print_warnings(lines)
    if html is not None:
        _write_page(html, view, lang)
    if as_json:
        print_json(trend_json(view))
        return
    print_trend(view)
    if html is not None:
        typer.echo(f"page: {html}")


def _write_page(target: Path, view: TrendView, lang: Language) -> None:
    from ragnostic.report import render_trend  # noqa: PLC0415 - heavy, loaded on use

    write_page(target, render_trend(view, language=lang.value))


def trend_json(view: TrendView) -> dict[str, Any]:
    """The object of ``runs trend --json``."""
    return {
        "evaluation_set": view.evaluation_set,
        "metrics": list(view.metrics),
        "runs": [
            {
                "run": run.name,
                "created": run.created,
                "tags": list(run.tags),
                "stage": run.stage,
                "changed": [
                    {"key": key, "before": before, "now": now}
                    for key, before, now in run.settings_changed
                ],
                "metrics": {name: value._asdict() for name, value in run.values.items()},
            }
            for run in view.runs
        ],
        "best": dict(view.best),
        "turns": [turn._asdict() for turn in view.turns],
        "easy": [{"query_id": one.query_id, "query": one.text} for one in view.easy],
        "last": view.last,
    }


def print_trend(view: TrendView) -> None:
    """A row a run: time, tags, each mean with its interval; then what was changed and turned."""
    typer.echo(visible(f"evaluation set {view.evaluation_set}"))
    head = ["run", "created", "tags", "stage"]
    for metric in view.metrics:
        head += [Metric.parse(metric).label, "95 % interval"]
    print_table(head, [_row(run, view) for run in view.runs], text_columns=4)
    lines = [f"best {Metric.parse(name).label}: {run}" for name, run in view.best.items()]
    for run in view.runs:
        changed = ", ".join(f"{key}: {before} → {now}" for key, before, now in run.settings_changed)
        lines += [f"changed in {run.name}: {changed}"] if changed else []
    for turn in view.turns:
        interval = f"[{bound(turn.low)}, {bound(turn.high)}]"
        label = Metric.parse(turn.metric).label
        lines.append(f"turn at {turn.run}: {label} {signed(turn.difference)} {interval}")
    if not view.turns and len(view.runs) > 1:
        lines.append("no turn: no change that chance does not explain")
    if view.easy:
        queries = counted(len(view.easy), "query", "queries")
        lines.append(
            f"{queries} with a relevant first result in the last {counted(view.last, 'run')}: "
            "ragnostic runs easy"
        )
    for line in lines:
        typer.echo(visible(line))


def _row(run: TrendRun, view: TrendView) -> list[str]:
    cells = [run.name, moment(run.created or NOTHING), ", ".join(run.tags), run.stage]
    for metric in view.metrics:
        cells += _cells(run.values.get(metric))
    return cells


def _cells(value: TrendValue | None) -> list[str]:
    if value is None:
        return [NOTHING, NOTHING]
    if value.low is None:
        return [decimal(value.mean), NOTHING]
    return [decimal(value.mean), f"[{decimal(value.low)}, {decimal(value.high)}]"]
