"""``ragnostic daily``: the report of a day of live traffic."""

from __future__ import annotations

import os
from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo

import typer

from ragnostic.cli.alerts_options import RulesFile, SystemClock, rules_of, rules_path
from ragnostic.cli.choices import Language
from ragnostic.cli.console import print_json, print_warnings
from ragnostic.cli.live_options import Store
from ragnostic.errors import EXIT_GATE, UsageError, counted
from ragnostic.monitor.alerts.book import Book
from ragnostic.monitor.daily.gathering import daily_view
from ragnostic.monitor.daily.mailing import daily_letter, mail_letter
from ragnostic.monitor.live_store import LiveStore, open_store
from ragnostic.monitor.rollups.rolling import roll_up
from ragnostic.report.daily_html import render_daily
from ragnostic.report.daily_view import DailyView


def daily(
    *,
    store: Store,
    day: Annotated[
        str, typer.Option("--date", metavar="YYYY-MM-DD", help="The day; yesterday if left out.")
    ] = "",
    out: Annotated[
        Path, typer.Option(metavar="PATH", help="The page, or a folder for YYYY-MM-DD.html.")
    ] = Path("daily"),
    language: Annotated[
        Language, typer.Option("--lang", help="Language of the page.")
    ] = Language.zh,
    rules: RulesFile = None,
    mail: Annotated[
        bool, typer.Option("--mail", help="Send it through the e-mail channels, too.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """Write the report of a day: all signals over four weeks, what changed and in which slice, the
    ten most unusual queries with their rankings, alerts, and what the judge could say.

    Brings the roll-ups up to date first. Exit code 1 where --mail was asked for and nothing was
    delivered.
    """
    with open_store(store, os.environ) as opened:
        chosen = _day(day, opened)
        roll_up(opened)
        view = _view(opened, chosen, rules)
    target = out if out.suffix == ".html" else out / f"{view.day}.html"
    target.parent.mkdir(parents=True, exist_ok=True)
    page = render_daily(view, language.value)
    target.write_text(page, encoding="utf-8")
    sent = 0
    if mail:
        letter = daily_letter(view, page, language.value)
        sent, faults = mail_letter(letter, rules_path(store, rules), os.environ, SystemClock())
        print_warnings(faults)
    if as_json:
        print_json({"page": str(target), "mailed": sent, **asdict(view)})
    else:
        firing = counted(len(view.firing), "alert")
        typer.echo(f"{view.day}: {counted(view.records, 'record')}, {firing} firing")
        typer.echo(f"report: {target}")
        if mail:
            typer.echo(f"mailed through {counted(sent, 'channel')}")
    raise typer.Exit(EXIT_GATE if mail and not sent else 0)


def _day(written: str, store: LiveStore) -> date:
    today = datetime.now(ZoneInfo(store.zone)).date()
    if not written:
        return today - timedelta(days=1)
    try:
        return date.fromisoformat(written)
    except ValueError:
        raise UsageError(f"--date {written!r} is no day", hint="such as 2026-03-01") from None


def _view(store: LiveStore, day: date, rules: Path | None) -> DailyView:
    start, end = store.day(day.isoformat())
    with Book(store.root) as book:
        contents = book.read()
        events = book.history(start.astimezone(UTC), end.astimezone(UTC))
    return daily_view(store, rules_of(store.root, rules), contents, events, day)
