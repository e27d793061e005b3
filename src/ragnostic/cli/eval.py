"""``ragnostic eval``: from a configuration to a run folder, a table and a report."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated, Any

import typer

from ragnostic import config, plugins
from ragnostic.cli.console import in_background, print_json, print_warnings, progress_on
from ragnostic.cli.gate_table import exit_code, print_gate
from ragnostic.cli.lacking import lacking_lines
from ragnostic.cli.run_table import print_run_table, stages_json, warning_lines
from ragnostic.cli.set_table import sets_json
from ragnostic.config import Configuration
from ragnostic.errors import UsageError
from ragnostic.metrics import Metric
from ragnostic.offline.evaluation_run import Job, evaluate
from ragnostic.offline.gate import Gate, JudgedRun, judge_run, plan_gate
from ragnostic.offline.run_folder import REPORT, check_out, read_run, write_run
from ragnostic.report.run import RunData
from ragnostic.report.visible import visible
from ragnostic.stats.gate_rules import check_rule

DEFAULT_OUT = Path("runs")


def evaluate_command(
    configuration: Annotated[Path, typer.Argument(metavar="CONFIG.toml", help="The settings.")],
    *,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="a.b=value", help="Override a setting; may be repeated."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Parent of the run folders (default: run.out, else runs).")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Ignore cached vectors.")] = False,
    gates: Annotated[
        list[str] | None,
        typer.Option(
            "--gate",
            metavar="RULE",
            help="A rule that the run must keep to, beside those of [gate]; may be repeated.",
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="The run that changes are measured against: a run folder, an id or a tag.",
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 5 where the gate is INCONCLUSIVE.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """Evaluate a retriever, with and without its reranker, on an evaluation set.

    Prints the stages side by side and writes a run folder with the report. With gate rules the
    exit code says whether the run keeps to them; the folder is written in any case.
    """
    loaded = load_configuration(configuration, sets or [])
    out = out or out_of(loaded)
    gate = plan_gate(loaded, out, rules=gates or [], baseline=baseline, strict=strict)
    if gate is None and (baseline or strict):
        print_warnings(["there are no gate rules, so --baseline and --strict judge nothing"])
    folder = run_and_write(loaded, out, fresh=fresh)
    run = read_run(folder)
    print_warnings(warning_lines(run))
    judged = None if gate is None else _judged(run, gate, folder)
    if as_json:
        verdict = _gate_json(judged) if judged else {}
        print_json({"run": str(folder), "stages": stages_json(run), **sets_json(run), **verdict})
    else:
        print_result(run, folder, judged)
    if gate and judged:
        raise typer.Exit(exit_code(judged.gate, strict=gate.strict))


def _gate_json(judged: JudgedRun) -> dict[str, Any]:
    """``gate``, and ``queries`` as in ``compare --json`` where a rule is about a change."""
    found = judged.comparison
    return {"gate": judged.gate.as_json(), **({"queries": found.queries} if found else {})}


def _judged(run: RunData, gate: Gate, folder: Path) -> JudgedRun:
    """The verdict; where there can be none the message says that the run is there all the same."""
    try:
        return judge_run(run, gate.rules, gate.base)
    except UsageError as error:
        raise UsageError(
            f"{error}\nnot judged; the run is in {folder}",
            hint="ragnostic compare judges it without running it again",
        ) from error


def load_configuration(path: Path, sets: list[str]) -> Configuration:
    """A configuration checked against the installed plugins and metrics."""
    with redirect_stdout(sys.stderr):  # a plugin that prints must not spoil --json
        return config.load(
            path,
            find_plugin=plugins.load,
            check_metric=Metric.parse,
            check_rule=check_rule,
            sets=sets,
        )


def out_of(configuration: Configuration) -> Path:
    """Where the configuration puts run folders."""
    written = configuration.settings.run.out
    return DEFAULT_OUT if written is None else configuration.path(written)


def run_and_write(configuration: Configuration, out: Path, *, fresh: bool) -> Path:
    """Run the evaluation with progress on stderr; the new run folder.

    What functions of the user print goes to stderr too: stdout holds our result only.
    """
    check_out(out)
    with redirect_stdout(sys.stderr), progress_on(sys.stderr) as progress:
        run = in_background(lambda: evaluate(configuration, Job(progress, fresh)))
        progress("report", 0, 1)
        folder = write_run(
            out, str(run.meta["run"]), run, lambda named: _page(named, configuration)
        )
        progress("report", 1, 1)
    return folder


def _page(run: RunData, configuration: Configuration) -> str:
    from ragnostic.report import render_run  # noqa: PLC0415 - heavy, loaded on use

    settings = configuration.settings.report
    return render_run(run, language=settings.language, worst=settings.worst)


def print_result(run: RunData, folder: Path, judged: JudgedRun | None = None) -> None:
    """The table, the gate if there is one with what it leaves out, and where the report is."""
    print_run_table(run)
    if judged is not None:
        print_gate(judged.gate)
        for line in lacking_lines(judged.comparison.comparison) if judged.comparison else ():
            typer.echo(visible(line))
    typer.echo(f"report: {folder / REPORT}")
