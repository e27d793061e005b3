"""Alerts as they are exported: their states, and what figures are held against."""

from __future__ import annotations

from collections.abc import Mapping

from ragnostic.exporters.samples import Family, Sample
from ragnostic.monitor.alerts.rule_files import RuleBook
from ragnostic.monitor.alerts.states import AlertKey, Status, Track

STATE = "ragnostic_alert_state"
REFERENCE = "ragnostic_alert_reference"
CODES: Mapping[Status, int] = {"inactive": 0, "resolved": 0, "pending": 1, "firing": 2}


def exported_alerts(tracks: Mapping[AlertKey, Track], rules: RuleBook) -> list[Family]:
    """``ragnostic_alert_state`` of every alert (0 quiet, 1 pending, 2 firing), and
    ``ragnostic_alert_reference``, what its newest window was held against: a limit, a baseline or
    an earlier window. The latter only of rules on everything or on categories, whose figures are
    exported too.
    """
    severities = {rule.id: rule.severity for rule in rules.enabled}
    states, references = [], []
    for key, track in sorted(tracks.items()):
        if key.rule not in severities:
            continue
        place = {"stage": key.stage, "judge": key.judge}
        slice_ = f"{key.slice}={key.value}" if key.slice else ""
        more = {"severity": severities[key.rule], "slice": slice_}
        code = float(CODES[track.state.status])
        states.append(Sample(code, {"rule": key.rule, **place, **more}))
        reference = track.state.reading.reference
        if reference is not None and key.slice in {"", "category"}:
            labels = {"rule": key.rule, **place, "category": key.value}
            references.append(Sample(reference, labels))
    about = "State of an alert as Ragnostic has it: 0 quiet, 1 pending, 2 firing."
    held = "What the newest window of an alert was held against, in units of the figure."
    return [Family(STATE, about, "gauge", states), Family(REFERENCE, held, "gauge", references)]
