"""A run as a table: the stages side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import typer

from ragnostic.cli.checks_table import print_checks
from ragnostic.cli.console import print_table
from ragnostic.cli.set_table import print_sets
from ragnostic.errors import counted
from ragnostic.metrics import Metric
from ragnostic.offline.summary import fault_line
from ragnostic.report.measures import gain
from ragnostic.report.numbers import decimal, signed
from ragnostic.report.run import RunData
from ragnostic.report.scorebook import ScoreBook
from ragnostic.report.sets import evaluation_sets
from ragnostic.report.visible import visible

_EXAMPLES = 3


def print_run_table(run: RunData) -> None:
    """Metric, mean and interval of each stage, the last stage's gain over the first, n (of each
    stage where they differ); then what is not in the means, and evaluation sets side by side.
    """
    stages = run.stages
    head = ["metric"]
    for stage in stages:
        head += [stage, "95 % interval"]
    head += ["gain", "n"] if len(stages) > 1 else ["n"]
    book = ScoreBook(run)
    print_table(head, [_row(run, book, metric) for metric in book.metrics()])
    for line in filter(None, [_count_line(run), *note_lines(run)]):
        typer.echo(visible(line))
    print_sets(evaluation_sets(run, book))
    print_checks(run, book)


def _row(run: RunData, book: ScoreBook, metric: str) -> list[str]:
    summaries = [run.stage_meta(stage).get("metrics", {}).get(metric, {}) for stage in run.stages]
    cells = [Metric.parse(metric).label]
    for summary in summaries:
        cells += [decimal(summary.get("mean")), _interval(summary)]
    if len(run.stages) > 1:
        found = gain(book, run.stages, metric)
        cells.append(signed(None if found is None else found.after - found.before))
    counts = dict.fromkeys(str(summary.get("n", 0)) for summary in summaries)
    return [*cells, " / ".join(counts)]


def _interval(summary: Mapping[str, Any]) -> str:
    if summary.get("low") is None:
        return decimal(None)
    return f"[{decimal(summary['low'])}, {decimal(summary['high'])}]"


def _count_line(run: RunData) -> str:
    """What is not in the means, in one line; empty where everything is."""
    stage = run.stages[-1]
    metrics = list(run.stage_meta(stage).get("metrics", {}).values())
    parts = [
        f"{max(counts)} {name}"
        for name in ("missing", "unscored", "failed")
        if (counts := [metric.get(name, 0) for metric in metrics]) and max(counts)
    ]
    sets = run.meta.get("data", {}).get("evaluation_set", {})
    unanswerable = sets.get("queries", 0) - sets.get("answerable", 0)
    if unanswerable:
        parts.append(f"{unanswerable} unanswerable")
    return (
        f"{counted(run.records.num_rows, 'query', 'queries')}: {', '.join(parts)}" if parts else ""
    )


def note_lines(run: RunData) -> list[str]:
    """Why a mean is missing, and what the scores are without gold that is not in the corpus."""
    lines: list[str] = []
    metrics = ScoreBook(run).metrics()
    for stage in run.stages:
        meta = run.stage_meta(stage)
        summaries = meta.get("metrics", {})
        for name in metrics:
            reason = summaries.get(name, {}).get("reason")
            if reason is not None:
                lines.append(f"{stage}: no {name}: {reason}")
        beside = meta.get("without_dangling", {})
        if beside:
            means = (
                f"{Metric.parse(name).label} {decimal(beside[name]['mean'])}"
                for name in metrics
                if name in beside
            )
            lines.append(f"{stage}, without gold that is not in the corpus: {', '.join(means)}")
    return lines


def warning_lines(run: RunData) -> list[str]:
    """Warnings of the run and of all its stages, for a person: of one kind the first three, and
    how many more there are.
    """
    kinds: dict[str, list[str]] = {}
    for row in _warnings(run, run.stages):
        kinds.setdefault(row["kind"], []).append(fault_line(row))
    lines: list[str] = []
    for kind, found in kinds.items():
        unique = list(dict.fromkeys(found))
        lines += unique[:_EXAMPLES]
        if len(unique) > _EXAMPLES:
            lines.append(f"… and {len(unique) - _EXAMPLES} more of this kind ({kind})")
    return lines


def _warnings(run: RunData, stages: Iterable[str]) -> list[dict[str, Any]]:
    rows = list(run.meta.get("warnings", ()))
    for name in stages:
        rows += run.stage_meta(name).get("warnings", ())
    return rows


def stages_json(run: RunData) -> dict[str, Any]:
    """The stages as ``eval --json`` prints them: each as ``score --json`` would."""
    return {
        stage: {
            **run.stage_meta(stage),
            "warnings": [fault_line(row) for row in _warnings(run, [stage])],
        }
        for stage in run.stages
    }
