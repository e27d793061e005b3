"""``ragnostic runs``: what has been measured so far."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from ragnostic.cli.console import print_table
from ragnostic.cli.run_table import print_run_table, warning_lines
from ragnostic.errors import DataError
from ragnostic.metrics import Metric
from ragnostic.offline.run_folder import (
    REPORT,
    find_run,
    last_stage,
    list_runs,
    read_meta,
    read_run,
)
from ragnostic.report.html import moment
from ragnostic.report.numbers import decimal
from ragnostic.report.visible import visible

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="List and show the runs of a folder.",
)
Out = Annotated[Path, typer.Option(help="Parent of the run folders.")]
_MAIN_METRICS = 3
_DEFAULT_OUT = Path("runs")


@app.command("list")
def list_command(out: Out = _DEFAULT_OUT) -> None:
    """All runs below a folder, oldest first, with the final stage's main metrics."""
    folders = list_runs(out)
    if not folders:
        typer.echo(f"{out} holds no runs", err=True)
        return
    print_table(["run", "created", "name", "set", "metrics"], map(_line, folders), text_columns=5)


def _line(folder: Path) -> list[str]:
    try:
        meta = read_meta(folder)
    except DataError as error:
        return [folder.name, "–", "–", "–", error.message]
    sets = meta.get("data", {}).get("evaluation_set", {})
    created = moment(str(meta.get("created") or "–"))
    metrics = _metrics(meta, last_stage(folder))
    return [folder.name, created, meta.get("name") or "–", sets.get("path", "–"), metrics]


def _metrics(meta: Mapping[str, Any], stage: str) -> str:
    """The metrics that the settings name first, at one stage."""
    values = meta.get("stages", {}).get(stage, {}).get("metrics", {})
    named = meta.get("settings", {}).get("score", {}).get("metrics", [])
    shown = [name for name in named if name in values][:_MAIN_METRICS]
    return " ".join(
        f"{Metric.parse(name).label}={decimal(values[name].get('mean'))}" for name in shown
    )


@app.command()
def show(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="A run folder, its id, or the id's beginning.")
    ],
    out: Out = _DEFAULT_OUT,
) -> None:
    """The settings of a run, and its table."""
    folder = find_run(out, run)
    found = read_run(folder)
    rows = [[key, value] for key, value in _flat(found.meta.get("settings", {}))]
    print_table(["setting", "value"], rows, text_columns=2)
    typer.echo()
    print_run_table(found)
    for line in warning_lines(found):
        typer.echo(f"warning: {visible(line)}")
    if (folder / REPORT).is_file():
        typer.echo(f"report: {folder / REPORT}")


def _flat(tables: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for key, value in tables.items():
        if isinstance(value, Mapping):
            found += _flat(value, f"{prefix}{key}.")
        elif value is not None:
            found.append((f"{prefix}{key}", _shown(value)))
    return found


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
