"""Alerts, messages and history as tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import typer

from ragnostic.cli.console import print_table
from ragnostic.monitor.alerts.book import Event
from ragnostic.monitor.alerts.outbox import DeadLetter
from ragnostic.monitor.alerts.silences import Silence
from ragnostic.monitor.alerts.views import AlertView
from ragnostic.notify.sentences import number
from ragnostic.report.numbers import NOTHING
from ragnostic.report.visible import excerpt, visible

_HEAD = ("id", "rule", "severity", "slice", "status", "since", "value", "against", "n", "note")
_TEXT_COLUMNS = 6
_LONGEST = 40
"""Characters of a text of others in a table."""


def print_alerts(alerts: Sequence[AlertView], metrics: Mapping[str, str], zone: str) -> None:
    """A row an alert. ``metrics``: figure by rule, which says how its values are written."""
    judges: dict[str, set[str]] = {}
    for alert in alerts:
        judges.setdefault(alert.key.rule, set()).add(alert.key.judge)
    rows = []
    for alert in alerts:
        several = {"judge": alert.key.judge} if len(judges[alert.key.rule]) > 1 else {}
        state, reading = alert.track.state, alert.track.state.reading
        metric = metrics.get(alert.key.rule, "")
        rows.append(
            [
                alert.key.id,
                alert.key.rule,
                alert.severity,
                labelled(alert.key.labels | several),
                state.status,
                minute(state.since, zone),
                number(metric, reading.value),
                number(metric, reading.reference),
                str(reading.n),
                "; ".join(f"{name} {text}".strip() for name, text in alert.marks.items()),
            ]
        )
    print_table(_HEAD, rows, text_columns=_TEXT_COLUMNS)


def print_history(events: Sequence[Event], zone: str) -> None:
    """A row an event, oldest first."""
    rows = [
        [
            minute(event.at, zone),
            event.event,
            event.rule,
            event.alert or NOTHING,
            labelled(event.body.get("slice", {})),
            _told(event.body),
        ]
        for event in events
    ]
    head = ("time", "event", "rule", "alert", "slice", "detail")
    print_table(head, rows, text_columns=len(head))


def print_silences(silences: Iterable[Silence], zone: str) -> None:
    """A row a silence."""
    rows = [
        [
            str(silence.id),
            silence.rule,
            ", ".join(silence.severities) or "all",
            labelled(silence.labels),
            minute(silence.start, zone),
            minute(silence.end, zone),
            excerpt(silence.author, _LONGEST),
            excerpt(silence.reason, _LONGEST),
        ]
        for silence in silences
    ]
    head = ("silence", "rule", "severities", "slice", "from", "until", "by", "reason")
    print_table(head, rows, text_columns=len(head))


def print_letters(letters: Sequence[DeadLetter], zone: str) -> None:
    """A row a message that was given up."""
    rows = [
        [
            minute(letter.finished, zone),
            letter.channel,
            letter.notice.kind,
            letter.notice.rule,
            labelled(letter.notice.slice),
            str(letter.tries),
            excerpt(letter.reason, 2 * _LONGEST),
        ]
        for letter in letters
    ]
    head = ("given up", "channel", "message", "rule", "slice", "tries", "reason")
    print_table(head, rows, text_columns=len(head))


def labelled(labels: Mapping[str, Any]) -> str:
    """A slice in words; a dash for everything.

    >>> labelled({"category": "refunds"}), labelled({})
    ('category = refunds', '–')
    """
    return (
        ", ".join(f"{name} = {excerpt(str(value), _LONGEST)}" for name, value in labels.items())
        or NOTHING
    )


def minute(instant: datetime | None, zone: str) -> str:
    """An instant to the minute, in a zone."""
    return NOTHING if instant is None else f"{instant.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M}"


def _told(body: Mapping[str, Any]) -> str:
    """What else is known of an event, in one line."""
    shown = []
    if body.get("value") is not None:
        shown.append(f"value {body['value']:.4g}, n = {body['n']}")
    shown += [
        f"{name} {excerpt(str(body[name]), _LONGEST)}"
        for name in ("from", "to", "silence", "by", "note", "reason")
        if body.get(name)
    ]
    return ", ".join(shown)


def say(line: str) -> None:
    """A line on stdout, safe to look at."""
    typer.echo(visible(line))
