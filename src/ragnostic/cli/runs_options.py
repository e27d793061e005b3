"""Options that the commands of ``ragnostic runs`` share."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from ragnostic.errors import counted
from ragnostic.offline.history import History, RunSet

DEFAULT_OUT = Path("runs")
Out = Annotated[Path, typer.Option(help="Parent of the run folders.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON only.")]
EvaluationSet = Annotated[
    str | None,
    typer.Option("--set", help="Name of an evaluation set, or the beginning of its fingerprint."),
]
RunName = Annotated[
    str, typer.Argument(metavar="RUN", help="A run folder, its id, its tag, or the id's beginning.")
]


def left_out_lines(history: History, sets: Iterable[RunSet]) -> list[str]:
    """What does not take part, for a person."""
    lines = [f"{name} cannot be read: {reason}" for name, reason in history.unreadable]
    if history.unknown:
        lines.append(
            f"{counted(len(history.unknown), 'run')} left out that do not say what was asked: "
            f"{', '.join(history.unknown[:5])}"
        )
    for one in sets:
        if one.others:
            names = ", ".join(run.name for run in one.others[:5])
            lines.append(
                f"{counted(len(one.others), 'run')} of {one.name} left out, measured otherwise "
                f"than the newest (judge, overlap, missing): {names}"
            )
    return lines
