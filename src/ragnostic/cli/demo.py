"""``ragnostic demo``: the whole offline job on the bundled set."""

from __future__ import annotations

import shlex
import shutil
import sys
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import typer

from ragnostic.cli.console import print_warnings
from ragnostic.cli.eval import load_configuration, print_result, run_and_write
from ragnostic.cli.run_table import warning_lines
from ragnostic.errors import counted
from ragnostic.offline.inputs import Inputs, load_inputs
from ragnostic.offline.run_folder import read_run
from ragnostic.ports import no_progress

DEMO_OUT = Path("demo-runs")


def demo(
    out: Annotated[Path, typer.Option(help="Parent of the run folder.")] = DEMO_OUT,
    fresh: Annotated[bool, typer.Option("--fresh", help="Ignore cached vectors.")] = False,
) -> None:
    """Run BM25 and the embedding reranker over a bilingual company handbook.

    Needs no network and no settings; ends with the place of the report, which is in Chinese, and
    the command that writes it in English.
    """
    with as_file(files("ragnostic.evalset").joinpath("demo")) as bundled:
        configuration = load_configuration(bundled / "demo.toml", [])
        typer.echo(introduction(load_inputs(configuration, no_progress)), err=True)
        folder = run_and_write(configuration, out, fresh=fresh)
    run = read_run(folder)
    print_warnings(warning_lines(run))
    print_result(run, folder)
    typer.echo(f"in English: {program()} report {shlex.quote(str(folder))} --lang en")


def program() -> str:
    """How this program can be called again from here: by name if it is on the path."""
    called = Path(sys.argv[0])
    return "ragnostic" if shutil.which("ragnostic") or called.name != "ragnostic" else str(called)


def introduction(inputs: Inputs) -> str:
    """What is about to happen, in one line."""
    documents = len(inputs.corpus.documents) if inputs.corpus else 0
    return (
        f"demo: BM25, then a reranker, on the set {inputs.path!r}: "
        f"{counted(documents, 'document')}, {counted(len(inputs.queries), 'query', 'queries')}; "
        "the first time takes a minute or two"
    )
