"""The tables of ``ragnostic index check``."""

from __future__ import annotations

from gettext import NullTranslations

import typer

from ragnostic.cli.console import print_table
from ragnostic.corpus.index_check import IndexCheck
from ragnostic.corpus.index_findings import IndexFinding
from ragnostic.corpus.index_recall import Point
from ragnostic.errors import counted
from ragnostic.report.index_words import index_advice, index_fact, index_title
from ragnostic.report.numbers import NOTHING, decimal, milliseconds
from ragnostic.report.visible import visible

_WORDS = NullTranslations()
"""Messages are English by themselves."""


def print_index_check(found: IndexCheck) -> None:
    """What was looked at, the findings, and recall by effort."""
    against = NOTHING if found.expected is None else counted(found.expected, "chunk")
    typer.echo(
        f"{counted(found.rows, 'row')} of {found.dimension} dimensions, compared by {found.space}; "
        f"held against {against}; {counted(found.compared, 'vector')} embedded again"
    )
    if found.findings:
        print_table(
            ["finding", "count", "of"],
            [
                [index_title(one.kind, _WORDS), str(one.count), str(one.of)]
                for one in found.findings
            ],
        )
        for one in found.findings:
            _print_finding(one)
    else:
        typer.echo("nothing found")
    _print_curve(found)
    if found.untested:
        names = ", ".join(index_title(kind, _WORDS) for kind in found.untested)
        typer.echo(f"\nnot tested: {names}")


def _print_finding(one: IndexFinding) -> None:
    typer.echo(f"\n{index_title(one.kind, _WORDS)}")
    fact = index_fact(one.facts, one.kind, _WORDS)
    if fact:
        typer.echo(f"  {visible(fact)}")
    if one.examples:
        typer.echo(f"  for example {visible(', '.join(one.examples))}")
    typer.echo(f"  {index_advice(one.kind, _WORDS)}")


def _print_curve(found: IndexCheck) -> None:
    if not found.curve:
        return
    typer.echo(
        f"\nrecall of the exact top {found.k}, {counted(found.queries, 'query', 'queries')}, "
        "one at a time on this machine"
    )
    print_table(
        [found.effort or "search", "recall", "low", "high", "P50", "P95", ""],
        [_row(point, found) for point in found.curve],
    )
    advice = found.advice
    if found.effort and advice is None:
        typer.echo(f"no {found.effort} reaches a recall of {found.target}")
    elif found.effort and advice is not None and not advice.usual:
        typer.echo(
            f"the quickest with a recall of {found.target}: {found.effort} = {advice.effort}"
        )


def _row(point: Point, found: IndexCheck) -> list[str]:
    marks = ["as set"] if point.usual else []
    marks += ["quickest"] if point == found.advice and found.effort else []
    return [
        "exact" if point.effort is None else str(point.effort),
        decimal(point.recall),
        decimal(point.low),
        decimal(point.high),
        milliseconds(point.p50_ms),
        milliseconds(point.p95_ms),
        ", ".join(marks),
    ]
