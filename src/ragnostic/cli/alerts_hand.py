"""``ragnostic alerts ack`` and ``silence``: what people do about an alert."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from ragnostic.cli.alerts_options import (
    AsJson,
    By,
    RulesFile,
    SystemClock,
    author,
    open_book,
    rules_path,
    until,
)
from ragnostic.cli.alerts_table import minute, print_silences, say
from ragnostic.cli.console import print_json, print_warnings
from ragnostic.cli.live_options import Store
from ragnostic.errors import UsageError
from ragnostic.monitor.alerts.book import Book, Contents, Event
from ragnostic.monitor.alerts.machine import acknowledged, rebaselined
from ragnostic.monitor.alerts.silences import Silence
from ragnostic.monitor.alerts.states import Acknowledgement, Track
from ragnostic.monitor.alerts.views import find_alert, shown
from ragnostic.notify.channel import load_channels
from ragnostic.notify.delivery import acknowledge as acknowledge_in

_SEVERITIES = ("P0", "P1", "P2")


def ack(
    alert: Annotated[
        str, typer.Argument(metavar="ID", help="Id of an alert, or its rule if that has only one.")
    ],
    *,
    store: Store,
    rules: RulesFile = None,
    by: By = "",
    note: Annotated[str, typer.Option(metavar="TEXT", help="For the others.")] = "",
    close: Annotated[
        bool,
        typer.Option("--close", help="It is so from now on: end it, and learn the new level."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say that somebody looks after an alert: no more reminders until its end.

    Channels that ask for it, such as PagerDuty, are told. `--close` ends it by hand; the next check
    tells the others. A rule that compares with a baseline takes the level since it fires for its
    baseline. Any other fires again if it is still so.
    """
    name, now = author(by), datetime.now(UTC)
    with open_book(store) as (book, zone):
        contents = book.read()
        tracks = contents.tracks
        key = find_alert(tracks, alert)
        if tracks[key].state.status != "firing":
            status = tracks[key].state.status
            raise UsageError(f"{key.rule} {key.id} does not fire: it is {status}")
        word = "closed" if close else "acknowledged"
        event = Event(now, word, key.rule, key.id, {"by": name, "note": note, "slice": key.labels})
        if close:
            track = book.change(key, _closed, event)
        else:
            by_whom = Acknowledgement(name, now, note)
            track = book.change(key, lambda one: _acknowledged(one, by_whom), event)
            print_warnings(_told(track, contents, rules_path(store, rules)))
    if as_json:
        print_json({"id": key.id, "rule": key.rule, "status": track.state.status, "by": name})
    else:
        say(f"{key.rule} {key.id}: {_words(track, zone, close=close)}, by {name}")


def _told(track: Track, contents: Contents, path: Path | None) -> list[str]:
    """Let the channels know; what went wrong with that. The book has it in any case."""
    notice = track.notice
    if notice is None or path is None:
        return []
    keys = {name: key for (name, alert), key in contents.members.items() if alert == notice.key}
    try:
        channels = load_channels(path, os.environ, SystemClock())
    except UsageError as error:
        return [f"no channel was told: {error}"]
    failures = acknowledge_in(channels, notice, keys)
    return [f"channel {one.channel}: not told: {one.reason}" for one in failures]


def _acknowledged(track: Track, by: Acknowledgement) -> Track:
    return replace(track, state=acknowledged(track.state, by))


def _closed(track: Track) -> Track:
    """Ended for good: no late row begins it again."""
    state = rebaselined(track.state, "closed")
    return replace(track, state=state, settled=state, recent=())


def _words(track: Track, zone: str, *, close: bool) -> str:
    if not close:
        return f"acknowledged, firing since {minute(track.state.since, zone)}"
    learned = track.state.ending == "rebaselined"
    return "closed, with a new baseline" if learned else "closed"


def silence(
    *,
    store: Store,
    rule: Annotated[
        str, typer.Option(metavar="ID", help="Rules: an id, or a pattern such as mrr-*.")
    ] = "*",
    slices: Annotated[
        list[str] | None,
        typer.Option("--slice", metavar="A=B", help="Only this slice value; may be repeated."),
    ] = None,
    severity: Annotated[
        list[str] | None, typer.Option(metavar="P", help="Only this severity; may be repeated.")
    ] = None,
    until_: Annotated[
        str, typer.Option("--until", metavar="T", help="End: 2h, 3d, a date, an instant.")
    ] = "",
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why.")] = "",
    by: By = "",
    listed: Annotated[bool, typer.Option("--list", help="Only list the silences.")] = False,
    expire: Annotated[
        int | None, typer.Option(metavar="N", help="End silence N before its time.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Tell nobody of some alerts until a time; they are watched all the same.

    What still fires at the end is told then.
    """
    now = datetime.now(UTC)
    with open_book(store) as (book, zone):
        if expire is not None:
            _expire(book, expire, author(by), now)
        elif not listed:
            if not until_:
                raise UsageError("--until is missing", hint="for example --until 2h")
            start_end = (now, until(until_, zone, now))
            one = Silence(
                *start_end, reason, author(by), rule, _labels(slices or ()), _severities(severity)
            )
            book.silence(one, now)
        found = [known for known in book.read().silences if now < known.end]
    if as_json:
        print_json({"silences": [_json(one, zone) for one in found]})
    elif found:
        print_silences(found, zone)
    else:
        say("nothing is silenced")


def _expire(book: Book, number: int, name: str, now: datetime) -> None:
    if not book.expire(number, name, now):
        raise UsageError(f"no silence {number} holds", hint="numbers are in: alerts silence --list")


def _labels(slices: list[str] | tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in slices:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"--slice: {text!r} is no slice", hint="such as category=refunds")
        found[name.strip()] = value.strip()
    return found


def _severities(given: list[str] | None) -> tuple[str, ...]:
    chosen = tuple(dict.fromkeys(one.upper() for one in given or ()))
    for one in chosen:
        if one not in _SEVERITIES:
            raise UsageError(f"--severity: {one!r} is none", hint=", ".join(_SEVERITIES))
    return chosen


def _json(silence_: Silence, zone: str) -> dict[str, object]:
    return {
        "silence": silence_.id,
        "rule": silence_.rule,
        "severities": list(silence_.severities),
        "slice": dict(silence_.labels),
        "from": shown(silence_.start, zone),
        "until": shown(silence_.end, zone),
        "by": silence_.author,
        "reason": silence_.reason,
    }
