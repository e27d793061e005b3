"""``ragnostic metrics``: the catalogue."""

from __future__ import annotations

import math
from typing import Annotated

import typer

from ragnostic.cli.console import print_table
from ragnostic.metrics import definitions, signals
from ragnostic.metrics.naming import definition_of
from ragnostic.metrics.registry import Definition, Signal


def metrics(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A metric, for example nDCG@10.")
    ] = None,
) -> None:
    """List the metrics, or say all there is to know of one."""
    if name is None:
        rows = [[_usage(d), _range(d.range), d.purpose] for d in definitions()]
        rows += [[one.write, _range(one.range), one.purpose] for one in signals()]
        print_table(["metric", "range", "what it is for"], rows, text_columns=3)
        return
    bare = name.partition("(")[0].partition("@")[0].strip()
    known = {one.name.lower(): one for one in signals()}.get(bare.lower())
    for line in describe(definition_of(bare)) if known is None else describe_signal(known):
        typer.echo(line)


def describe(definition: Definition) -> list[str]:
    """All lines about one metric."""
    lines = [
        f"{definition.name}: {definition.purpose}",
        f"  formula     {definition.formula}",
        f"  range       {_range(definition.range)}",
        f"  write       {_usage(definition)}",
        f"  defined in  docs/metrics.md, section {definition.section}",
    ]
    if definition.aliases:
        lines.append(f"  also        {', '.join(definition.aliases)}")
    lines += [f"  parameter   {key} = {_allowed(definition, key)}" for key in definition.params]
    return lines


def describe_signal(one: Signal) -> list[str]:
    """All lines about one signal of live traffic."""
    return [
        f"{one.name}: {one.purpose}",
        f"  formula     {one.formula}",
        f"  range       {_range(one.range)}",
        f"  write       {one.write}",
        f"  needs       {one.needs}",
        f"  defined in  docs/metrics.md, section {one.section}",
    ]


def _usage(definition: Definition) -> str:
    return (
        f"{definition.name}@k"
        if definition.cutoff == "required"
        else (definition.name if definition.cutoff == "none" else f"{definition.name}[@k]")
    )


def _range(ends: tuple[float, float] | None) -> str:
    if ends is None:
        return "any"
    low, high = ends
    if math.isinf(high):
        return f"{low:g} and more"
    return f"{low:g} to {high:g}"


def _allowed(definition: Definition, key: str) -> str:
    allowed = definition.params[key]
    if isinstance(allowed, tuple):
        return " | ".join(allowed) + f" (default {allowed[0]})"
    return "none by default" if allowed in ("", None) else f"{allowed!r} by default"
