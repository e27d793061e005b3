"""Rules over the past: when each would have fired and ended, and how many messages that makes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from ragnostic.monitor.alerts.book import Event
from ragnostic.monitor.alerts.check import LATENESS
from ragnostic.monitor.alerts.lanes import Lane
from ragnostic.monitor.alerts.post import Post
from ragnostic.monitor.alerts.readings import Windows
from ragnostic.monitor.alerts.rounds import Round
from ragnostic.monitor.alerts.rules import Rule
from ragnostic.ports import Notice, RecordStore

_EVERYBODY = "everybody"
_ENDS = frozenset({"resolved", "rebaselined"})


@dataclass(frozen=True, slots=True)
class Episode:
    """An alert that would have fired. ``since``: start of its first window in breach; ``fired`` and
    ``ended`` (None: still on at the end): when a check would have found out; ``how`` it ended:
    resolved or rebaselined. ``value``, ``reference`` and ``n``: what was found when it fired.
    ``told``: whether anybody had heard of it, and not of a graver alert only.
    """

    rule: str
    alert: str
    severity: str
    labels: Mapping[str, str]
    since: datetime | None
    fired: datetime
    value: float | None
    reference: float | None
    n: int
    told: bool = False
    ended: datetime | None = None
    how: str = ""


@dataclass(frozen=True, slots=True)
class Watched:
    """What a rule looked at: slice values, windows in all, and those that say anything."""

    rule: str
    severity: str
    alerts: int
    windows: int
    with_data: int


@dataclass(frozen=True, slots=True)
class Backtest:
    """``messages``: how many one channel that takes everything would have got, by their kinds."""

    start: datetime
    end: datetime
    watched: tuple[Watched, ...]
    episodes: tuple[Episode, ...]
    messages: Mapping[str, int]


def backtest(
    store: RecordStore,
    rules: Iterable[Rule],
    start: datetime,
    end: datetime,
    *,
    zone: str,
    lateness: timedelta = LATENESS,
) -> Backtest:
    """Follow rules from window to window in [start, end), as if each had been looked at when it was
    ``lateness`` old. They start with nothing: a baseline is learned from ``start`` on, so that
    begins before what is of interest. Reads only.
    """
    chosen = list(rules)
    windows = Windows(store, zone, end, start)
    lanes = {lane.key: lane for rule in chosen for lane in windows.lanes(rule, {})}
    post = Post(lambda _: [_EVERYBODY], {})
    told: set[tuple[str, int]] = set()

    def speak(notices: Sequence[Notice], _: datetime) -> None:
        post.tell(notices)
        told.update(_episode(notice.key) for notice in notices if notice.kind == "firing")

    whole = Round(lanes, (), speak)
    whole.go_on(lambda closed: closed + lateness, warm_up=False)
    kinds = [notice.kind for _, notice in post.parcels]
    return Backtest(
        start,
        end,
        tuple(
            _watched(rule, [lane for lane in lanes.values() if lane.rule is rule])
            for rule in chosen
        ),
        tuple(_episodes(whole.events, told)),
        {kind: kinds.count(kind) for kind in sorted(set(kinds))},
    )


def _episode(key: str) -> tuple[str, int]:
    alert, _, episode = key.rpartition(":")
    return alert, int(episode)


def _watched(rule: Rule, lanes: Sequence[Lane]) -> Watched:
    points = [point for lane in lanes for point in lane.windows]
    enough = sum(point.value is not None and point.n >= rule.min_samples for point in points)
    return Watched(rule.id, rule.severity, len(lanes), len(points), enough)


def _episodes(events: Sequence[Event], told: set[tuple[str, int]]) -> list[Episode]:
    """The events of each alert, from one that it fires to the one that it is over."""
    found: list[Episode] = []
    running: dict[str, int] = {}
    for event in events:
        name = f"{event.rule}:{event.alert}"
        if event.event == "firing":
            running[name] = len(found)
            body = event.body
            known = (name, int(body["episode"])) in told
            found.append(_begun(event, body, told=known))
        elif event.event in _ENDS and name in running:
            place = running.pop(name)
            found[place] = replace(found[place], ended=event.at, how=event.event)
    return found


def _begun(event: Event, body: Mapping[str, Any], *, told: bool) -> Episode:
    return Episode(
        event.rule,
        event.alert,
        body["severity"],
        body.get("slice", {}),
        body["since"],
        event.at,
        body["value"],
        body["reference"],
        body["n"],
        told=told,
    )
