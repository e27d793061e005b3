"""Alerts as they are exported: their states, their values, and what those are held against."""

from __future__ import annotations

from collections.abc import Mapping

from ragnostic.exporters.samples import Family, Sample
from ragnostic.monitor.alerts.rule_files import RuleBook
from ragnostic.monitor.alerts.states import AlertKey, Status, Track

STATE = "ragnostic_alert_state"
VALUE = "ragnostic_alert_value"
REFERENCE = "ragnostic_alert_reference"
CHECKED = "ragnostic_alerts_window_end_timestamp_seconds"
LABELS = ("rule", "stage", "judge", "severity", "slice")
CODES: Mapping[Status, int] = {"inactive": 0, "resolved": 0, "pending": 1, "firing": 2}
_ABOUT = {
    STATE: "State of an alert as Ragnostic has it: 0 quiet, 1 pending, 2 firing.",
    VALUE: "The figure of an alert in its newest window, in units of the figure.",
    REFERENCE: "What the newest window of an alert was held against, in units of the figure.",
    CHECKED: "End of the newest window that the check of the alerts has looked at.",
}


def exported_alerts(tracks: Mapping[AlertKey, Track], rules: RuleBook) -> list[Family]:
    """``ragnostic_alert_state`` of every alert (0 quiet, 1 pending, 2 firing, silenced ones too);
    ``ragnostic_alert_value`` and ``ragnostic_alert_reference``, what its newest window was held
    against (a limit, a baseline or an earlier window), where that window has data; and until when
    the alerts have been checked.
    """
    severities = {rule.id: rule.severity for rule in rules.enabled}
    found: dict[str, list[Sample]] = {name: [] for name in _ABOUT}
    ends = []
    for key, track in sorted(tracks.items()):
        if key.rule not in severities:
            continue
        slice_ = f"{key.slice}={key.value}" if key.slice else ""
        names = (key.rule, key.stage, key.judge, severities[key.rule], slice_)
        labels = dict(zip(LABELS, names, strict=True))
        reading = track.state.reading
        found[STATE].append(Sample(float(CODES[track.state.status]), labels))
        for name, number in ((VALUE, reading.value), (REFERENCE, reading.reference)):
            if number is not None:
                found[name].append(Sample(number, labels))
        ends += [] if reading.end is None else [reading.end.timestamp()]
    found[CHECKED] += [Sample(max(ends))] if ends else []
    return [Family(name, _ABOUT[name], "gauge", samples) for name, samples in found.items()]
