"""``ragnostic eval``: from a configuration to a run folder, a table and a report."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated

import typer

from ragnostic import config, plugins
from ragnostic.cli.console import in_background, print_json, print_warnings, progress_on
from ragnostic.cli.run_table import print_run_table, stages_json, warning_lines
from ragnostic.config import Configuration
from ragnostic.metrics import Metric
from ragnostic.offline.evaluation_run import Job, evaluate
from ragnostic.offline.run_folder import REPORT, check_out, read_run, write_run
from ragnostic.report.run import RunData

DEFAULT_OUT = Path("runs")


def evaluate_command(
    configuration: Annotated[Path, typer.Argument(metavar="CONFIG.toml", help="The settings.")],
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="a.b=value", help="Override a setting; may be repeated."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Parent of the run folders (default: run.out, else runs).")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Ignore cached vectors.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """Evaluate a retriever, with and without its reranker, on an evaluation set.

    Prints the stages side by side and writes a run folder with the report.
    """
    loaded = load_configuration(configuration, sets or [])
    folder = run_and_write(loaded, out or out_of(loaded), fresh=fresh)
    run = read_run(folder)
    print_warnings(warning_lines(run))
    if as_json:
        print_json({"run": str(folder), "stages": stages_json(run)})
    else:
        print_result(run, folder)


def load_configuration(path: Path, sets: list[str]) -> Configuration:
    """A configuration checked against the installed plugins and metrics."""
    with redirect_stdout(sys.stderr):  # a plugin that prints must not spoil --json
        return config.load(path, find_plugin=plugins.load, check_metric=Metric.parse, sets=sets)


def out_of(configuration: Configuration) -> Path:
    """Where the configuration puts run folders."""
    written = configuration.settings.run.out
    return DEFAULT_OUT if written is None else configuration.path(written)


def run_and_write(configuration: Configuration, out: Path, *, fresh: bool) -> Path:
    """Run the evaluation with progress on stderr; the new run folder.

    What functions of the user print goes to stderr too: stdout holds our result only.
    """
    check_out(out)
    with redirect_stdout(sys.stderr), progress_on(sys.stderr) as progress:
        run = in_background(lambda: evaluate(configuration, Job(progress, fresh)))
        progress("report", 0, 1)
        folder = write_run(
            out, str(run.meta["run"]), run, lambda named: _page(named, configuration)
        )
        progress("report", 1, 1)
    return folder


def _page(run: RunData, configuration: Configuration) -> str:
    from ragnostic.report import render_run  # noqa: PLC0415 - heavy, loaded on use

    settings = configuration.settings.report
    return render_run(run, language=settings.language, worst=settings.worst)


def print_result(run: RunData, folder: Path) -> None:
    """The table, and where the report is."""
    print_run_table(run)
    typer.echo(f"report: {folder / REPORT}")
