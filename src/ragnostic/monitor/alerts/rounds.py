"""One round of the watch, in memory: all alerts through their windows, in the order of time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from operator import itemgetter

from ragnostic.monitor.alerts.book import Event
from ragnostic.monitor.alerts.grouping import Inhibition, Subject
from ragnostic.monitor.alerts.lanes import Lane
from ragnostic.monitor.alerts.machine import tell
from ragnostic.monitor.alerts.notices import notice_of, place_of
from ragnostic.monitor.alerts.silences import Silence, silence_of
from ragnostic.monitor.alerts.states import AlertKey, AlertState, Track
from ragnostic.ports import Notice, NoticeKind

Speak = Callable[[Sequence[Notice], datetime], None]
"""Told of the notices of one moment."""

_SPOKEN = frozenset({"pending", "firing", "resolved"})


class Round:
    """Alerts on their way; ``speak`` gets what is to be told, ``events`` what happened.

    A window that a round looks at again changes no more than the state: nobody is told of what
    was in between. The same holds for the past of an alert that is new, except its last window.
    """

    def __init__(
        self, lanes: Mapping[AlertKey, Lane], silences: Iterable[Silence], speak: Speak
    ) -> None:
        self.lanes = dict(lanes)
        self.events: list[Event] = []
        self.evaluated = 0
        self.reopened = 0
        self._silences = tuple(silences)
        self._speak = speak

    def finish_ends(self, now: datetime) -> None:
        """Tell of episodes that ended by hand or with a silence, before anything else happens."""
        over = [key for key, lane in self.lanes.items() if lane.state.status != "firing"]
        self._tell(over, now)

    def look_again(self, now: datetime) -> None:
        """Follow late rows: windows whose content changed, and all after them, once more."""
        for key, lane in self.lanes.items():
            if not lane.reopened():
                continue
            again = lane.replayed()
            self.lanes[key] = again
            self.reopened += 1
            if again.state.status != lane.state.status:
                about = {"from": lane.state.status, "to": again.state.status}
                self._note(key, "reopened", now, about)

    def go_on(self, now: Callable[[datetime], datetime], *, warm_up: bool = True) -> None:
        """Through all windows that were not looked at yet. ``now`` gives the time at which a
        window that ends then is looked at. With ``warm_up`` the past of new alerts stays quiet.
        """
        ahead = [
            (lane.windows[place].end, key, place)
            for key, lane in self.lanes.items()
            for place in lane.ahead()
        ]
        quiet = {
            (key, place)
            for key, lane in self.lanes.items()
            if warm_up and lane.state.window is None
            for place in lane.ahead()[:-1]
        }
        for end, group in groupby(sorted(ahead, key=itemgetter(0)), key=itemgetter(0)):
            loud = []
            for _, key, place in group:
                self._advance(key, place, now(end), quiet=(key, place) in quiet)
                if (key, place) not in quiet:
                    loud.append(key)
            self._tell(loud, now(end))

    def finish(self, now: datetime) -> dict[AlertKey, Track]:
        """Tell what is still to be told (ends of silences, reminders); what is to be kept."""
        self._tell(self.lanes, now)
        return {key: lane.settled().track for key, lane in self.lanes.items()}

    def _advance(self, key: AlertKey, place: int, now: datetime, *, quiet: bool) -> None:
        before = self.lanes[key]
        after = before.advanced(place)
        self.lanes[key] = after
        self.evaluated += not quiet
        status = after.state.status
        if quiet or status == before.state.status or status not in _SPOKEN:
            return
        how = after.state.ending if status == "resolved" else ""
        self._note(key, "rebaselined" if how == "rebaselined" else status, now)

    def _tell(self, keys: Iterable[AlertKey], now: datetime) -> None:
        chosen = [key for key in keys if _may_speak(self.lanes[key].state)]
        if not chosen:
            return
        inhibition = Inhibition(
            _subject(lane) for lane in self.lanes.values() if lane.state.status == "firing"
        )
        notices = []
        for key in chosen:
            lane = self.lanes[key]
            rule = lane.rule
            silence = silence_of(self._silences, rule.id, rule.severity, lane.labels, now)
            step = tell(
                lane.terms,
                lane.state,
                now,
                silence=0 if silence is None else silence.id,
                inhibitor=inhibition.inhibitor(_subject(lane)),
            )
            self.lanes[key] = lane.with_state(step.state)
            notices += [self._notice(key, kind, now) for kind in step.kinds]
        if notices:
            self._speak(notices, now)

    def _notice(self, key: AlertKey, kind: NoticeKind, now: datetime) -> Notice:
        """The notice of an alert; its beginning is kept, so that its end can be told alike."""
        lane = self.lanes[key]
        notice = notice_of(lane, kind, now)
        if kind == "repeat":
            self._note(key, "repeat", now)
            return notice
        kept = notice if kind == "firing" else None
        self.lanes[key] = replace(lane, track=replace(lane.track, notice=kept))
        return notice

    def _note(
        self, key: AlertKey, event: str, now: datetime, more: Mapping[str, str] | None = None
    ) -> None:
        self.events.append(
            Event(now, event, key.rule, key.id, {**place_of(self.lanes[key]), **(more or {})})
        )


def _may_speak(state: AlertState) -> bool:
    return state.status == "firing" or state.told.is_open


def _subject(lane: Lane) -> Subject:
    rule = lane.rule
    return Subject(rule.id, rule.severity, rule.metric, lane.key.stage, lane.key.judge, lane.labels)
