"""``ragnostic index``: whether a vector index holds what the corpus holds, and finds it."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated

import typer

from ragnostic.cli.choices import Language
from ragnostic.cli.console import in_background, print_json, print_warnings, progress_on
from ragnostic.cli.eval import load_configuration
from ragnostic.cli.index_table import print_index_check
from ragnostic.cli.pages import refuse_stdout, write_page
from ragnostic.corpus.index_builds import read_listing, write_listing
from ragnostic.errors import EXIT_GATE, UsageError
from ragnostic.offline.index_job import IndexJob, run_index_check

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Is the vector index up to date, and what does it miss?",
)


@app.callback()
def _group() -> None:
    """Whether the vector index is up to date, and what it misses."""


@app.command("check")
def check(
    configuration: Annotated[
        Path, typer.Argument(metavar="CONFIG.toml", help="The settings, with a table [index].")
    ],
    *,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="a.b=value", help="Override a setting; may be repeated."),
    ] = None,
    before: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What --keep wrote of the build before: are ids stable?"),
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Keep ids and hashes of texts for the next build."),
    ] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the findings as one HTML page.")
    ] = None,
    chart: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write recall against time as .svg or .png."),
    ] = None,
    lang: Annotated[
        Language | None,
        typer.Option(help="Language of page and chart (default: report.language)."),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Ignore cached vectors.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """Look for stale vectors, orphans, duplicates, missing ids and broken vectors in an index, and
    measure what it misses at which effort. The index is not changed.

    Exits with 1 where something was found.
    """
    refuse_stdout(html=html, chart=chart, keep=keep)
    if chart is not None:
        _check_picture(chart)
    loaded = load_configuration(configuration, sets or [])
    listing = None if before is None else read_listing(before)
    with redirect_stdout(sys.stderr), progress_on(sys.stderr) as progress:
        job = IndexJob(progress, listing, listing=keep is not None, fresh=fresh)
        found, faults = in_background(lambda: run_index_check(loaded, job))
    print_warnings(map(str, faults))
    language = lang.value if lang else loaded.settings.report.language
    if keep is not None:
        write_listing(keep, found.listing)
    if html is not None or chart is not None:
        from ragnostic.report.index_html import (  # noqa: PLC0415 - heavy, loaded on use
            render_index,
            write_curve,
        )

        if html is not None:
            write_page(html, render_index(found, language))
        if chart is not None:
            write_curve(chart, found, language)
    if as_json:
        print_json(found.as_json())
    else:
        print_index_check(found)
        if html is not None:
            typer.echo(f"page: {html}")
    if found.findings:
        raise typer.Exit(EXIT_GATE)


def _check_picture(target: Path) -> None:
    """Before anything is measured: an ending that is no picture's."""
    if target.suffix.lower() not in {".svg", ".png"}:
        raise UsageError(f"--chart {target}: neither .svg nor .png")
