"""The alerts of a store as they are exported: what ``ragnostic alerts check`` found last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ragnostic.exporters.samples import Family, Sample
from ragnostic.monitor.alerts.book import BOOK, Book
from ragnostic.monitor.alerts.states import AlertKey, Track

STATE = "ragnostic_alert_state"
VALUE = "ragnostic_alert_value"
REFERENCE = "ragnostic_alert_reference"
CHECKED = "ragnostic_alerts_window_end_timestamp_seconds"
FIRING = 2
_STATES = {"inactive": 0, "resolved": 0, "pending": 1, "firing": FIRING}


def alert_families(root: Path) -> list[Family]:
    """State, value and reference of every alert of a store folder; none where nobody checks."""
    if not (root / BOOK).exists():
        return []
    with Book(root) as book:
        return list(families(book.read().tracks))


def families(tracks: Mapping[AlertKey, Track]) -> Iterator[Family]:
    """The families of these alerts. A window without data gives no value, and keeps the state."""
    rows = sorted(tracks.items())
    states = [Sample(float(_STATES[track.state.status]), _labels(key)) for key, track in rows]
    yield Family(
        STATE,
        "Alert of a rule: 0 inactive, 1 pending, 2 firing; silenced ones too.",
        "gauge",
        states,
    )
    values, references = (
        [
            Sample(number, _labels(key))
            for key, track in rows
            if (number := getattr(track.state.reading, name)) is not None
        ]
        for name in ("value", "reference")
    )
    yield Family(VALUE, "The figure of a rule in the newest window.", "gauge", values)
    about = "What that value was held against: a limit, a baseline or an earlier window."
    yield Family(REFERENCE, about, "gauge", references)
    ends = [end for _, track in rows if (end := track.state.reading.end) is not None]
    newest = [Sample(max(ends).timestamp())] if ends else []
    about = "End of the newest window that the check of the alerts has looked at."
    yield Family(CHECKED, about, "gauge", newest)


def _labels(key: AlertKey) -> dict[str, str]:
    place = {"rule": key.rule, "stage": key.stage, "judge": key.judge}
    return {**place, "slice": key.slice, "value": key.value}
