"""From the state of an alert to the notice about it, in plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from ragnostic.monitor.alerts.lanes import Lane
from ragnostic.monitor.alerts.states import AlertKey
from ragnostic.monitor.alerts.terms import season_of
from ragnostic.ports import Notice, NoticeKind


def episode_key(key: AlertKey, episode: int) -> str:
    """The key of an episode in messages: short, and without a word of a user.

    >>> episode_key(AlertKey("mrr-drop", slice="category", value="refunds"), 3)
    'mrr-drop:a9823407:3'
    """
    return f"{key.rule}:{key.id}:{episode}"


def notice_of(lane: Lane, kind: NoticeKind, now: datetime) -> Notice:
    """The notice about an alert whose state says already that it has been told.

    An end goes out as the beginning did: with the severity and the slice that people know. How an
    alert that was closed by hand or with its rule stands now is not said, since nothing is better.
    """
    rule, state, reading = lane.rule, lane.state, lane.state.reading
    start = reading.start or now
    value, reference = reading.value, reading.reference
    if kind == "rebaselined" and reading.start is not None:
        level = state.baselines.get(season_of(rule, reading.start, lane.zone))
        value = value if level is None else level.value
    if kind == "resolved" and state.ending in {"closed", "withdrawn"}:
        value = None
    notice = Notice(
        key=episode_key(lane.key, state.told.episode),
        kind=kind,
        severity=rule.severity,
        rule=rule.id,
        metric=rule.metric,
        value=value,
        reference=reference,
        against=rule.compared_with,
        n=reading.n,
        since=state.since or start,
        window=(start, reading.end or now),
        zone=lane.zone,
        stage=lane.key.stage,
        slice=dict(lane.labels),
        low=None if kind == "rebaselined" else reading.low,
        high=None if kind == "rebaselined" else reading.high,
        summary=_by_language(rule.summary),
        likely_cause=_by_language(rule.likely_cause),
        owner=rule.owner,
        runbook=rule.runbook,
    )
    known = lane.track.notice
    if kind == "firing" or known is None:
        return notice
    return replace(notice, severity=known.severity, slice=known.slice, owner=known.owner)


def _by_language(texts: Mapping[Any, str]) -> dict[str, str]:
    return {str(language): text for language, text in texts.items()}


def withdrawn(notice: Notice, now: datetime) -> Notice:
    """The end of an episode whose rule is gone."""
    window = (notice.window[0], max(now, notice.window[1]))
    return replace(notice, kind="resolved", value=None, low=None, high=None, window=window)


def place_of(lane: Lane) -> dict[str, Any]:
    """What the history says beside the name of an alert: where, and what was found there."""
    reading = lane.state.reading
    return {
        **({"slice": dict(lane.labels)} if lane.labels else {}),
        "severity": lane.rule.severity,
        "episode": lane.state.episode,
        "value": reading.value,
        "reference": reading.reference,
        "n": reading.n,
        "window": reading.start,
        "since": lane.state.since,
    }
