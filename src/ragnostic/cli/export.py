"""``ragnostic export``: figures for other systems."""

from __future__ import annotations

import os
from datetime import UTC, datetime

import typer

from ragnostic.cli.live_options import Store
from ragnostic.exporters.prometheus import exposition
from ragnostic.monitor.exported import exported
from ragnostic.monitor.live_store import open_store
from ragnostic.monitor.rollups.rolling import roll_up

app = typer.Typer(no_args_is_help=True, help="Figures of live traffic for other systems.")


@app.callback()
def export() -> None:
    """Figures of live traffic for other systems."""


@app.command()
def prometheus(*, store: Store) -> None:
    """Print the figures of a store as Prometheus scrapes them.

    For the text file collector of the node exporter, from cron. Brings the roll-ups up to date
    first.
    """
    with open_store(store, os.environ) as opened:
        roll_up(opened)
        typer.echo(exposition(exported(opened, datetime.now(UTC))), nl=False)
