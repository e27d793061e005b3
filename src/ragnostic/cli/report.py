"""``ragnostic report``: one HTML page from a run, or from files without any run."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from ragnostic.cli.console import print_warnings
from ragnostic.cli.run_table import warning_lines
from ragnostic.errors import UsageError
from ragnostic.offline.judged_files import run_from_qrels, run_from_records
from ragnostic.offline.run_folder import REPORT, find_run, read_run
from ragnostic.report import render_run


class Language(StrEnum):
    """Languages of the page."""

    zh = "zh"
    en = "en"


def report(
    run: Annotated[
        str | None, typer.Argument(metavar="RUN", help="A run folder or run id.")
    ] = None,
    *,
    records: Annotated[
        Path | None, typer.Option(help="Records that hold judgments: Parquet, JSON Lines.")
    ] = None,
    qrels: Annotated[Path | None, typer.Option(help="Judgments, with --run.")] = None,
    run_file: Annotated[Path | None, typer.Option("--run", help="Rankings, with --qrels.")] = None,
    corpus: Annotated[
        Path | None, typer.Option(help="Texts, so that the page can show them.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The HTML file (default: the run's own; from files, report.html in this folder)."
        ),
    ] = None,
    runs: Annotated[Path, typer.Option(help="Where run ids are looked for.")] = Path("runs"),
    lang: Annotated[Language | None, typer.Option(help="Language of the page.")] = None,
) -> None:
    """Write the report of a run again, or make one from files.

    With --records, or --qrels and --run, a retriever is judged alone, without any pipeline.
    """
    if run is not None and not (records or qrels or run_file or corpus):
        folder = find_run(runs, run)
        found, target = read_run(folder), out or folder / REPORT
    elif records is not None and not (run or qrels or run_file):
        found, target = run_from_records(records, corpus), out or Path(REPORT)
    elif qrels is not None and run_file is not None and not (run or records):
        found, target = run_from_qrels(qrels, run_file, corpus), out or Path(REPORT)
    else:
        raise UsageError(
            "name one thing to report on: RUN, or --records FILE, or --qrels FILE with --run FILE",
            hint="--corpus goes with files only; see ragnostic report --help",
        )
    settings = found.meta.get("settings", {}).get("report", {})
    language: Any = lang.value if lang else settings.get("language", "zh")
    print_warnings(warning_lines(found))
    write_page(target, render_run(found, language=language, worst=settings.get("worst", 20)))
    typer.echo(f"report: {target}")


def write_page(target: Path, page: str) -> None:
    """Write the page; raises UsageError where that is not possible."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(page, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {target}: {error.strerror}") from error
