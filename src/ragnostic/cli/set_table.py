"""The evaluation sets of a run as a table: side by side, with the gap between them."""

from __future__ import annotations

from collections.abc import Callable
from gettext import NullTranslations
from typing import Any

import typer

from ragnostic.cli.console import print_table
from ragnostic.metrics import Metric
from ragnostic.report.numbers import NOTHING, bound, decimal, signed
from ragnostic.report.run import RunData
from ragnostic.report.set_words import set_sentences
from ragnostic.report.sets import EvaluationSets, SetRow


def print_sets(sets: EvaluationSets | None) -> None:
    """Metric, mean and interval of each set, then what the first is ahead of each other one, and
    a line that says which gaps are a sign of overfitting; nothing for a run of one set.
    """
    if sets is None:
        return
    head = ["metric"]
    for name in sets.names:
        head += [name, "95 % interval"]
    for name in sets.names[1:]:
        head += [f"gap to {name}", "95 % interval"]
    typer.echo()
    print_table(head, map(_row, sets.rows))
    for line in set_sentences(sets, NullTranslations()):
        typer.echo(line)


def _row(row: SetRow) -> list[str]:
    cells = [Metric.parse(row.metric).label]
    for value in row.values:
        cells += [decimal(value.mean), _interval(value.low, value.high, decimal)]
    for gap in row.gaps:
        cells += [signed(gap.difference), _interval(gap.low, gap.high, bound)]
    return cells


def _interval(low: float | None, high: float | None, shown: Callable[[float], str]) -> str:
    return NOTHING if low is None or high is None else f"[{shown(low)}, {shown(high)}]"


def sets_json(run: RunData) -> dict[str, Any]:
    """What ``eval --json`` adds for a run of several evaluation sets; nothing for one set."""
    names = ("sets", "set_gaps")
    return {name: run.meta[name] for name in names if run.meta.get(name) is not None}
