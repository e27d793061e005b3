"""``ragnostic rollup``: the hourly sums that rules, pages and exporters read."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from ragnostic.cli.console import print_json
from ragnostic.cli.live_options import Store
from ragnostic.errors import counted
from ragnostic.monitor.live_store import open_store
from ragnostic.monitor.rollups.rolling import roll_up


def rollup(
    *,
    store: Store,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """Bring the roll-ups of a store up to date: hourly sums of every figure and slice.

    Only days whose scores or probes changed are made anew; doing it again changes nothing.
    """
    with open_store(store, os.environ) as opened:
        done = roll_up(opened)
    if as_json:
        print_json({"days": list(done.days), "rows": done.rows})
    elif done.days:
        typer.echo(f"{counted(len(done.days), 'day')} rolled up: {counted(done.rows, 'row')}")
    else:
        typer.echo("nothing has changed")
