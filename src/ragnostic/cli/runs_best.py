"""``ragnostic runs best`` and ``runs easy``: what a history says about runs and about queries."""

from __future__ import annotations

from typing import Annotated

import typer

from ragnostic.cli.console import print_json, print_table, print_warnings
from ragnostic.cli.runs_options import DEFAULT_OUT, AsJson, EvaluationSet, Out, left_out_lines
from ragnostic.errors import UsageError, counted
from ragnostic.metrics import Metric
from ragnostic.offline.best_run import BestRun, RankedRun, best_run
from ragnostic.offline.easy_queries import LAST, EasyQueries, easy_queries
from ragnostic.offline.history import read_history
from ragnostic.report.numbers import bound, decimal, signed
from ragnostic.report.visible import excerpt, visible

_SHOWN = 2
_TEXT = 100
_FINDINGS = {
    "better": "the first is better than the second",
    "same": "no query differs between the two",
    "cannot_tell": "cannot tell the two apart",
    "worse": "query by query the second is better: their means are over other queries",
}


def best(
    metric: Annotated[str, typer.Argument(metavar="METRIC", help="For example nDCG@10.")],
    *,
    stage: Annotated[
        str | None, typer.Option(help="The stage to rank by; the final one without it.")
    ] = None,
    evaluation_set: EvaluationSet = None,
    out: Out = DEFAULT_OUT,
    as_json: AsJson = False,
) -> None:
    """The best run of each evaluation set, and whether it beats the second beyond chance."""
    history = read_history(out)
    sets = history.matching(evaluation_set)
    found = [best_run(one, metric, stage) for one in sets]
    print_warnings(left_out_lines(history, sets))
    if not any(one.ranked for one in found):
        at = f" at stage {stage}" if stage else ""
        there = ", ".join(dict.fromkeys(name for one in sets for name in one.metrics(stage)))
        raise UsageError(
            f"no run has a mean of {found[0].metric}{at}", hint=there and f"there are: {there}"
        )
    if as_json:
        print_json({"best": [one.as_json() for one in found]})
        return
    for place, one in enumerate(found):
        if place:
            typer.echo()
        _print_best(one, stage)


def _print_best(found: BestRun, stage: str | None) -> None:
    typer.echo(visible(f"evaluation set {found.run_set}"))
    at = f" at stage {stage}" if stage else ""
    if found.ranked:
        label = Metric.parse(found.metric).label
        head = ["run", "tags", "stage", label, "95 % interval", "n"]
        print_table(head, map(_ranked, found.ranked[:_SHOWN]), text_columns=3)
    if found.lead is not None:
        lead = found.lead.difference
        ends = f"[{bound(lead.low)}, {bound(lead.high)}], " if lead.low is not None else ""
        finding = _FINDINGS[found.lead.finding]
        typer.echo(f"difference {signed(lead.value)} ({ends}p {decimal(lead.p)}): {finding}")
    if found.without:
        typer.echo(f"{counted(found.without, 'run')} without {found.metric}{at} left out")


def _ranked(one: RankedRun) -> list[str]:
    interval = "–" if one.low is None else f"[{decimal(one.low)}, {decimal(one.high)}]"
    return [
        one.run.name,
        ", ".join(one.run.tags),
        one.stage,
        decimal(one.mean),
        interval,
        str(one.n),
    ]


def easy(
    *,
    last: Annotated[int, typer.Option(min=1, help="How many of the latest runs.")] = LAST,
    metric: Annotated[
        str | None,
        typer.Option(help="Easy by the best value of this metric, not by a relevant first result."),
    ] = None,
    evaluation_set: EvaluationSet = None,
    out: Out = DEFAULT_OUT,
    as_json: AsJson = False,
) -> None:
    """Queries with a relevant first result in every one of the last runs.

    They tell versions apart no more: candidates for replacement. Without --set, of the evaluation
    set of the newest run.
    """
    history = read_history(out)
    run_set = history.one(evaluation_set)
    found = easy_queries(run_set, last=last, metric=metric)
    print_warnings(left_out_lines(history, [run_set]))
    if as_json:
        print_json(found.as_json())
        return
    _print_easy(found)


def _print_easy(found: EasyQueries) -> None:
    typer.echo(visible(f"evaluation set {found.run_set}"))
    if found.queries:
        rows = [[one.query_id, excerpt(one.text or "–", _TEXT)] for one in found.queries]
        print_table(["easy query", "text"], rows, text_columns=2)
    what = f"{found.metric} at its best" if found.metric else "a relevant first result"
    runs = counted(len(found.runs), "run")
    typer.echo(f"{len(found.queries)} of {found.asked} queries have {what} in the last {runs}")
