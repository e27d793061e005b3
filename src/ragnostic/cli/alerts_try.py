"""``ragnostic alerts test``: whether a channel works, and what an action would do."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from ragnostic import plugins
from ragnostic.cli.alerts_options import AsJson, RulesFile, SystemClock, rules_path
from ragnostic.cli.alerts_table import say
from ragnostic.cli.console import print_json
from ragnostic.cli.live_options import Store, open_lake
from ragnostic.errors import EXIT_GATE, UsageError
from ragnostic.monitor.alerts.action_rehearsal import rehearse
from ragnostic.monitor.alerts.action_runs import AUDIT, Setting
from ragnostic.monitor.alerts.rule_files import load_rules
from ragnostic.notify.channel import Channel, load_channels
from ragnostic.ports import Notice
from ragnostic.report.visible import visible

_VALUE, _REFERENCE, _N = 0.691, 0.812, 1234


def try_channel(
    channel: Annotated[
        str,
        typer.Argument(metavar="NAME", help="Of a [[channel]]; with --action of an [[action]]."),
    ],
    *,
    store: Store,
    rules: RulesFile = None,
    action: Annotated[
        bool, typer.Option("--action", help="Say what an action would do; do nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Send one test message through a channel now, and say how it went.

    It looks like an alert and says that it is none. Exit code 1 where it was not delivered. With
    `--action` nothing is done: it says what the action would do, and looks whether its program, its
    address or its folder is there. Exit code 1 where it is not.
    """
    _, zone = open_lake(store)
    path = rules_path(store, rules)
    if action:
        _rehearse(channel, store, path, as_json=as_json)
    channels = [] if path is None else load_channels(path, os.environ, SystemClock())
    chosen = _chosen(channels, channel)
    delivery = chosen.notifier.send([_notice(chosen, datetime.now(UTC), zone)])
    if as_json:
        found = {"delivered": delivery.delivered, "reason": delivery.reason}
        print_json({"channel": chosen.name, **found})
    else:
        say(f"{chosen.name}: " + ("delivered" if delivery.delivered else delivery.reason))
    raise typer.Exit(0 if delivery.delivered else EXIT_GATE)


def _rehearse(name: str, store: Path, path: Path | None, *, as_json: bool) -> NoReturn:
    actions = {one.name: one for one in load_rules(path).actions}
    if name not in actions:
        listed = (
            f"actions: {', '.join(actions)}" if actions else "alerts.toml of the store has none"
        )
        hint = plugins.nearest(name, list(actions)) or listed
        raise UsageError(f"there is no action {name!r}", hint=hint)
    chosen = actions[name]
    folder = store if path is None else path.parent
    setting = Setting(folder, store / AUDIT, os.environ, SystemClock(), dry_run=True)
    fault = rehearse(chosen, setting)
    if as_json:
        print_json({"action": name, "deed": chosen.deed, "possible": not fault, "reason": fault})
    else:
        say(f"{name}: would do: {visible(chosen.deed)}")
        if fault:
            say(f"{name}: {visible(fault)}")
    raise typer.Exit(EXIT_GATE if fault else 0)


def _chosen(channels: list[Channel], name: str) -> Channel:
    for channel in channels:
        if channel.name == name:
            return channel
    names = [channel.name for channel in channels]
    listed = f"channels: {', '.join(names)}" if names else "alerts.toml of the store has none"
    raise UsageError(f"there is no channel {name!r}", hint=plugins.nearest(name, names) or listed)


def _notice(channel: Channel, now: datetime, zone: str) -> Notice:
    """A test of the least severity that goes there: nobody is to be woken by it."""
    end = now.replace(minute=0, second=0, microsecond=0)
    return Notice(
        key=f"test:{int(now.timestamp())}",
        kind="test",
        severity=max(channel.settings.severities),
        rule="test",
        metric="RR@5",
        value=_VALUE,
        reference=_REFERENCE,
        against="baseline",
        n=_N,
        since=end - timedelta(hours=1),
        window=(end - timedelta(hours=1), end),
        zone=zone,
    )
