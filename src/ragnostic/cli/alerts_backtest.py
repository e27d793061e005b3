"""``ragnostic alerts backtest``: what rules would have said of the past."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from ragnostic.cli.alerts_options import AsJson, Lateness, span
from ragnostic.cli.alerts_table import labelled, minute, say
from ragnostic.cli.console import print_json, print_table
from ragnostic.cli.live_options import Store, open_lake
from ragnostic.errors import counted
from ragnostic.monitor.alerts.backtest import Backtest, Episode, backtest
from ragnostic.monitor.alerts.rule_files import RuleBook, load_rules
from ragnostic.monitor.alerts.views import shown
from ragnostic.monitor.windows import Window
from ragnostic.notify.sentences import number
from ragnostic.report.numbers import NOTHING

_HEAD = ("rule", "severity", "slice", "fired", "ended", "how", "value", "against", "n", "told")
_TEXT_COLUMNS = 6


def backtest_command(
    rules: Annotated[
        Path | None,
        typer.Argument(metavar="[RULES]", help="Rules (default: those that are shipped)."),
    ] = None,
    *,
    store: Store,
    start: Annotated[str, typer.Option("--from", metavar="T", help="Start of the past.")],
    end: Annotated[str, typer.Option("--to", metavar="T", help="Its end.")] = "now",
    lateness: Lateness = "10m",
    as_json: AsJson = False,
) -> None:
    """Follow rules through the roll-ups of the past: when each would have fired and ended.

    Every rule begins without a baseline, so begin a week or two early. Reads only; tells nobody.
    """
    late = span(lateness, "--lateness")
    lake, zone = open_lake(store)
    rulebook = load_rules(rules)
    window = Window.parse(start, end, zone=zone, now=datetime.now(UTC))
    found = backtest(lake, rulebook.enabled, window.start, window.end, zone=zone, lateness=late)
    if as_json:
        print_json(_as_json(found, zone))
    else:
        _print(found, rulebook, zone)


def _as_json(found: Backtest, zone: str) -> dict[str, Any]:
    return {
        "from": shown(found.start, zone),
        "to": shown(found.end, zone),
        "zone": zone,
        "rules": [
            {
                "rule": one.rule,
                "severity": one.severity,
                "alerts": one.alerts,
                "windows": one.windows,
                "with_data": one.with_data,
                "fired": sum(episode.rule == one.rule for episode in found.episodes),
            }
            for one in found.watched
        ],
        "episodes": [_episode(one, zone) for one in found.episodes],
        "messages": dict(found.messages),
    }


def _episode(one: Episode, zone: str) -> dict[str, Any]:
    return {
        "rule": one.rule,
        "alert": one.alert,
        "severity": one.severity,
        "slice": dict(one.labels),
        "since": shown(one.since, zone),
        "fired": shown(one.fired, zone),
        "ended": shown(one.ended, zone),
        "how": one.how,
        "value": one.value,
        "reference": one.reference,
        "n": one.n,
        "told": one.told,
    }


def _print(found: Backtest, rules: RuleBook, zone: str) -> None:
    metrics = {rule.id: rule.metric for rule in rules.rules}
    rows = [
        [
            one.rule,
            one.severity,
            labelled(one.labels),
            minute(one.fired, zone),
            minute(one.ended, zone),
            one.how or "still on",
            number(metrics[one.rule], one.value),
            number(metrics[one.rule], one.reference),
            str(one.n),
            "yes" if one.told else "no: graver alert",
        ]
        for one in found.episodes
    ]
    if rows:
        print_table(_HEAD, rows, text_columns=_TEXT_COLUMNS)
        say("")
    print_table(
        ("rule", "severity", "alerts", "windows", "with data", "fired"),
        [
            [
                one.rule,
                one.severity,
                str(one.alerts),
                str(one.windows),
                str(one.with_data),
                str(sum(episode.rule == one.rule for episode in found.episodes)),
            ]
            for one in found.watched
        ],
        text_columns=2,
    )
    kinds = ", ".join(f"{count} {kind}" for kind, count in found.messages.items()) or NOTHING
    say(f"{counted(sum(found.messages.values()), 'message')}: {kinds}")
