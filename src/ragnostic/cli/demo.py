"""``ragnostic demo``: the whole offline job on the bundled set."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import typer

from ragnostic.cli.console import print_warnings
from ragnostic.cli.eval import load_configuration, print_result, run_and_write
from ragnostic.cli.run_table import warning_lines
from ragnostic.offline.run_folder import read_run

DEMO_OUT = Path("demo-runs")


def demo(
    out: Annotated[Path, typer.Option(help="Parent of the run folder.")] = DEMO_OUT,
    fresh: Annotated[bool, typer.Option("--fresh", help="Ignore cached vectors.")] = False,
) -> None:
    """Run BM25 and the embedding reranker over a bilingual company handbook.

    Needs no network and no settings; ends with the place of the report.
    """
    with as_file(files("ragnostic.evalset").joinpath("demo")) as bundled:
        configuration = load_configuration(bundled / "demo.toml", [])
        folder = run_and_write(configuration, out, fresh=fresh)
    run = read_run(folder)
    print_warnings(warning_lines(run))
    print_result(run, folder)
