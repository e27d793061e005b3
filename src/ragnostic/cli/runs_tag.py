"""``ragnostic runs tag``: a name for a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ragnostic.cli.console import print_json
from ragnostic.cli.runs_options import DEFAULT_OUT, AsJson, Out
from ragnostic.errors import UsageError
from ragnostic.offline.history import tag_run
from ragnostic.offline.run_folder import find_run
from ragnostic.offline.tags import delete_tag
from ragnostic.report.visible import visible


def tag(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="A run; with --delete, the tag to delete.")
    ],
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="The tag, such as baseline.")
    ] = None,
    *,
    delete: Annotated[bool, typer.Option("--delete", help="Delete the tag instead.")] = False,
    out: Out = DEFAULT_OUT,
    as_json: AsJson = False,
) -> None:
    """Give a run a name that every command takes in place of its id.

    A tag that exists is moved. `ragnostic runs tag NAME --delete` forgets it.
    """
    tagged, found, before = _deleted(out, run, name) if delete else _tagged(out, run, name)
    if as_json:
        print_json({"tag": tagged, "run": found, "before": before})
    else:
        typer.echo(visible(_line(tagged, found, before)))


def _deleted(out: Path, tag: str, name: str | None) -> tuple[str, None, str]:
    if name is not None:
        raise UsageError("--delete takes the tag alone", hint=f"runs tag {name} --delete")
    return tag, None, delete_tag(out, tag)


def _tagged(out: Path, run: str, name: str | None) -> tuple[str, str, str | None]:
    """Tag, run id, and the run id that the tag stood for before."""
    if name is None:
        raise UsageError("NAME is missing", hint="for example: ragnostic runs tag RUN baseline")
    folder = find_run(out, run)
    return name, folder.name, tag_run(out, folder, name)


def _line(tag: str, run: str | None, before: str | None) -> str:
    if run is None:
        return f"{tag} deleted; it stood for {before}"
    if before is not None and before != run:
        return f"{tag} moved from {before} to {run}"
    return f"{tag} stands for {run}"
