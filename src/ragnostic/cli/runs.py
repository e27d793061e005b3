"""``ragnostic runs``: what has been measured so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from ragnostic.cli.console import print_json, print_table
from ragnostic.cli.run_table import print_run_table, warning_lines
from ragnostic.cli.runs_best import best, easy
from ragnostic.cli.runs_options import DEFAULT_OUT, AsJson, EvaluationSet, Out, RunName
from ragnostic.cli.runs_tag import tag
from ragnostic.cli.runs_trend import trend_command
from ragnostic.errors import DataError
from ragnostic.metrics import Metric
from ragnostic.offline.history import read_history
from ragnostic.offline.run_folder import (
    REPORT,
    find_run,
    last_stage,
    list_runs,
    read_meta,
    read_run,
)
from ragnostic.offline.settings_diff import flattened
from ragnostic.offline.tags import read_tags, tags_of
from ragnostic.report.html import moment
from ragnostic.report.numbers import NOTHING, decimal
from ragnostic.report.visible import visible

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="List, show and tag runs; the best one, and the trend.",
)
_MAIN_METRICS = 3


@app.command("list")
def list_command(
    out: Out = DEFAULT_OUT, evaluation_set: EvaluationSet = None, *, as_json: AsJson = False
) -> None:
    """All runs below a folder, oldest first, with the final stage's main metrics."""
    tags = read_tags(out)
    chosen = None
    if evaluation_set is not None:
        sets = read_history(out).matching(evaluation_set)
        chosen = {run.name for one in sets for run in (*one.runs, *one.others)}
    folders = [folder for folder in list_runs(out) if chosen is None or folder.name in chosen]
    if as_json:
        print_json({"runs": [_json(folder, tags_of(tags, folder.name)) for folder in folders]})
        return
    if not folders:
        typer.echo(f"{out} holds no runs", err=True)
        return
    head = ["run", "created", "name", "tags", "set", "metrics"]
    rows = [_line(folder, tags_of(tags, folder.name)) for folder in folders]
    print_table(head, rows, text_columns=len(head))


def _line(folder: Path, tags: Sequence[str]) -> list[str]:
    try:
        meta = read_meta(folder)
        stage = last_stage(folder)
    except DataError as error:
        return [folder.name, NOTHING, NOTHING, ", ".join(tags), NOTHING, error.message]
    sets = meta.get("data", {}).get("evaluation_set", {})
    created = moment(str(meta.get("created") or NOTHING))
    return [
        folder.name,
        created,
        meta.get("name") or NOTHING,
        ", ".join(tags),
        sets.get("path", NOTHING),
        _metrics(meta, stage),
    ]


def _json(folder: Path, tags: Sequence[str]) -> dict[str, Any]:
    """A run in ``runs list --json``; ``error`` says why one cannot be read."""
    named = {"run": folder.name, "tags": list(tags)}
    try:
        meta = read_meta(folder)
        stage = last_stage(folder)
    except DataError as error:
        return {**named, "error": error.message}
    return {
        **named,
        "created": meta.get("created"),
        "name": meta.get("name"),
        "evaluation_set": meta.get("data", {}).get("evaluation_set"),
        "stage": stage,
        "metrics": meta.get("stages", {}).get(stage, {}).get("metrics", {}),
    }


def _metrics(meta: Mapping[str, Any], stage: str) -> str:
    """The metrics that the settings name first, at one stage."""
    values = meta.get("stages", {}).get(stage, {}).get("metrics", {})
    named = meta.get("settings", {}).get("score", {}).get("metrics", [])
    shown = [name for name in named if name in values][:_MAIN_METRICS]
    return " ".join(
        f"{Metric.parse(name).label}={decimal(values[name].get('mean'))}" for name in shown
    )


@app.command()
def show(run: RunName, out: Out = DEFAULT_OUT) -> None:
    """The settings of a run, and its table."""
    folder = find_run(out, run)
    found = read_run(folder)
    rows = [[key, value] for key, value in flattened(found.meta.get("settings", {})).items()]
    tags = tags_of(read_tags(out), folder.name) if folder.parent.resolve() == out.resolve() else ()
    if tags:
        typer.echo(visible(f"tags: {', '.join(tags)}"))
    print_table(["setting", "value"], rows, text_columns=2)
    typer.echo()
    print_run_table(found)
    for line in warning_lines(found):
        typer.echo(f"warning: {visible(line)}")
    if (folder / REPORT).is_file():
        typer.echo(f"report: {folder / REPORT}")


app.command("best")(best)
app.command("tag")(tag)
app.command("trend")(trend_command)
app.command("easy")(easy)
