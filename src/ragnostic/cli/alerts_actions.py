"""``ragnostic alerts actions``: what was done about alerts, and how that went."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import typer

from ragnostic.cli.alerts_options import AsJson, open_book
from ragnostic.cli.alerts_table import minute, say
from ragnostic.cli.console import print_json, print_table
from ragnostic.cli.live_options import Store
from ragnostic.monitor.alerts.action_runs import FAILED, UNKNOWN, Ran, phase_of
from ragnostic.monitor.alerts.outbox import Order, Orders
from ragnostic.monitor.alerts.views import shown
from ragnostic.report.visible import visible

_HEAD = ("finished", "action", "rule", "when", "how it went", "said")
_SAID = 80


def actions_command(
    *,
    store: Store,
    action: Annotated[str, typer.Option(metavar="NAME", help="Of this action only.")] = "",
    limit: Annotated[int, typer.Option(min=1, help="The newest so many.")] = 50,
    as_json: AsJson = False,
) -> None:
    """List what actions did, what they only would have done, and what still waits."""
    with open_book(store) as (book, zone):
        orders = Orders(book)
        found = [*orders.finished(action, limit=limit), *orders.begun(), *orders.waiting()]
    chosen = [one for one in found if action in {"", one.action}]
    if as_json:
        print_json({"actions": [_json(one, zone) for one in chosen]})
    elif chosen:
        print_table(_HEAD, [_row(one, zone) for one in chosen], text_columns=len(_HEAD))
    else:
        say("no action was due yet")


def _row(order: Order, zone: str) -> list[str]:
    ended = "–" if order.finished is None else minute(order.finished, zone)
    said = " ".join(order.detail.split())[:_SAID]
    when = phase_of(order.notice)
    return [ended, visible(order.action), order.notice.rule, when, order.status, visible(said)]


def _json(order: Order, zone: str) -> dict[str, Any]:
    return {
        "id": order.id,
        "action": order.action,
        "rule": order.notice.rule,
        "kind": phase_of(order.notice),
        "key": order.notice.key,
        "slice": dict(order.notice.slice),
        "status": order.status,
        "detail": order.detail,
        "created": shown(order.created, zone),
        "finished": shown(order.finished, zone),
    }


def ran_warnings(ran: Iterable[Ran]) -> list[str]:
    """What did not go well."""
    return [
        f"action {one.order.action} ({one.order.notice.rule}): {one.status}: {visible(one.detail)}"
        for one in ran
        if one.status in {FAILED, UNKNOWN}
    ]


def print_ran(ran: Sequence[Ran]) -> None:
    """A line for each action that was due."""
    for one in ran:
        if one.status not in {FAILED, UNKNOWN}:
            said = f": {visible(' '.join(one.detail.split())[:_SAID])}" if one.detail else ""
            say(f"action {one.order.action} ({one.order.notice.rule}): {one.status}{said}")


def as_json_of(ran: Ran) -> Mapping[str, Any]:
    """What became of one order, for strict JSON."""
    order = ran.order
    return {
        "action": order.action,
        "kind": phase_of(order.notice),
        "key": order.notice.key,
        "status": ran.status,
        "detail": ran.detail,
    }
