"""``ragnostic sentinel``: the same queries asked again and again, and what has changed."""

from __future__ import annotations

import json
import os
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated

import typer

from ragnostic.cli.alerts_options import SystemClock
from ragnostic.cli.console import in_background, print_json, print_warnings, progress_on
from ragnostic.cli.eval import load_configuration
from ragnostic.cli.live_options import Store
from ragnostic.cli.probes_table import print_rerankings, print_retrieval, summary_of
from ragnostic.errors import EXIT_INTERRUPTED, Fault, RetrievalError, UsageError, counted
from ragnostic.evalset.loading import load_evaluation_set
from ragnostic.monitor.live_store import open_store
from ragnostic.monitor.perturbations import PERTURBATIONS, parse_perturbations
from ragnostic.monitor.sentinel.runs import Plan, SentinelRun, run_sentinel
from ragnostic.offline.bad_rows import check_share
from ragnostic.offline.implementations import Workshop
from ragnostic.offline.inputs import load_inputs
from ragnostic.records import EvalQuery

_ALL = ",".join(PERTURBATIONS)


def sentinel(
    *,
    store: Store,
    configuration: Annotated[
        Path, typer.Option("--config", metavar="FILE", help="The configuration of ragnostic eval.")
    ],
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="a.b=value", help="Override a setting; may be repeated."),
    ] = None,
    queries: Annotated[
        int, typer.Option(min=1, help="Ask the so many most frequent queries of the store.")
    ] = 100,
    days: Annotated[int, typer.Option(min=1, help="Frequent in the last so many days.")] = 7,
    listed: Annotated[
        Path | None,
        typer.Option("--list", metavar="FILE", help="Ask these queries instead of frequent ones."),
    ] = None,
    perturb: Annotated[
        str, typer.Option(metavar="LIST", help="What is changed in the query; none: no reranking.")
    ] = _ALL,
    retrieval: Annotated[
        bool, typer.Option("--retrieval", help="Compare what is found with the day before, too.")
    ] = False,
    rate: Annotated[
        float | None, typer.Option(metavar="N", help="At most so many calls a second.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the perturbations that draw.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """Ask the frequent queries of a store again, and compare the rankings: for cron, every hour
    on 100 queries and every night on 1000.

    Reranks what is found for each query as it is asked and after each change, and keeps the pairs
    in the store as probes. The same command after a kill goes on where it was. Calls that fail are
    counted.
    """
    kinds = () if perturb.strip() == "none" else tuple(parse_perturbations(perturb))
    if not kinds and not retrieval:
        raise UsageError("--perturb none leaves nothing to do", hint="add --retrieval")
    if rate is not None and not 0 < rate < float("inf"):
        raise UsageError(f"--rate {rate:g} is no number of calls a second", hint="such as 5")
    loaded = load_configuration(configuration, sets or [])
    if kinds and "rerank" not in loaded.choices:
        hint = "choose one in [rerank], or compare retrieval alone: --perturb none --retrieval"
        raise UsageError('there is no reranker: rerank.use is "none"', hint=hint)
    faults: list[Fault] = []
    asked = _listed(listed, faults, loaded.settings.run.bad_rows)
    plan = Plan(
        source=json.dumps([str(configuration.resolve()), sets or []]),
        kinds=kinds,
        retrieval=retrieval,
        count=queries,
        days=days,
        listed=asked,
        listed_from="" if listed is None else str(listed.resolve()),
        seed=seed,
        rate=rate,
    )

    def work() -> SentinelRun:
        with open_store(store, os.environ) as opened:
            workshop = Workshop(loaded, load_inputs(loaded, progress).chunks, progress)
            return run_sentinel(opened, workshop, plan, SystemClock())

    try:
        with redirect_stdout(sys.stderr), progress_on(sys.stderr) as progress:
            run = in_background(work)
    except KeyboardInterrupt:
        told = "interrupted; what was done is kept, and the same command goes on from there"
        typer.echo(told, err=True)
        raise typer.Exit(EXIT_INTERRUPTED) from None
    _show(run, plan, [*map(str, faults), *_warnings(run)], as_json=as_json)


def _listed(path: Path | None, faults: list[Fault], limit: float) -> tuple[EvalQuery, ...] | None:
    if path is None:
        return None
    asked = load_evaluation_set(path, faults=faults)
    check_share(path, faults, good=len(asked), limit=limit)
    return tuple(asked)


def _warnings(run: SentinelRun) -> list[str]:
    tally = run.tally
    lines = [f"a call failed: {reason}" for reason in tally.reasons]
    for count, what in (
        (tally.not_retrieved, "got no answer from retrieval"),
        (tally.empty, "had no candidates"),
        (run.gone, "left the store meanwhile"),
    ):
        if count:
            lines.append(f"{counted(count, 'query', 'queries')} {what}")
    if run.resumed:
        lines.append(f"went on with run {run.run}, of which {run.resumed} were done")
    return lines


def _show(run: SentinelRun, plan: Plan, warnings: list[str], *, as_json: bool) -> None:
    print_warnings(warnings)
    tally = run.tally
    summary = summary_of(run.probes, plan.kinds, failed=tally.failed, unchanged=tally.unchanged)
    if as_json:
        print_json(
            {
                "run": run.run,
                "queries": run.queries,
                "resumed": run.resumed,
                "gone": run.gone,
                "not_retrieved": tally.not_retrieved,
                "without_candidates": tally.empty,
                "seed": plan.seed,
                **summary,
            }
        )
    else:
        if plan.kinds:
            print_rerankings(summary)
        if summary["retrieval"] is not None:
            print_retrieval(summary["retrieval"], tally.not_retrieved)
    if not run.probes.num_rows and tally.reasons:
        raise RetrievalError(
            "every call failed, so there is nothing to compare",
            hint="the next run begins anew: mend the cause",
        )
