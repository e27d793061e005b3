"""``ragnostic score``: a run against qrels, or records against their own judgments."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from ragnostic.cli.choices import Missing, ScoreOrder
from ragnostic.cli.console import print_json, print_table, print_warnings
from ragnostic.errors import Fault, UsageError
from ragnostic.evalset.qrels import load_qrels
from ragnostic.evalset.record_files import read_records, record_stages, stages_of_ranks
from ragnostic.evalset.runs import Run
from ragnostic.metrics import Metric, parse_list
from ragnostic.offline.bad_rows import check_share
from ragnostic.offline.evaluation import (
    DEFAULT_METRICS,
    Evaluation,
    columns_read,
    evaluate,
    evaluate_records,
)
from ragnostic.offline.per_query import write_per_query
from ragnostic.report.numbers import decimal
from ragnostic.scoring import Plan


class ScorePrecision(StrEnum):
    """How scores are compared."""

    float64 = "float64"
    float32 = "float32"


class Grades(StrEnum):
    """Which grades are read."""

    whole = "whole"
    real = "real"


def score(
    *,
    qrels: Annotated[
        Path | None, typer.Option(help="Judgments: TREC, BEIR TSV, CSV, JSON Lines, Parquet.")
    ] = None,
    run: Annotated[
        Path | None, typer.Option(help="Results: TREC, CSV, JSON, JSON Lines, Parquet.")
    ] = None,
    records: Annotated[
        Path | None, typer.Option(help="Records that hold judgments: Parquet, JSON Lines.")
    ] = None,
    stage: Annotated[
        str | None, typer.Option(help="Stage of the records (default: the last one).")
    ] = None,
    metrics: Annotated[str, typer.Option(help="Comma-separated metric names.")] = DEFAULT_METRICS,
    per_query: Annotated[
        Path | None, typer.Option(help="Write values a query: .csv, .jsonl or .parquet.")
    ] = None,
    missing: Annotated[
        Missing, typer.Option(help="Judged queries without results: score 0, or leave out.")
    ] = Missing.zero,
    score_order: Annotated[
        ScoreOrder, typer.Option(help="similarity: higher is better; distance: lower is.")
    ] = ScoreOrder.similarity,
    score_precision: Annotated[
        ScorePrecision, typer.Option(help="float32 rounds scores first, as trec_eval does.")
    ] = ScorePrecision.float64,
    grades: Annotated[Grades, typer.Option(help="real allows fractions.")] = Grades.whole,
    bad_rows: Annotated[
        float,
        typer.Option(min=0, max=1, help="Share of unreadable rows above which nothing is scored."),
    ] = 0.01,
    json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Score a run against qrels, or records against the judgments they hold."""
    if records is not None and qrels is None and run is None:
        plan = Plan(tuple(parse_list(metrics)), "", missing.value, score_order=score_order.value)
        result = _score_records(records, stage, plan, bad_rows)
    elif qrels is not None and run is not None and records is None and stage is None:
        judged = load_qrels(qrels, grades=grades.value)
        check_share(qrels, judged.faults, good=judged.rows, limit=bad_rows)
        rankings = Run(run, score_order.value, score_precision.value)
        result = evaluate(judged, rankings, metrics, missing=missing.value)
        check_share(run, rankings.faults, good=rankings.rows, limit=bad_rows)
    else:
        raise UsageError(
            "give either --qrels FILE and --run FILE, or --records FILE (with --stage if needed)",
            hint="ragnostic score --help",
        )
    if per_query is not None:
        write_per_query(result.per_query, per_query)
    _show(result.as_json(), as_json=json)


def _score_records(path: Path, stage: str | None, plan: Plan, bad_rows: float) -> Evaluation:
    faults: list[Fault] = []
    stages = record_stages(path)
    if stage is not None and stage not in stages:
        raise UsageError(f"{path}: no stage {stage!r}; there are: {', '.join(stages)}")
    plan = replace(plan, stage=stage or stages[-1])
    if plan.stage in stages_of_ranks(path):
        plan = replace(plan, score_order="rank")
    batches = read_records(path, stages, faults, columns_read(plan))
    result = evaluate_records(batches, plan, faults)
    check_share(path, faults, good=result.scored.table.num_rows, limit=bad_rows)
    return result


def _show(summary: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(summary)
        return
    print_warnings(summary["warnings"])
    rows = [_row(Metric.parse(name).label, found) for name, found in summary["metrics"].items()]
    print_table(["metric", "mean", "low", "high", "n", "missing", "unscored", "failed"], rows)
    judged = [name for name in summary if name.startswith("Judged@")]
    print_table(
        ["counted", "value"],
        [
            *([name, decimal(summary[name])] for name in judged),
            *([name, str(summary[name])] for name in ("ties", "duplicates", "unjudged_queries")),
        ],
    )


def _row(label: str, found: dict[str, Any]) -> list[str]:
    numbers = [decimal(found[name]) for name in ("mean", "low", "high")]
    counts = [str(found[name]) for name in ("n", "missing", "unscored", "failed")]
    reason = f" ({found['reason']})" if "reason" in found else ""
    return [f"{label}{reason}", *numbers, *counts]
