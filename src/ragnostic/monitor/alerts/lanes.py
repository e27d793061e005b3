"""One alert on its way through its windows, and what to do when late rows re-open some of them."""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ragnostic.monitor.alerts.evaluation import Outcome, evaluate
from ragnostic.monitor.alerts.machine import Terms, advance, caught_up
from ragnostic.monitor.alerts.rules import Rule
from ragnostic.monitor.alerts.states import AlertKey, AlertState, Track
from ragnostic.monitor.alerts.terms import season_of
from ragnostic.monitor.rollups.series import Point

REOPENED: Mapping[str, int] = {"hour": 72, "day": 7}
"""So many of the last windows are looked at again when late rows change them."""
LOOK_BACK = timedelta(days=8)
"""What a rule may compare a window with is not older: the same one a week before."""


@dataclass(frozen=True, slots=True)
class Lane:
    """A rule on one slice value. ``points``: for each metric that the rule looks at, the closed
    windows that are known, oldest first, the same ones for all of them.
    """

    rule: Rule
    terms: Terms
    key: AlertKey
    labels: Mapping[str, str]
    points: Mapping[str, Sequence[Point]]
    zone: str
    track: Track

    @property
    def state(self) -> AlertState:
        """The alert as it is now."""
        return self.track.state

    @property
    def windows(self) -> Sequence[Point]:
        """The windows of the rule's own metric."""
        return self.points[self.rule.metric]

    def with_state(self, state: AlertState) -> Lane:
        """The same lane in another state."""
        return replace(self, track=replace(self.track, state=state))

    def outcome(self, place: int, state: AlertState) -> Outcome:
        """What the rule says of a window, given what it has learned so far."""
        window = self.windows[place]
        first = bisect_right(self.windows, window.start - LOOK_BACK, key=_start)
        seen = {name: points[first : place + 1] for name, points in self.points.items()}
        season = season_of(self.rule, window.start, self.zone)
        baseline = state.baselines.get(season, self.terms.baseline)
        return evaluate(self.rule, seen, baseline)

    def advanced(self, place: int) -> Lane:
        """After one window more."""
        window = self.windows[place]
        recent = (*self.track.recent, (window.start, self.digest(place)))
        track = replace(self.track, state=self._after(place, self.state), recent=recent)
        return replace(self, track=track)

    def digest(self, place: int) -> str:
        """A text that changes with what a window holds."""
        held = [
            (name, points[place].value, points[place].n) for name, points in self.points.items()
        ]
        return hashlib.blake2b(repr(sorted(held)).encode(), digest_size=4).hexdigest()

    def reopened(self) -> bool:
        """Whether a window that was looked at holds something else by now."""
        return any(
            (place := self._place(start)) is not None and self.digest(place) != digest
            for start, digest in self.track.recent
        )

    def replayed(self) -> Lane:
        """After the recent windows were looked at again, one after the other."""
        state = self.track.settled
        recent = []
        for start, digest in self.track.recent:
            place = self._place(start)
            if place is not None:
                state = self._after(place, state)
            recent.append((start, digest if place is None else self.digest(place)))
        track = replace(self.track, state=caught_up(self.state, state), recent=tuple(recent))
        return replace(self, track=track)

    def settled(self) -> Lane:
        """Windows that are too long ago to be looked at again are settled."""
        kept = REOPENED[self.rule.window]
        state = self.track.settled
        for start, _ in self.track.recent[:-kept]:
            place = self._place(start)
            state = state if place is None else self._after(place, state)
        recent = self.track.recent[-kept:]
        return replace(self, track=replace(self.track, settled=state, recent=recent))

    def ahead(self) -> range:
        """The places of the windows that were not looked at yet; for a new alert, from its first
        row on.
        """
        newest = self.state.window
        if newest is None:
            first = (place for place, window in enumerate(self.windows) if window.n)
            return range(next(first, len(self.windows)), len(self.windows))
        return range(bisect_right(self.windows, newest, key=_start), len(self.windows))

    def _after(self, place: int, state: AlertState) -> AlertState:
        season = season_of(self.rule, self.windows[place].start, self.zone)
        return advance(self.terms, state, self.outcome(place, state), season=season)

    def _place(self, start: datetime) -> int | None:
        """Where a window stands; None where it is not among those that were read."""
        place = bisect_left(self.windows, start, key=_start)
        found = place < len(self.windows) and self.windows[place].start == start
        return place if found else None


def _start(window: Point) -> datetime:
    return window.start
