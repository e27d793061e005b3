"""``ragnostic alerts list``: what is watched, what happened, what was not delivered."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ragnostic.cli.alerts_options import AsJson, RulesFile, open_book, rules_of
from ragnostic.cli.alerts_table import print_alerts, print_history, print_letters, say
from ragnostic.cli.console import print_json
from ragnostic.cli.live_options import Store
from ragnostic.errors import UsageError
from ragnostic.monitor.alerts.book import Book, Event
from ragnostic.monitor.alerts.outbox import BookOutbox, DeadLetter
from ragnostic.monitor.alerts.views import notice_json, shown, views

_EVENTS = 100


def list_command(
    *,
    store: Store,
    rules: RulesFile = None,
    firing: Annotated[bool, typer.Option("--firing", help="Only alerts that fire.")] = False,
    history: Annotated[
        bool, typer.Option("--history", help=f"What happened, the last {_EVENTS} events.")
    ] = False,
    undelivered: Annotated[
        bool, typer.Option("--undelivered", help="Messages that were given up, with the reason.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """The alerts of a store, those that fire first; or what happened to them."""
    if firing + history + undelivered > 1:
        raise UsageError("--firing, --history and --undelivered go one at a time")
    with open_book(store) as (book, zone):
        if history:
            _history(book.history(limit=_EVENTS), zone, as_json=as_json)
        elif undelivered:
            _letters(BookOutbox(book).dead_letters(), zone, as_json=as_json)
        else:
            _alerts(book, store, rules, zone, firing=firing, as_json=as_json)


def _alerts(
    book: Book, store: Store, rules: RulesFile, zone: str, *, firing: bool, as_json: bool
) -> None:
    rulebook = rules_of(store, rules)
    found = [
        alert
        for alert in views(book.read().tracks, rulebook)
        if not firing or alert.track.state.status == "firing"
    ]
    if as_json:
        print_json({"alerts": [alert.as_json(zone) for alert in found]})
    elif found:
        print_alerts(found, {rule.id: rule.metric for rule in rulebook.rules}, zone)
    else:
        say("no alert fires" if firing else "no alert is known; ragnostic alerts check looks")


def _history(events: list[Event], zone: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"events": [_event(event, zone) for event in events]})
    elif events:
        print_history(events, zone)
    else:
        say("nothing has happened")


def _event(event: Event, zone: str) -> dict[str, Any]:
    names = {"at": shown(event.at, zone), "event": event.event, "rule": event.rule}
    return {**names, "alert": event.alert, **event.body}


def _letters(letters: list[DeadLetter], zone: str, *, as_json: bool) -> None:
    if as_json:
        rows = [
            {
                "channel": letter.channel,
                "reason": letter.reason,
                "tries": letter.tries,
                "created": shown(letter.created, zone),
                "finished": shown(letter.finished, zone),
                "notice": notice_json(letter.notice, zone),
            }
            for letter in letters
        ]
        print_json({"undelivered": rows})
    elif letters:
        print_letters(letters, zone)
    else:
        say("every message was delivered, or still waits")
