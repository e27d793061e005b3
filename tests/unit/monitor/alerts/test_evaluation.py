"""What a rule says of a window."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.monitor.alerts.evaluation import Outcome, evaluate
from ragnostic.monitor.alerts.rules import Rule
from ragnostic.monitor.rollups.series import Point
from ragnostic.stats.ewma import Baseline

START = datetime(2026, 3, 1, 16, tzinfo=UTC)
SIZES = {"hour": timedelta(hours=1), "day": timedelta(days=1)}
EVEN = 0.1
KNOWN = Baseline(value=0.8, seen=7)


def rule(**keys: Any) -> Rule:
    """A rule on RR@5 with these keys, as they stand in TOML."""
    return Rule.model_validate({"id": "a", "metric": "RR@5", **keys})


def points(*values: Any, window: str = "day", n: int = 500, half: float | None = EVEN):
    """Windows in a row; a value of None has no data."""
    found = []
    for place, value in enumerate(values):
        start = START + place * SIZES[window]
        known = value is not None
        low, high = (value - half, value + half) if known and half is not None else (None, None)
        found.append(Point(start, start + SIZES[window], value, n if known else 0, low, high))
    return found


def said(found: Rule, *values: Any, baseline: Baseline | None = KNOWN, **more: Any) -> Outcome:
    """The outcome of the last of some windows."""
    return evaluate(found, {"RR@5": points(*values, **more)}, baseline)


@pytest.mark.parametrize(
    ("keys", "value", "state"),
    [
        ({"below": 0.7}, 0.69, "breach"),
        ({"below": 0.7}, 0.7, "clear"),
        ({"below": 0.7}, 0.7 - 5e-10, "clear"),
        ({"above": 0.7}, 0.71, "breach"),
        ({"above": 0.7}, 0.1 + 0.6, "clear"),
        ({"drop": 0.1}, 0.69, "breach"),
        ({"drop": 0.1}, 0.7, "clear"),
        ({"drop": 0.1}, 0.95, "clear"),
        ({"rise": 0.1}, 0.91, "breach"),
        ({"rise": 0.1}, 0.9, "clear"),
        ({"rise": 0.1}, 0.6, "clear"),
        ({"drop": 0.1, "relative": True}, 0.73, "clear"),
        ({"drop": 0.1, "relative": True}, 0.72, "clear"),
        ({"drop": 0.1, "relative": True}, 0.71, "breach"),
        ({"rise": 0.5, "relative": True}, 1.21, "breach"),
    ],
)
def test_a_limit_must_be_passed(keys, value, state):
    """Equality does not fire, whatever binary arithmetic makes of it."""
    assert said(rule(**keys), value).state == state


@given(st.integers(0, 1000), st.integers(1, 1000))
def test_a_drop_of_exactly_the_limit_is_none(first, drop):
    """In thousandths, where subtraction is rarely exact."""
    usual = Baseline(value=(first + drop) / 1000)
    assert said(rule(drop=drop / 1000), first / 1000, baseline=usual).state == "clear"
    lower = (first - 1) / 1000
    assert said(rule(drop=drop / 1000), lower, baseline=usual).state == "breach"


@pytest.mark.parametrize(
    ("keys", "values"),
    [
        ({"below": 0.65, "clear": 0.7}, {0.64: "breach", 0.65: "hold", 0.69: "hold", 0.7: "clear"}),
        ({"above": 0.4, "clear": 0.3}, {0.41: "breach", 0.31: "hold", 0.3: "clear"}),
        ({"drop": 0.1, "clear": 0.05}, {0.69: "breach", 0.72: "hold", 0.75: "clear"}),
        ({"rise": 0.1, "clear": 0.0}, {0.91: "breach", 0.85: "hold", 0.8: "clear"}),
    ],
)
def test_between_limit_and_clear_it_holds(keys, values):
    """What fires goes on, what does not, does not begin."""
    assert {value: said(rule(**keys), value).state for value in values} == values


def test_a_window_without_data_is_neither_good_nor_bad():
    """And not 0."""
    found = said(rule(below=0.7), None)
    assert (found.state, found.value, found.n, found.reason) == ("no data", None, 0, "no data")


def test_the_reason_of_a_window_is_passed_on():
    """Recall below the logged depth is not measurable, not low."""
    window = Point(START, START + SIZES["day"], None, 0, reason="not measurable: top_k 50")
    found = evaluate(rule(below=0.85), {"RR@5": [window]}, None)
    assert (found.state, found.reason) == ("no data", "not measurable: top_k 50")


def test_too_few_rows_are_no_data_but_the_value_is_told():
    """The figures stand in the outcome all the same."""
    found = said(rule(below=0.7), 0.1, n=199)
    assert (found.state, found.value, found.n) == ("no data", 0.1, 199)
    assert found.reason == "199 rows, fewer than 200"


@pytest.mark.parametrize(
    ("baseline", "reason"),
    [
        (Baseline(seen=3), "no baseline yet: 3 of 7 windows"),
        (None, "no baseline yet: 0 of 7 windows"),
    ],
)
def test_without_a_baseline_nothing_is_said(baseline, reason):
    """The value is there to learn from."""
    found = said(rule(drop=0.1), 0.1, baseline=baseline)
    assert (found.state, found.value, found.reason) == ("no data", 0.1, reason)


def test_yesterday_and_last_week_are_the_same_window_then():
    """Of hours and of days."""
    days = [0.9, *[0.5] * 5, 0.8, 0.75]
    assert said(rule(drop=0.1, against="last week"), *days).reference == 0.9
    assert said(rule(drop=0.1, against="yesterday"), *days).reference == 0.8
    hours = [0.9, *[0.5] * 23, 0.85]
    yesterday = rule(drop=0.1, against="yesterday", window="hour")
    found = said(yesterday, *hours, window="hour")
    assert (found.reference, found.state) == (0.9, "clear")


@pytest.mark.parametrize("against", ["yesterday", "last week"])
def test_without_that_window_nothing_is_said(against):
    """Missing, empty or too small."""
    found = rule(drop=0.1, against=against)
    assert said(found, 0.5).reason == f"{against}: no such window"
    assert said(found, *[None] * 7, 0.5).reason == f"{against}: no data"
    small = points(*[0.9] * 8)
    small = [*(Point(p.start, p.end, p.value, 10) for p in small[:-1]), small[-1]]
    outcome = evaluate(found, {"RR@5": small}, None)
    assert outcome.reason == f"{against}: 10 rows, fewer than 200"


def test_a_day_of_25_hours_has_a_yesterday():
    """Where clocks change, days begin an hour earlier or later."""
    begins = [datetime(2026, 10, day, hour, tzinfo=UTC) for day, hour in ((24, 22), (25, 23))]
    ends = [begins[1], begins[1] + SIZES["day"]]
    windows = [Point(b, e, 0.8, 500) for b, e in zip(begins, ends, strict=True)]
    found = evaluate(rule(drop=0.1, against="yesterday"), {"RR@5": windows}, None)
    assert found.reference == 0.8


def test_a_share_of_nothing_is_not_known():
    """A baseline of 0 has no half."""
    found = said(rule(rise=0.5, relative=True), 0.4, baseline=Baseline(value=0.0))
    assert (found.state, found.reason) == (
        "no data",
        "baseline is 0, and nothing is a share of that",
    )


@pytest.mark.parametrize(
    ("keys", "value", "half", "state"),
    [
        ({"drop": 0.1}, 0.65, 0.1, "breach"),
        ({"drop": 0.1}, 0.65, 0.15, "hold"),
        ({"rise": 0.1}, 0.95, 0.1, "breach"),
        ({"rise": 0.1}, 0.95, 0.2, "hold"),
        ({"below": 0.7}, 0.65, 0.04, "breach"),
        ({"below": 0.7}, 0.65, 0.06, "hold"),
        ({"above": 0.7}, 0.75, 0.04, "breach"),
        ({"drop": 0.1}, 0.65, None, "hold"),
    ],
)
def test_beyond_the_interval_means_all_of_it(keys, value, half, state):
    """The whole interval lies on the other side; without one nothing is beyond it."""
    found = said(rule(beyond_interval=True, **keys), value, half=half)
    assert found.state == state
    assert found.reason == ("within its interval" if state == "hold" else "")


@pytest.mark.parametrize(("half", "state"), [(0.05, "breach"), (0.1, "hold"), (None, "hold")])
def test_two_windows_are_compared_by_their_difference(half, state):
    """Both are uncertain: 0.12 apart is much with ± 0.05 each, and not with ± 0.1 each."""
    falls = rule(drop=0.0, against="yesterday", beyond_interval=True)
    assert said(falls, 0.8, 0.68, half=half).state == state
    rises = rule(rise=0.0, against="yesterday", beyond_interval=True)
    assert said(rises, 0.68, 0.8, half=half).state == state


SLOW = {"below": 0.7, "with": [{"metric": "latency:p95", "above": 1.0}]}


@pytest.mark.parametrize(
    ("value", "latency", "state"),
    [(0.6, 1.1, "breach"), (0.6, 1.0, "clear"), (0.9, 1.1, "clear"), (0.6, None, "no data")],
)
def test_further_conditions_must_hold_too(value, latency, state):
    """In the same window; one of which nothing is known leaves it open."""
    found = evaluate(rule(**SLOW), {"RR@5": points(value), "latency:p95": points(latency)}, None)
    assert found.state == state
    assert found.facts["latency:p95"] == latency


def test_a_condition_that_does_not_hold_settles_it():
    """Whatever is not known of the others."""
    both = [{"metric": "empty", "above": 0.5}, {"metric": "failed", "below": 0.1}]
    series = {"RR@5": points(0.6), "failed": points(0.2)}
    found = evaluate(rule(below=0.7, **{"with": both}), series, None)
    assert (found.state, found.reason) == ("clear", "failed is 0.2")


def test_a_condition_looks_at_the_same_window():
    """Not at the last one that it has."""
    series = {"RR@5": points(0.6, 0.6), "latency:p95": points(1.1)}
    found = evaluate(rule(**SLOW), series, None)
    assert (found.state, found.reason) == ("no data", "latency:p95: no such window")


def test_an_outcome_says_what_it_is_made_of():
    """For messages and for the history."""
    found = said(rule(drop=0.1), 0.65)
    assert (found.value, found.reference, found.n) == (0.65, 0.8, 500)
    assert (found.low, found.high) == (0.55, 0.75)
    assert found.facts == {"against": "baseline", "limit": 0.1, "change": pytest.approx(-0.15)}
    assert said(rule(below=0.7), 0.65).reference == 0.7
