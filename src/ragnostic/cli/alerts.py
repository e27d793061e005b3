"""``ragnostic alerts``: the watch over live traffic."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from ragnostic.cli.alerts_actions import actions_command, as_json_of, print_ran, ran_warnings
from ragnostic.cli.alerts_backtest import backtest_command
from ragnostic.cli.alerts_hand import ack, silence
from ragnostic.cli.alerts_list import list_command
from ragnostic.cli.alerts_options import (
    AsJson,
    Lateness,
    Now,
    RulesFile,
    SystemClock,
    instant,
    open_book,
    rules_of,
    rules_path,
    span,
)
from ragnostic.cli.alerts_table import print_alerts, say
from ragnostic.cli.alerts_try import try_channel
from ragnostic.cli.console import print_json, print_warnings
from ragnostic.cli.live_options import Store
from ragnostic.config.source import read_source
from ragnostic.errors import EXIT_GATE, ConfigError, counted
from ragnostic.monitor.alerts.action_runs import AUDIT, Ran, Setting, run_orders
from ragnostic.monitor.alerts.alert_chart import alert_charts
from ragnostic.monitor.alerts.book import Book
from ragnostic.monitor.alerts.check import Checked, check_alerts
from ragnostic.monitor.alerts.outbox import BookOutbox, Orders
from ragnostic.monitor.alerts.rule_files import RuleBook
from ragnostic.monitor.alerts.views import notice_json, views
from ragnostic.monitor.live_store import open_store
from ragnostic.monitor.rollups.rolling import roll_up
from ragnostic.notify.channel import Channel, Charts, load_channels, plan_channels
from ragnostic.notify.delivery import Delivered, deliver, refresh

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Rules over live traffic: who is told when it gets worse.",
)
_SENDING = "sending"
_ATTEMPTS, _PAUSE_S = 150, 0.2
"""Half a minute is waited for another process that sends."""


@dataclass(frozen=True, slots=True)
class _Sent:
    """What became of messages; None where nothing was to be sent, or another process sends."""

    delivered: Delivered | None = None
    elsewhere: bool = False


@app.command()
def check(
    *,
    store: Store,
    rules: RulesFile = None,
    now: Now = "now",
    lateness: Lateness = "10m",
    no_send: Annotated[
        bool, typer.Option("--no-send", help="Leave messages and actions waiting.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Write down what actions would do; do nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Look at every window that has closed since the last check, and tell who is to be told.

    Brings the roll-ups up to date first. For cron, every few minutes: repeating it changes nothing.
    Exit code 1 while an alert fires.
    """
    late = span(lateness, "--lateness")
    with open_store(store, os.environ) as opened, open_book(store) as (book, zone):
        rulebook = rules_of(store, rules)
        path = rules_path(store, rules)
        charts = alert_charts(opened.lake)
        channels = _channels(path, charts, send=not no_send)
        roll_up(opened)
        checked = check_alerts(
            opened.lake,
            book,
            rulebook,
            instant(now, zone),
            zone=zone,
            routes=lambda notice: [one.name for one in channels if one.takes(notice)],
            alone=[one.name for one in channels if one.keeps_state],
            lateness=late,
            posted=datetime.now(UTC),
        )
        sent = _Sent() if no_send else _send(book, channels, checked, rulebook)
        ran = () if no_send else _act(book, rulebook, path or store, dry_run=dry_run)
    print_warnings([*_warnings(checked, sent, channels), *ran_warnings(ran)])
    if as_json:
        print_json(
            {**_as_json(checked, sent, rulebook, zone), "ran": [as_json_of(one) for one in ran]}
        )
    else:
        _print(checked, sent, rulebook, zone)
        print_ran(ran)
    raise typer.Exit(EXIT_GATE if checked.firing else 0)


def _channels(path: Path | None, charts: Charts, *, send: bool) -> Sequence[Channel]:
    """The channels of a file. Where nothing is sent, their secrets need not be there."""
    if path is None:
        return ()
    if send:
        return load_channels(path, os.environ, SystemClock(), charts)
    plans, faults = plan_channels(read_source(path, ()))
    if faults:
        raise ConfigError(faults)
    return [Channel(plan.settings, plan.plugin) for plan in plans]


def _send(book: Book, channels: Sequence[Channel], checked: Checked, rules: RuleBook) -> _Sent:
    clock = SystemClock()
    with book.alone(_SENDING, attempts=_ATTEMPTS, pause=lambda: clock.sleep(_PAUSE_S)) as alone:
        if not alone:
            return _Sent(elsewhere=True)
        delivered = deliver(BookOutbox(book), channels, clock)
        # What this check has just told is fresh, and says more: it has a worst query.
        new = {notice.key for _, notice in checked.messages}
        again = [rules.links.linked(one) for one in checked.told if one.key not in new]
        failed = refresh(channels, again)
    return _Sent(replace(delivered, failures=(*delivered.failures, *failed)))


def _act(book: Book, rules: RuleBook, path: Path, *, dry_run: bool) -> Sequence[Ran]:
    """Carry out what waits, unless another process does."""
    folder, root = (path if path.is_dir() else path.parent), book.root
    setting = Setting(folder, root / AUDIT, os.environ, SystemClock(), dry_run)
    with book.alone("acting", attempts=1, pause=lambda: None) as alone:
        return run_orders(Orders(book), rules.actions, setting) if alone else ()


def _warnings(checked: Checked, sent: _Sent, channels: Sequence[Channel]) -> list[str]:
    lines = []
    if channels:
        rules = dict.fromkeys(notice.rule for notice in checked.unrouted)
        lines += [f"{rule}: no channel takes this alert" for rule in rules]
    if sent.elsewhere:
        lines.append("another process sends messages for long; a later check sends these")
    for failure in sent.delivered.failures if sent.delivered else ():
        what = "given up" if failure.given_up else "not delivered, tried again by a later check"
        lines.append(f"channel {failure.channel}: {what}: {failure.reason}")
    return lines


def _as_json(checked: Checked, sent: _Sent, rules: RuleBook, zone: str) -> dict[str, Any]:
    alerts = views(checked.tracks, rules)
    done = sent.delivered
    return {
        "now": checked.now.isoformat(),
        "zone": zone,
        "firing": checked.firing,
        "watched": len(alerts),
        "evaluated": checked.evaluated,
        "reopened": checked.reopened,
        "alerts": [one.as_json(zone) for one in alerts if one.track.state.status != "inactive"],
        "messages": [
            {"channel": channel, **notice_json(notice, zone)}
            for channel, notice in checked.messages
        ],
        "unrouted": [notice_json(notice, zone) for notice in checked.unrouted],
        "actions": [
            {"action": action, "kind": notice.kind, "key": notice.key}
            for action, notice in checked.orders
        ],
        "sent": None if done is None else done.sent,
        "waiting": None if done is None else done.waiting,
        "failures": [] if done is None else [asdict(failure) for failure in done.failures],
    }


def _print(checked: Checked, sent: _Sent, rules: RuleBook, zone: str) -> None:
    alerts = views(checked.tracks, rules)
    shown = [one for one in alerts if one.track.state.status != "inactive"]
    if shown:
        print_alerts(shown, {rule.id: rule.metric for rule in rules.rules}, zone)
    told = counted(len(checked.messages), "message")
    if sent.delivered is not None:
        told += f", {sent.delivered.sent} sent, {sent.delivered.waiting} waiting"
    say(
        f"{counted(len(alerts), 'alert')} watched, {checked.firing} firing; "
        f"{counted(checked.evaluated, 'window')} looked at; {told}"
    )


app.command("list")(list_command)
app.command("actions")(actions_command)
app.command("ack")(ack)
app.command("silence")(silence)
app.command("test")(try_channel)
app.command("backtest")(backtest_command)
