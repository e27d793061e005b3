"""``ragnostic export``: figures for other systems."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import Annotated

import typer

from ragnostic.cli.alerts_options import RulesFile, rules_of, span
from ragnostic.cli.choices import Language
from ragnostic.cli.console import print_json, print_warnings
from ragnostic.cli.live_options import Store
from ragnostic.errors import counted
from ragnostic.exporters.otlp import (
    ENDPOINT,
    HEADERS,
    endpoint_url,
    headers_of,
    metrics_request,
    push,
)
from ragnostic.exporters.prometheus import exposition
from ragnostic.exporters.samples import Family, Histogram
from ragnostic.monitor.alerts.book import Book
from ragnostic.monitor.exported import exported
from ragnostic.monitor.exported_alerts import exported_alerts
from ragnostic.monitor.exported_dashboard import dashboard
from ragnostic.monitor.exported_rules import Choices, last_stages, prometheus_file
from ragnostic.monitor.live_store import LiveStore, open_store
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
        typer.echo(metrics_text(opened), nl=False)


def metrics_text(store: LiveStore) -> str:
    """Figures and alerts of a store as Prometheus scrapes them, its roll-ups brought up to date."""
    return exposition(families(store, datetime.now(UTC)))


def families(store: LiveStore, now: datetime) -> list[Family | Histogram]:
    """All that is exported of a store, its roll-ups brought up to date first."""
    roll_up(store)
    with Book(store.root) as book:
        tracks = book.read().tracks
    return [*exported(store, now), *exported_alerts(tracks, rules_of(store.root, None))]


@app.command()
def otlp(
    *,
    store: Store,
    endpoint: Annotated[
        str,
        typer.Option(metavar="URL", help="A collector; /v1/metrics is added.", envvar=ENDPOINT),
    ] = "http://localhost:4318",
) -> None:
    """Send the figures of a store to an OpenTelemetry collector: OTLP over HTTP, once.

    Headers come from OTEL_EXPORTER_OTLP_HEADERS.
    """
    url = endpoint_url(endpoint)
    headers = headers_of(os.environ.get(HEADERS, ""))
    with open_store(store, os.environ) as opened:
        now = datetime.now(UTC)
        request = metrics_request(families(opened, now), now)
    refused = push(request, url, headers)
    sent = sum(
        len(scope.metrics) for one in request.resource_metrics for scope in one.scope_metrics
    )
    typer.echo(f"sent {counted(sent, 'metric')} to {url}")
    if refused:
        print_warnings([f"the collector refused {counted(refused, 'point')}"])


@app.command()
def grafana(
    *,
    store: Store,
    rules_file: RulesFile = None,
    language: Annotated[Language, typer.Option("--lang", help="Of titles.")] = Language.en,
    pages: Annotated[
        str, typer.Option(metavar="URL", help="Address of the pages, for links from panels.")
    ] = "",
) -> None:
    """Print a dashboard for Grafana over what Prometheus scrapes: health, slices, one category."""
    with open_store(store, os.environ) as opened:
        health = rules_of(opened.root, rules_file).health
    print_json(dashboard(health, language.value, pages))


@app.command()
def rules(
    *,
    store: Store,
    rules_file: RulesFile = None,
    language: Annotated[Language, typer.Option("--lang", help="Of the annotations.")] = Language.en,
    runbook_base: Annotated[
        str, typer.Option(metavar="URL", help="Stands before the rules' pages in runbook_url.")
    ] = "",
    settle: Annotated[
        str,
        typer.Option(
            metavar="SPAN",
            help="How much longer than its windows a breach, and an end, must be seen.",
        ),
    ] = "10m",
    by_state: Annotated[
        bool,
        typer.Option("--by-state", help="All by the state of alerts check, none in PromQL."),
    ] = False,
) -> None:
    """Print the alert rules of a store as a rule file of Prometheus.

    What PromQL cannot express becomes an alert on the state that `ragnostic alerts check` found,
    and says so.
    """
    choices = Choices(language.value, runbook_base, span(settle, "--settle"), by_state)
    with open_store(store, os.environ) as opened:
        enabled = rules_of(opened.root, rules_file).enabled
        figures = dict.fromkeys(rule.metric for rule in enabled)
        stages = last_stages(opened, figures, datetime.now(UTC))
    typer.echo(prometheus_file(enabled, stages, choices), nl=False)
