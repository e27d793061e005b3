"""``ragnostic sweep``: all combinations of some settings, compared in one table."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from enum import StrEnum
from pathlib import Path
from threading import Lock
from typing import Annotated

import typer

from ragnostic.cli import fail
from ragnostic.cli.console import in_background, print_json, print_warnings, progress_on
from ragnostic.cli.eval import load_configuration, out_of
from ragnostic.cli.pages import refuse_stdout, write_page
from ragnostic.cli.sweep_table import print_sweep_table, sweep_lines
from ragnostic.errors import EXIT_INTERRUPTED, UsageError, counted
from ragnostic.offline.run_folder import find_run
from ragnostic.offline.run_source import RunSource
from ragnostic.offline.sweep import SweepJob, SweepRuns, run_sweep
from ragnostic.offline.sweep_grid import parse_axes
from ragnostic.offline.sweep_plan import Combination, SweepPlan, plan_sweep
from ragnostic.offline.sweep_result import check_alike, check_baseline, view_of
from ragnostic.offline.sweep_state import read_state
from ragnostic.offline.sweep_winner import write_winner
from ragnostic.report.run import RunData
from ragnostic.report.visible import visible

PAGE = "sweep.html"


class Search(StrEnum):
    """Which combinations are tried."""

    grid = "grid"
    random = "random"
    halving = "halving"


def sweep(
    configuration: Annotated[Path, typer.Argument(metavar="CONFIG.toml", help="The settings.")],
    *,
    grids: Annotated[
        list[str] | None,
        typer.Option("--grid", metavar="a.b=v1,v2", help="Vary a setting; may be repeated."),
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="a.b=value", help="Override a setting; may be repeated."),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="The run to compare with (default: the configuration as it is, else the first "
            "combination).",
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(help="The metric that ranks (default: the first one of the configuration)."),
    ] = None,
    search: Annotated[
        Search, typer.Option(help="Try all combinations, or as many as --budget allows.")
    ] = Search.grid,
    budget: Annotated[
        int | None,
        typer.Option(min=1, help="How many combinations random and halving try."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of random and halving.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Parent of the run folders (default: run.out, else runs).")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Where the page is written (default: the sweep's folder).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """Evaluate all combinations of some settings; what they share is done once.

    Every combination becomes a run folder. Prints one table, best first, with the differences to
    the baseline; writes a page and the winner's settings. The same command goes on after a kill.
    """
    refuse_stdout(html=html)
    if (search is Search.grid) != (budget is None):
        raise UsageError(
            "--budget goes with --search random and --search halving, which need it",
            hint="for example --search random --budget 20",
        )
    sets = sets or []
    axes = parse_axes(grids or [], sets)
    loaded = plan_sweep(
        lambda overrides: load_configuration(configuration, list(overrides)),
        axes,
        sets,
        metric=metric,
        budget=budget,
        seed=seed,
    )
    first = loaded.combinations[0].configuration
    parent = out or out_of(first)
    base = None if baseline is None else check_baseline(find_run(parent, baseline), loaded.metric)
    print_warnings(
        f"{name} has the settings of {same}; it is run once" for name, same in loaded.left_out
    )
    done = _run(loaded, parent, base, search=search, budget=budget or 0, seed=seed)
    view = view_of(loaded, done, base)
    from ragnostic.report.sweep_html import render_sweep  # noqa: PLC0415 - heavy, loaded on use

    page = html or done.folder / PAGE
    write_page(page, render_sweep(view, language=first.settings.report.language))
    best = next((one for one in done.finished if view.best and one.name == view.best.name), None)
    winner = best and write_winner(configuration, sets, best, done.folder, view.sweep)
    if as_json:
        places = {"folder": str(done.folder), "page": str(page)}
        print_json({**view.as_json(), **places, "winner": None if winner is None else str(winner)})
        return
    print_sweep_table(view)
    for line in sweep_lines(view):
        typer.echo(visible(line))
    typer.echo(f"page: {page}")
    if winner is not None:
        typer.echo(f"winner: {winner}")


def _run(
    plan: SweepPlan, out: Path, base: RunSource | None, *, search: Search, budget: int, seed: int
) -> SweepRuns:
    """Run the sweep with progress on stderr; Ctrl-C says what is kept."""
    writing = Lock()
    try:
        with redirect_stdout(sys.stderr), progress_on(sys.stderr) as progress:
            job = SweepJob(
                out=out,
                render=_page_of,
                search=search.value,
                budget=budget,
                seed=seed,
                progress=progress,
                check=None if base is None else lambda run: check_alike(base, run),
                writing=writing,
            )
            return in_background(lambda: run_sweep(plan, job))
    except KeyboardInterrupt:
        # A run that is being written is finished, and none is begun: the lock is never given back.
        writing.acquire()
        state = read_state(out, plan)
        kept = counted(len(state.runs), "combination is", "combinations are")
        fail(
            f"interrupted; {kept} finished and kept in {out}; the same command goes on from there",
            EXIT_INTERRUPTED,
        )


def _page_of(combination: Combination, run: RunData) -> str:
    from ragnostic.report import render_run  # noqa: PLC0415 - heavy, loaded on use

    settings = combination.configuration.settings.report
    return render_run(run, language=settings.language, worst=settings.worst)
