"""``ragnostic diagnose``: where it is lost, why, and what to mend first."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ragnostic.cli.choices import Language
from ragnostic.cli.console import print_json, print_warnings, progress_on
from ragnostic.cli.diagnosis_table import print_diagnosis
from ragnostic.cli.eval import load_configuration
from ragnostic.cli.pages import refuse_stdout, write_page
from ragnostic.diagnose.of_run import DEFAULT_K, Means, diagnose_run
from ragnostic.diagnose.page import diagnosis_view
from ragnostic.offline.run_folder import find_run, read_run
from ragnostic.report.diagnosis_html import render_diagnosis


class ExactChoice(StrEnum):
    """Which exact search stands for the retriever's."""

    auto = "auto"
    bm25 = "bm25"
    dense = "dense"
    hybrid = "hybrid"
    none = "none"


def diagnose(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run folder, its id or its tag.")],
    *,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The run's configuration: its corpus and searches tell what was never retrieved.",
        ),
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a setting of it; repeatable."),
    ] = None,
    k: Annotated[
        int, typer.Option(min=1, help="An item is missed beyond this rank of the last stage.")
    ] = DEFAULT_K,
    index: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="What a service's index holds, a row a chunk: chunk_id, text (JSONL, Parquet).",
        ),
    ] = None,
    exact: Annotated[
        ExactChoice, typer.Option(help="Exact search that stands for the retriever's.")
    ] = ExactChoice.auto,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a page, too, in one file."),
    ] = None,
    language: Annotated[
        Language, typer.Option("--lang", help="Language of the page.")
    ] = Language.zh,
    runs: Annotated[Path, typer.Option(help="Where run ids are looked for.")] = Path("runs"),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """Say why each relevant item was missed, and what mending each cause is worth.

    Every missed item gets one first cause, in the order of the pipeline, with its evidence.
    """
    refuse_stdout(html=html)
    folder = find_run(runs, run)
    read = read_run(folder)
    loaded = None if config is None else load_configuration(config, sets or [])
    with redirect_stdout(sys.stderr), progress_on(sys.stderr) as progress:
        means = Means(loaded, index, exact.value, progress)
        found, remarks = diagnose_run(read, means, k=k)
    texts = {row["id"]: row["text"] for row in read.chunks.to_pylist()}
    if html is not None:
        view = diagnosis_view(found, texts, name=folder.name, remarks=remarks)
        write_page(html, render_diagnosis(view, language.value))
    if as_json:
        print_json({"run": str(folder), **found.as_json(), "warnings": remarks})
        return
    print_warnings(remarks)
    print_diagnosis(found, texts)
    if html is not None:
        typer.echo(f"\npage: {html}")
