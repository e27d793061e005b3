"""``ragnostic compare``: better, worse or cannot tell, on which queries, and a gate for CI."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragnostic.cli.choices import Language, Missing, ScoreOrder
from ragnostic.cli.comparison_tables import print_comparison
from ragnostic.cli.console import print_json, print_warnings
from ragnostic.cli.gate_table import exit_code
from ragnostic.cli.pages import refuse_stdout, write_page
from ragnostic.errors import UsageError
from ragnostic.evalset.qrels import Qrels, load_qrels
from ragnostic.evalset.runs import Run
from ragnostic.offline.bad_rows import check_share
from ragnostic.offline.compare import compare
from ragnostic.offline.compare_table import values_table
from ragnostic.offline.per_query import write_per_query
from ragnostic.offline.run_folder import find_run, read_meta
from ragnostic.report.run import mapping

if TYPE_CHECKING:
    from ragnostic.offline.compare import ComparisonResult


def compare_command(
    base: Annotated[
        str,
        typer.Argument(
            metavar="BASE",
            help="A run folder, run id, the id's beginning, or tag; with --qrels a run file."
            " Several with commas: runs of one system.",
        ),
    ],
    candidate: Annotated[
        str, typer.Argument(metavar="CANDIDATE", help="What is compared with it; the same forms.")
    ],
    *,
    qrels: Annotated[
        Path | None, typer.Option(help="Judgments: compares run files instead of run folders.")
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(help="Comma-separated metric names (default: those that both sides have)."),
    ] = None,
    gate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RULE", help='A rule to keep, such as "nDCG@10 >= -0.02"; may be repeated.'
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 5 where the gate cannot decide.")
    ] = False,
    stage: Annotated[
        str | None, typer.Option(help="Stage to compare (default: each side's final one).")
    ] = None,
    missing: Annotated[
        Missing,
        typer.Option(help="With --qrels, judged queries without results: score 0, or leave out."),
    ] = Missing.zero,
    score_order: Annotated[
        ScoreOrder,
        typer.Option(help="With --qrels, similarity: higher is better; distance: lower is."),
    ] = ScoreOrder.similarity,
    bad_rows: Annotated[
        float,
        typer.Option(
            min=0, max=1, help="With --qrels, share of unreadable rows above which nothing is done."
        ),
    ] = 0.01,
    runs: Annotated[Path, typer.Option(help="Where run ids and tags are looked for.")] = Path(
        "runs"
    ),
    markdown: Annotated[
        Path | None, typer.Option(help="Write a summary for a CI page, below 900 kB.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write the comparison page.")] = None,
    lang: Annotated[
        Language | None,
        typer.Option(
            help="Language of page and summary (default: that of the candidate's report, else zh)."
        ),
    ] = None,
    per_query: Annotated[
        Path | None,
        typer.Option(help="Write both values of every query: .csv, .jsonl or .parquet."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Compare two systems over the queries that both answered, and judge the difference.

    Differences are paired, with 95 % intervals and a randomization test. Exit code 1: a gate
    rule is broken; 5: it cannot be decided (with --strict); 2: the runs cannot be compared.
    """
    refuse_stdout(markdown=markdown, html=html, per_query=per_query)
    if strict and not gate:
        raise UsageError("--strict needs a rule to be strict about", hint="add --gate RULE")
    judged = None if qrels is None else load_qrels(qrels)
    sides = [_side(text, runs, judged, score_order.value) for text in (base, candidate)]
    result = compare(
        *sides,
        qrels=judged,
        metrics=metrics,
        gates=gate or (),
        stage=stage,
        missing=missing.value,
        score_order=score_order.value,
    )
    if qrels is not None and judged is not None:
        check_share(qrels, judged.faults, good=judged.rows, limit=bad_rows)
        for run in (run for side in sides for run in side):
            check_share(run.path, run.faults, good=run.rows, limit=bad_rows)
    language = lang.value if lang else _language(sides[1][0])
    _write(result, markdown, html, per_query, language)
    if json:
        print_json(result.as_json())
    else:
        print_warnings(map(str, result.warnings))
        print_comparison(result)
        for path in filter(None, (markdown, html, per_query)):
            typer.echo(f"written: {path}")
    if result.gate is not None:
        code = exit_code(result.gate, strict=strict)
        if code:
            raise typer.Exit(code)


def _side(text: str, runs: Path, judged: Qrels | None, score_order: Any) -> list[Any]:
    """The run folders, or run files, that an argument names."""
    names = [text] if Path(text).exists() else [part.strip() for part in text.split(",")]
    if not all(names):
        raise UsageError(f"{text!r} names an empty run", hint="write RUN,RUN")
    if judged is None:
        return [find_run(runs, name) for name in names]
    return [Run(Path(name), score_order) for name in names]


def _language(candidate: Any) -> str:
    """The language that a run was reported in."""
    if not isinstance(candidate, Path):
        return "zh"
    settings = mapping(read_meta(candidate).get("settings"))
    return str(mapping(settings.get("report")).get("language", "zh"))


def _write(
    result: ComparisonResult,
    markdown: Path | None,
    html: Path | None,
    per_query: Path | None,
    language: Any,
) -> None:
    if per_query is not None:
        write_per_query(values_table(result), per_query)
    if markdown is not None:
        write_page(markdown, result.to_markdown(language=language))
    if html is not None:
        from ragnostic.report import render_comparison  # noqa: PLC0415 - heavy, loaded on use

        write_page(html, render_comparison(result.view, language))
