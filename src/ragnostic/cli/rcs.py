"""``ragnostic rcs``: whether the reranker is consistent."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from ragnostic.cli.console import in_background, print_json, print_warnings, progress_on
from ragnostic.cli.eval import load_configuration
from ragnostic.cli.live_options import open_lake
from ragnostic.cli.probes_table import print_rerankings, summary_of
from ragnostic.errors import Fault, UsageError, counted
from ragnostic.evalset.loading import load_evaluation_set
from ragnostic.monitor.perturbations import PERTURBATIONS, parse_perturbations
from ragnostic.monitor.rcs import Probed, probe_reranker
from ragnostic.monitor.windows import DEFAULT_ZONE
from ragnostic.offline.bad_rows import check_share
from ragnostic.offline.implementations import Workshop
from ragnostic.offline.inputs import load_inputs

_ALL = ",".join(PERTURBATIONS)


def rcs(
    queries: Annotated[
        Path,
        typer.Argument(metavar="QUERIES.jsonl", help="Queries, as an evaluation set has them."),
    ],
    *,
    configuration: Annotated[
        Path, typer.Option("--config", metavar="FILE", help="The configuration of ragnostic eval.")
    ],
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="a.b=value", help="Override a setting; may be repeated."),
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep the pairs in this store, for ragnostic aggregate."),
    ] = None,
    perturb: Annotated[
        str, typer.Option(metavar="LIST", help="What is changed in the query.")
    ] = _ALL,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Ask the first so many queries only.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the perturbations that draw.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """Rerank the candidates of each query again after small changes, and compare the orders.

    Finds the candidates of each query once, with the configured retriever, reranks them as the
    query is asked and once after each change. RCS@10 near 1: the reranker is stable.
    """
    kinds = parse_perturbations(perturb)
    loaded = load_configuration(configuration, sets or [])
    if "rerank" not in loaded.choices:
        raise UsageError(
            'there is no reranker: rerank.use is "none"', hint="choose one in [rerank]"
        )
    lake, zone = (None, DEFAULT_ZONE) if store is None else open_lake(store)
    faults: list[Fault] = []
    asked = load_evaluation_set(queries, faults=faults)
    check_share(queries, faults, good=len(asked), limit=loaded.settings.run.bad_rows)
    asked = asked[:limit]
    now = datetime.now(UTC)
    with redirect_stdout(sys.stderr), progress_on(sys.stderr) as progress:
        inputs = load_inputs(loaded, progress)
        workshop = Workshop(loaded, inputs.chunks, progress)
        found = in_background(
            lambda: probe_reranker(asked, workshop, kinds, now=now, zone=zone, seed=seed)
        )
    if lake is not None and found.pairs.num_rows:
        lake.write("probes", found.pairs, name=f"rcs-{now:%Y%m%dT%H%M%S%f}")
    print_warnings([*map(str, faults), *_warnings(found)])
    counts = {"failed": found.failed, "unchanged": found.unchanged}
    summary = summary_of(found.pairs, kinds, **counts)
    if as_json:
        facts = {"queries": len(asked), "without_candidates": found.empty, "seed": seed}
        print_json({**facts, **summary})
    else:
        print_rerankings(summary)


def _warnings(found: Probed) -> list[str]:
    lines = [f"a call failed: {reason}" for reason in found.reasons]
    if found.empty:
        lines.append(f"{counted(found.empty, 'query has', 'queries have')} no candidates")
    return lines
