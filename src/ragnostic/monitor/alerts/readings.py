"""From the roll-ups of a store to one lane an alert: a rule on one slice value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ragnostic.monitor.alerts.lanes import LOOK_BACK, Lane
from ragnostic.monitor.alerts.rules import Rule
from ragnostic.monitor.alerts.states import AlertKey, AlertState, Track
from ragnostic.monitor.alerts.terms import definition_of, terms_of, warm_up
from ragnostic.monitor.rollups.series import Point, SeriesKey, read_series, windows_of
from ragnostic.ports import RecordStore

Tracks = Mapping[AlertKey, Track]


@dataclass(frozen=True, slots=True)
class Windows:
    """Which windows of a store are looked at: those that ended by ``end``; from ``start``, or
    without it from as far back as a rule needs.
    """

    store: RecordStore
    zone: str
    end: datetime
    start: datetime | None = None

    def lanes(self, rule: Rule, tracks: Tracks) -> Iterator[Lane]:
        """The alerts of a rule. ``tracks``: what is known of them; those that no row speaks of have
        windows without data.
        """
        known = {key: _current(track, rule) for key, track in tracks.items()}
        start = _begin(known, rule, self.end) if self.start is None else self.start
        found = {figure: self._series(rule, figure, start) for figure in rule.figures}
        own = found[rule.metric]
        judges = {key.judge for key in own}
        terms = terms_of(rule)
        for key, windows in own.items():
            name = AlertKey(rule.id, key.judge, key.stage, key.slice, key.value)
            labels = name.labels | ({"judge": key.judge} if len(judges) > 1 else {})
            points = {
                figure: series.get(replace(key, metric=figure), _nothing(_spans(windows)))
                for figure, series in found.items()
            }
            track = known.pop(name, Track(definition=definition_of(rule)))
            yield Lane(rule, terms, name, labels, points, self.zone, track)
        nothing = _nothing(windows_of(rule.window, start, self.end, self.zone)) if known else []
        for name, track in known.items():
            points = dict.fromkeys(rule.figures, nothing)
            yield Lane(rule, terms, name, name.labels, points, self.zone, track)

    def _series(self, rule: Rule, figure: str, start: datetime) -> dict[SeriesKey, list[Point]]:
        column, wanted = next(iter(rule.where.items()), (rule.slice, None))
        series = read_series(
            self.store,
            figure,
            window=rule.window,
            start=start,
            end=self.end,
            zone=self.zone,
            stage=rule.stage or None,
            slice_=column,
        )
        return {key: points for key, points in series.items() if wanted in {None, key.value}}


def _nothing(windows: Iterable[tuple[datetime, datetime]]) -> list[Point]:
    return [Point(start, end, None, 0, reason="no data") for start, end in windows]


def _current(track: Track, rule: Rule) -> Track:
    """What is known of an alert; where the rule measures something else now, only what people
    were told, so that they hear of the end.
    """
    if track.definition == definition_of(rule):
        return track
    before = track.state
    state = AlertState(
        status="resolved" if before.told.is_open else "inactive",
        ending="withdrawn",
        episode=before.episode,
        told=before.told,
    )
    return Track(state, AlertState(), (), definition_of(rule), track.notice)


def _begin(known: Tracks, rule: Rule, end: datetime) -> datetime:
    """From where windows are needed: those that may be looked at again, and what they are compared
    with; for a rule that knows nothing yet, enough to learn from.
    """
    oldest = [
        track.recent[0][0] if track.recent else track.state.window for track in known.values()
    ]
    longest = end - warm_up(rule)
    starts = [longest if start is None else start for start in oldest] or [longest]
    return min(starts) - LOOK_BACK


def _spans(windows: Sequence[Point]) -> Iterable[tuple[datetime, datetime]]:
    return ((window.start, window.end) for window in windows)
