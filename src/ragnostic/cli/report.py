"""``ragnostic report``: one HTML page from a run, or from files without any run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ragnostic.cli.choices import Language
from ragnostic.cli.console import print_warnings
from ragnostic.cli.pages import refuse_stdout, write_page
from ragnostic.cli.run_table import warning_lines
from ragnostic.errors import UsageError
from ragnostic.metrics import parse_list
from ragnostic.offline.judged_files import (
    DEFAULT_METRICS,
    Shown,
    run_from_qrels,
    run_from_records,
)
from ragnostic.offline.run_folder import REPORT, find_run, read_run
from ragnostic.report import render_run


def report(
    run: Annotated[
        str | None, typer.Argument(metavar="RUN", help="A run folder, its id or its tag.")
    ] = None,
    *,
    records: Annotated[
        Path | None, typer.Option(help="Records that hold judgments: Parquet, JSON Lines.")
    ] = None,
    qrels: Annotated[Path | None, typer.Option(help="Judgments, with --run.")] = None,
    run_file: Annotated[Path | None, typer.Option("--run", help="Rankings, with --qrels.")] = None,
    corpus: Annotated[
        Path | None,
        typer.Option(help="Texts, so that the page can show them; a BEIR folder: queries too."),
    ] = None,
    queries: Annotated[
        Path | None,
        typer.Option(help="Texts of the queries: a queries.jsonl (BEIR) or an evaluation set."),
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(help=f"Comma-separated metric names (default: {','.join(DEFAULT_METRICS)})."),
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
    refuse_stdout(out=out)
    shown = Shown(corpus, queries)
    names = [str(metric) for metric in parse_list(metrics)] if metrics else DEFAULT_METRICS
    if run is not None and not (records or qrels or run_file or corpus or queries or metrics):
        folder = find_run(runs, run)
        found, target = read_run(folder), out or folder / REPORT
    elif records is not None and not (run or qrels or run_file):
        found, target = run_from_records(records, shown, names), out or Path(REPORT)
    elif qrels is not None and run_file is not None and not (run or records):
        found, target = run_from_qrels(qrels, run_file, shown, names), out or Path(REPORT)
    else:
        raise UsageError(
            "name one thing to report on: RUN, or --records FILE, or --qrels FILE with --run FILE",
            hint="--corpus, --queries, --metrics go with files only; see ragnostic report --help",
        )
    settings = found.meta.get("settings", {}).get("report", {})
    language: Any = lang.value if lang else settings.get("language", "zh")
    print_warnings(warning_lines(found))
    write_page(target, render_run(found, language=language, worst=settings.get("worst", 20)))
    typer.echo(f"report: {target}")
