"""Cases from the field that a rule and the alert machine decide."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from ragnostic.monitor.alerts.evaluation import Outcome, evaluate
from ragnostic.monitor.alerts.machine import Terms, step
from ragnostic.monitor.alerts.rule_files import load_rules
from ragnostic.monitor.alerts.rules import Rule
from ragnostic.monitor.alerts.states import AlertState
from ragnostic.monitor.rollups.estimates import Sums, estimate
from ragnostic.monitor.rollups.series import Point
from ragnostic.monitor.rollups.sketches import ACCURACY, sketch_of
from ragnostic.stats import nearest_rank
from ragnostic.stats.ewma import Baseline

pytestmark = pytest.mark.shared
START = datetime(2026, 3, 1, 16, tzinfo=UTC)
DAY = timedelta(days=1)
KNOWN = {"alert-boundary", "alert-level-shift", "alert-percentile-not-averaged"}


def case(shared: Path, name: str) -> dict:
    """A case by its id."""
    return json.loads((shared / "cases" / f"{name}.json").read_text(encoding="utf-8"))


def shipped(rule_id: str, **changes: object) -> Rule:
    """A shipped rule, with what a case has otherwise."""
    return load_rules(None).rule(rule_id).model_copy(update=changes)


def days(values: list[float], n: int = 500) -> list[Point]:
    """A day each."""
    return [
        Point(START + place * DAY, START + (place + 1) * DAY, value, n)
        for place, value in enumerate(values)
    ]


def test_there_are_no_other_cases(shared):
    """Each has a test below."""
    assert {path.stem for path in (shared / "cases").glob("alert-*.json")} == KNOWN


@pytest.mark.parametrize("against", ["baseline", "yesterday"])
def test_a_drop_of_exactly_the_limit(shared, against):
    """Does not fire, whatever yesterday is taken for; a little more does."""
    given, expect = (case(shared, "alert-boundary")[part] for part in ("given", "expect"))
    rule = shipped("mrr-drop", against=against)
    assert rule.drop == expect["drop"]
    usual = Baseline(value=given["yesterday"])

    def found(today: float) -> Outcome:
        return evaluate(rule, {"RR@5": days([given["yesterday"], today])}, usual)

    assert found(given["today"]).facts["change"] == pytest.approx(-expect["drop"])
    assert (found(given["today"]).state == "breach") is expect["fires"]
    assert found(given["today"] - 1e-6).state == "breach"


def test_a_lasting_drop_is_told_once(shared):
    """The baseline stays, every window is in breach, and one message is sent for all of them."""
    given, expect = (case(shared, "alert-level-shift")[part] for part in ("given", "expect"))
    rule = shipped("mrr-drop", alpha=given["alpha"], min_samples=given["min_samples"])
    fresh = Baseline(rule.alpha, rule.min_windows)
    terms = Terms(rule.id, rule.severity, rule.times, None, rule.min_samples, fresh, fresh, None)
    windows = days(given["series"], n=given["min_samples"])
    state, told, firing = AlertState(), [], []
    for place, window in enumerate(windows):
        usual = state.baselines.get(0, fresh)
        outcome = evaluate(rule, {"RR@5": windows[: place + 1]}, usual)
        state, kinds = step(terms, state, outcome, window.end)
        told += kinds
        firing += [place] if state.status == "firing" else []
    assert firing == expect["firing_windows"]
    assert len(told) == expect["notifications"]
    assert told == ["firing"]
    assert state.baselines[0].value == pytest.approx(expect["baseline_last"])
    back = Point(windows[-1].end, windows[-1].end + DAY, 0.8, 500)
    recovered = evaluate(rule, {"RR@5": [*windows, back]}, state.baselines[0])
    assert step(terms, state, recovered, back.end).kinds == ("resolved",)


def test_a_percentile_is_over_rows_not_over_windows(shared):
    """The hours' sketches are merged, and the rule looks at all rows at once."""
    given, expect = (
        case(shared, "alert-percentile-not-averaged")[part] for part in ("given", "expect")
    )
    hours = [np.full(row["count"], row["latency_s"]) for row in given["rows"]]
    rows = np.concatenate(hours)
    used = np.zeros(rows.size)
    used[: given["used_total"]] = 1.0
    for percent in given["percentiles"]:
        assert nearest_rank(rows, percent) == expect[f"P{percent}"]

    whole, first = Sums(), 0
    for hour in hours:
        part = used[first : first + hour.size]
        costs = (float(hour.sum()), float((hour * hour).sum()), float((part * hour).sum()))
        sums = float(part.sum()), float((part * part).sum())
        whole += Sums(hour.size, *sums, costs, (sketch_of(hour),))
        first += hour.size
    figures = {name: estimate(name, whole) for name in ("QER@5", "latency:p50", "latency:p95")}
    for percent in given["percentiles"]:
        found = figures[f"latency:p{percent}"].value
        assert found == pytest.approx(expect[f"P{percent}"], rel=ACCURACY)
    assert figures["QER@5"].value == pytest.approx(expect["QER"], abs=1e-6)

    rule = shipped("qer-collapse", min_samples=rows.size)
    points = {
        name: [Point(START, START + DAY, one.value, rows.size, one.low, one.high)]
        for name, one in figures.items()
    }
    assert (evaluate(rule, points, None).state == "breach") is expect["fires"]
