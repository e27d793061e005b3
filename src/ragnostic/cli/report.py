"""``ragnostic report``: one HTML page from a run."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from ragnostic.errors import UsageError
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
    records: Annotated[Path | None, typer.Option(help="A Parquet file of records.")] = None,
    qrels: Annotated[Path | None, typer.Option(help="Judgments, with --run.")] = None,
    run_file: Annotated[Path | None, typer.Option("--run", help="Rankings, with --qrels.")] = None,
    corpus: Annotated[
        Path | None, typer.Option(help="Texts, so that the page can show them.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="The HTML file (default: the run's own).")
    ] = None,
    runs: Annotated[Path, typer.Option(help="Where run ids are looked for.")] = Path("runs"),
    lang: Annotated[Language | None, typer.Option(help="Language of the page.")] = None,
) -> None:
    """Write the report of a run again, perhaps in the other language or to another place."""
    if run is None or records or qrels or run_file or corpus:
        raise UsageError("name a run", hint="ragnostic report RUN; see ragnostic runs list")
    folder = find_run(runs, run)
    found = read_run(folder)
    settings = found.meta.get("settings", {}).get("report", {})
    language: Any = lang.value if lang else settings.get("language", "zh")
    page = render_run(found, language=language, worst=settings.get("worst", 20))
    target = out or folder / REPORT
    write_page(target, page)
    typer.echo(f"report: {target}")


def write_page(target: Path, page: str) -> None:
    """Write the page; raises UsageError where that is not possible."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(page, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {target}: {error.strerror}") from error
