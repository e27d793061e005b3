"""``ragnostic answers``: what retrieval is worth to the answers of a generator."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated

import typer

from ragnostic.cli import fail
from ragnostic.cli.answer_table import print_answer_link
from ragnostic.cli.console import in_background, print_json, progress_on
from ragnostic.cli.eval import load_configuration
from ragnostic.errors import EXIT_INTERRUPTED, UsageError, counted
from ragnostic.offline.answer_files import ANSWERS, GRADES, MAX_GRADE, drop_answers
from ragnostic.offline.answers import (
    AnswerJob,
    Answers,
    build_generator,
    final_context,
    generate_answers,
)
from ragnostic.offline.calls import CallPolicy
from ragnostic.offline.grade_import import import_grades
from ragnostic.offline.grading_sheet import write_sheet
from ragnostic.offline.run_folder import find_run, read_run
from ragnostic.report.answer_link import answer_link
from ragnostic.report.answer_tables import OK
from ragnostic.report.visible import visible

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="What retrieval is worth to the answers of a generator.",
)
Run = Annotated[str, typer.Argument(metavar="RUN", help="A run folder, its id, or a tag.")]
Runs = Annotated[Path, typer.Option(help="Where run ids are looked for.")]
_DEFAULT_RUNS = Path("runs")
_LISTED = 20


@app.command()
def generate(
    run: Run,
    *,
    configuration: Annotated[
        Path, typer.Option("--config", help="The configuration, with [generate].")
    ],
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="a.b=value", help="Override a setting; may be repeated."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Ask the first so many queries only.")
    ] = None,
    stage: Annotated[
        str | None, typer.Option(help="Whose chunks are the context (default: the final stage).")
    ] = None,
    top_n: Annotated[
        int | None,
        typer.Option(min=1, help="How many chunks (default: rerank.top_n of the run, else 5)."),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Drop the answers that are there and ask again.")
    ] = False,
    runs: Runs = _DEFAULT_RUNS,
) -> None:
    """Ask a generator every query twice: with the retrieved chunks, and without.

    Answers are kept one by one: after an interruption the same command goes on.
    """
    folder = find_run(runs, run)
    loaded = load_configuration(configuration, sets or [])
    found = read_run(folder)
    chosen, depth = final_context(found, stage, top_n)
    settings = loaded.settings
    with redirect_stdout(sys.stderr), progress_on(sys.stderr) as progress:
        generator = build_generator(loaded, os.environ)
        job = AnswerJob(
            chosen, depth, limit, settings.generate.prompts, settings.run.max_failed, progress
        )
        policy = CallPolicy(retries=settings.run.retries)
        if fresh:
            drop_answers(folder)
        try:
            answers = in_background(lambda: generate_answers(folder, found, generator, job, policy))
        except KeyboardInterrupt:
            fail("interrupted; the same command goes on from the answers so far", EXIT_INTERRUPTED)
    _print_answers(answers, folder)


def _print_answers(answers: Answers, folder: Path) -> None:
    failed = [row for row in answers.rows if row.status != OK]
    _warn([f"{row.query_id}, {row.arm} context: {row.status}: {row.error}" for row in failed])
    given = len(answers.rows) - len(failed)
    typer.echo(f"{counted(given, 'answer')}: {answers.kept} kept, {answers.asked} asked now")
    if failed:
        counts = ", ".join(f"{count} {status}" for status, count in answers.failures.items())
        typer.echo(f"no answer to {counted(len(failed), 'question')}: {counts}")
    typer.echo(f"answers: {folder / ANSWERS}")


@app.command()
def sheet(
    run: Run,
    out: Annotated[Path, typer.Option(help="The sheet: .csv or .jsonl.")],
    seed: Annotated[int, typer.Option(help="Of the order of the rows.")] = 0,
    runs: Runs = _DEFAULT_RUNS,
) -> None:
    """Write a blind grading sheet: nothing in it says which answer had the context."""
    folder = find_run(runs, run)
    found = read_run(folder)
    count = write_sheet(folder, found, out, seed)
    link = answer_link(found)
    if link is not None and link.failures:
        _warn([f"{counted(link.failures, 'question has', 'questions have')} no answer to grade"])
    typer.echo(f"{counted(count, 'answer')} to grade: {out}")


@app.command()
def grade(
    run: Run,
    sheets: Annotated[
        list[Path], typer.Argument(metavar="SHEET...", help="Graded sheets, one a grader.")
    ],
    max_grade: Annotated[
        int, typer.Option(min=1, max=100, help="The best grade; 0 is the worst.")
    ] = MAX_GRADE,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Forget the grades that are there.")
    ] = False,
    runs: Runs = _DEFAULT_RUNS,
) -> None:
    """Read graded sheets. Grades of other graders that are there stay."""
    folder = find_run(runs, run)
    found = import_grades(folder, sheets, max_grade=max_grade, fresh=fresh)
    _warn(found.warnings)
    left_out = found.left_out
    typer.echo(
        f"{counted(len(found.grades), 'grade')} read; {left_out['empty']} empty, "
        f"{left_out['bad']} bad, {left_out['unknown']} unknown"
    )
    if found.replaced:
        typer.echo(f"{counted(found.replaced, 'earlier grade')} of the same graders replaced")
    typer.echo(f"grades: {folder / GRADES}")


@app.command()
def show(
    run: Run,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
    runs: Runs = _DEFAULT_RUNS,
) -> None:
    """The exchange rate: how much answer grade moves with each retrieval metric."""
    folder = find_run(runs, run)
    link = answer_link(read_run(folder))
    if link is None:
        raise UsageError(
            f"{folder} holds no answers",
            hint=f"first: ragnostic answers generate {folder.name} --config FILE",
        )
    if as_json:
        print_json(link.as_json())
    else:
        print_answer_link(link)


def _warn(lines: Sequence[str]) -> None:
    """Warnings on stderr, as many as a person reads."""
    for line in lines[:_LISTED]:
        typer.echo(f"warning: {visible(line)}", err=True)
    if len(lines) > _LISTED:
        typer.echo(f"warning: … and {len(lines) - _LISTED} more", err=True)
