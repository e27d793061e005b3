"""Alerts as people and programs are shown them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from ragnostic.errors import UsageError, counted
from ragnostic.monitor.alerts.rule_files import RuleBook
from ragnostic.monitor.alerts.states import AlertKey, Track
from ragnostic.ports import Notice

_ORDER = {"firing": 0, "pending": 1, "resolved": 2, "inactive": 3}


@dataclass(frozen=True, slots=True)
class AlertView:
    """One alert. ``marks``: silenced, inhibited, acknowledged, no data, untold; each with whatever
    there is to say about it.
    """

    key: AlertKey
    severity: str
    track: Track
    marks: Mapping[str, str]

    def as_json(self, zone: str) -> dict[str, Any]:
        """For strict JSON, times in a zone."""
        state, reading, key = self.track.state, self.track.state.reading, self.key
        return {
            "id": key.id,
            "rule": key.rule,
            "severity": self.severity,
            "status": state.status,
            "marks": dict(self.marks),
            "slice": key.labels,
            "stage": key.stage,
            "judge": key.judge,
            "since": shown(state.since, zone),
            "episode": state.episode,
            "window": shown(reading.start, zone),
            "value": reading.value,
            "reference": reading.reference,
            "n": reading.n,
            "reason": reading.reason,
            "baseline": state.baselines[0].value if 0 in state.baselines else None,
        }


def views(tracks: Mapping[AlertKey, Track], rules: RuleBook) -> list[AlertView]:
    """All alerts: what fires first, the gravest first."""
    severities = {rule.id: rule.severity for rule in rules.rules}
    found = [
        AlertView(key, severities.get(key.rule, "–"), track, _marks(track))
        for key, track in tracks.items()
    ]
    return sorted(found, key=lambda one: (_ORDER[one.track.state.status], one.severity, one.key))


def _marks(track: Track) -> dict[str, str]:
    state = track.state
    firing = state.status == "firing"
    by = state.acknowledged
    marks = {
        "silenced": f"silence {state.silence}" if state.silence else "",
        "inhibited": f"by {state.inhibitor}" if firing and state.inhibitor else "",
        "acknowledged": ""
        if by is None
        else f"by {by.author}" + (f": {by.note}" if by.note else ""),
        "no data": state.reading.reason or "no data" if state.reading.state == "no data" else "",
    }
    return {name: text for name, text in marks.items() if text}


def find_alert(tracks: Iterable[AlertKey], name: str) -> AlertKey:
    """The alert of an id, or of a rule that has one alert only; raises UsageError otherwise.

    >>> key = AlertKey("mrr-drop")
    >>> find_alert([key], "mrr-drop") == find_alert([key], key.id[:4]) == key
    True
    """
    known = list(tracks)
    found = [key for key in known if key.rule == name]
    found = found or [key for key in known if len(name) >= 3 and key.id.startswith(name)]
    if len(found) == 1:
        return found[0]
    if found:
        listed = ", ".join(f"{key.id} ({_slice(key)})" for key in found[:5])
        raise UsageError(
            f"{name} is {counted(len(found), 'alert')}: {listed}", hint="give the id of one"
        )
    raise UsageError(f"there is no alert {name!r}", hint="ids are in: ragnostic alerts list")


def _slice(key: AlertKey) -> str:
    return f"{key.slice} = {key.value}" if key.slice else "everything"


def notice_json(notice: Notice, zone: str) -> dict[str, Any]:
    """A message for strict JSON."""
    return {
        "key": notice.key,
        "kind": notice.kind,
        "severity": notice.severity,
        "rule": notice.rule,
        "slice": dict(notice.slice),
        "metric": notice.metric,
        "value": notice.value,
        "reference": notice.reference,
        "against": notice.against,
        "n": notice.n,
        "since": shown(notice.since, zone),
        "window": [shown(one, zone) for one in notice.window],
        "worst_query": notice.worst_query,
    }


def shown(instant: datetime | None, zone: str) -> str | None:
    """An instant in a zone, as ISO 8601.

    >>> from datetime import UTC
    >>> shown(datetime(2026, 3, 1, 16, tzinfo=UTC), "Asia/Shanghai")
    '2026-03-02T00:00:00+08:00'
    """
    return None if instant is None else instant.astimezone(ZoneInfo(zone)).isoformat()
