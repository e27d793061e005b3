"""``ragnostic demo``: the whole offline job on the bundled set, and what the reranker changed."""

from __future__ import annotations

import shlex
import shutil
import sys
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

import typer

from ragnostic.cli.comparison_tables import verdict_lines
from ragnostic.cli.console import print_warnings
from ragnostic.cli.diagnosis_table import summary_lines
from ragnostic.cli.eval import load_configuration, print_result, run_and_write
from ragnostic.cli.pages import write_page
from ragnostic.cli.run_table import warning_lines
from ragnostic.config import Configuration
from ragnostic.diagnose.of_run import Means, diagnose_run
from ragnostic.diagnose.page import diagnosis_view
from ragnostic.errors import counted
from ragnostic.offline.compare import compare
from ragnostic.offline.inputs import Inputs, load_inputs
from ragnostic.offline.run_folder import read_run
from ragnostic.ports import no_progress
from ragnostic.report import render_comparison
from ragnostic.report.diagnosis_html import render_diagnosis
from ragnostic.report.run import RunData

DEMO_OUT = Path("demo-runs")
COMPARISON, DIAGNOSIS = "comparison.html", "diagnosis.html"


def demo(
    out: Annotated[Path, typer.Option(help="Parent of the run folder.")] = DEMO_OUT,
    fresh: Annotated[bool, typer.Option("--fresh", help="Ignore cached vectors.")] = False,
) -> None:
    """Run BM25 without and with the embedding reranker over a bilingual company handbook.

    Needs no network and no settings; ends with the places of the report and of the comparison of
    both runs, which are in Chinese, why relevant passages are missed, and the commands that write
    the pages in English.
    """
    with as_file(files("ragnostic.evalset").joinpath("demo")) as bundled:
        settings = bundled / "demo.toml"
        configuration = load_configuration(settings, [])
        typer.echo(introduction(load_inputs(configuration, no_progress)), err=True)
        without = load_configuration(settings, ["rerank.use=none", "run.name=BM25 alone"])
        base = run_and_write(without, out, fresh=fresh)
        folder = run_and_write(configuration, out, fresh=fresh)
    run = read_run(folder)
    print_warnings(warning_lines(run))
    print_result(run, folder)
    page = out / COMPARISON
    _compare(base, folder, page)
    _diagnose(run, configuration, out / DIAGNOSIS)
    shown, *both = (shlex.quote(str(path)) for path in (page, base, folder))
    typer.echo("in English:")
    typer.echo(f"  {program()} report {both[1]} --lang en")
    typer.echo(f"  {program()} compare {' '.join(both)} --lang en --html {shown}")


def _compare(base: Path, candidate: Path, page: Path) -> None:
    """Say in a line what the reranker changed, and write the page of it."""
    result = compare(base, candidate)
    *_, said = verdict_lines(result.comparison)
    typer.echo(f"with the reranker against BM25 alone: {said}")
    write_page(page, render_comparison(result.view, "zh"))
    typer.echo(f"comparison: {page}")


def _diagnose(run: RunData, configuration: Configuration, page: Path) -> None:
    """Say why relevant passages are missed, and what to mend first; write the page of it."""
    found, remarks = diagnose_run(run, Means(configuration))
    for line in summary_lines(found):
        typer.echo(line)
    texts = {row["id"]: row["text"] for row in run.chunks.to_pylist()}
    view = diagnosis_view(found, texts, name=str(run.meta.get("name") or ""), remarks=remarks)
    write_page(page, render_diagnosis(view, "zh"))
    typer.echo(f"diagnosis: {page}")


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
