"""``ragnostic export``: figures for other systems."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from ragnostic.cli.alerts_options import RulesFile, rules_path, span
from ragnostic.cli.choices import Language
from ragnostic.cli.live_options import Store
from ragnostic.exporters.prometheus import exposition
from ragnostic.monitor.alerts.prometheus_alerts import Choices, prometheus_alerts
from ragnostic.monitor.alerts.rule_files import load_rules
from ragnostic.monitor.exported import exported
from ragnostic.monitor.live_store import open_store
from ragnostic.monitor.rollups.rolling import roll_up
from ragnostic.monitor.store_settings import check_store

Lang = Annotated[Language, typer.Option("--lang", help="Language of the words.")]

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


@app.command()
def rules(
    *,
    store: Annotated[
        Path | None,
        typer.Option("--store", metavar="DIR", help="A store folder, for the rules that it has."),
    ] = None,
    rules: RulesFile = None,
    lang: Lang = Language.en,
    runbooks: Annotated[
        str, typer.Option(metavar="URL", help="Goes before runbooks that are no address yet.")
    ] = "",
    settle: Annotated[
        str,
        typer.Option(
            metavar="SPAN",
            help="Longer than the pause between two exports; see the head of the file.",
        ),
    ] = "10m",
    by_state: Annotated[
        bool,
        typer.Option(
            "--by-state", help="All by the state that alerts check exports, none in PromQL."
        ),
    ] = False,
) -> None:
    """Print recording and alerting rules for Prometheus, made of the alert rules.

    Those of a file or a store, the shipped ones without either.

    What PromQL cannot express becomes an alert on the state that `ragnostic alerts check` found,
    and says so.
    """
    if store is not None:
        check_store(store)
    path = rules if store is None else rules_path(store, rules)
    choices = Choices(lang.value, span(settle, "--settle"), runbooks, by_state)
    typer.echo(prometheus_alerts(load_rules(path).enabled, choices), nl=False)
