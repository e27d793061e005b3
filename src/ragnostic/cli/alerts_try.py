"""``ragnostic alerts test``: whether a channel works."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from ragnostic import plugins
from ragnostic.cli.alerts_options import AsJson, RulesFile, SystemClock, rules_path
from ragnostic.cli.alerts_table import say
from ragnostic.cli.console import print_json
from ragnostic.cli.live_options import Store, open_lake
from ragnostic.errors import EXIT_GATE, UsageError
from ragnostic.notify.channel import Channel, load_channels
from ragnostic.ports import Notice

_VALUE, _REFERENCE, _N = 0.691, 0.812, 1234


def try_channel(
    channel: Annotated[str, typer.Argument(metavar="CHANNEL", help="Name of a [[channel]].")],
    *,
    store: Store,
    rules: RulesFile = None,
    as_json: AsJson = False,
) -> None:
    """Send one test message through a channel now, and say how it went.

    It looks like an alert and says that it is none. Exit code 1 where it was not delivered.
    """
    _, zone = open_lake(store)
    path = rules_path(store, rules)
    channels = [] if path is None else load_channels(path, os.environ, SystemClock())
    chosen = _chosen(channels, channel)
    delivery = chosen.notifier.send([_notice(chosen, datetime.now(UTC), zone)])
    if as_json:
        found = {"delivered": delivery.delivered, "reason": delivery.reason}
        print_json({"channel": chosen.name, **found})
    else:
        say(f"{chosen.name}: " + ("delivered" if delivery.delivered else delivery.reason))
    raise typer.Exit(0 if delivery.delivered else EXIT_GATE)


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
