"""What a rule says of a window: a pure function of the windows so far (METRICS 13)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal, NamedTuple

from ragnostic.monitor.alerts.rules import Condition, Rule
from ragnostic.monitor.rollups.series import Point
from ragnostic.stats.ewma import Baseline
from ragnostic.stats.window_difference import Measured, window_difference

TOLERANCE = 1e-9
"""Equality does not fire, whatever binary arithmetic makes of it."""
FALLING = frozenset({"below", "drop"})
_BACK = {"yesterday": timedelta(days=1), "last week": timedelta(days=7)}
_SUMMER_TIME = timedelta(hours=2)
"""A day begins so much earlier or later at most than one of 24 hours would."""

OutcomeState = Literal["breach", "hold", "clear", "no data"]
Points = Mapping[str, Sequence[Point]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was found in a window.

    ``state``: *breach*; *clear*, it is as it should be; *hold*, neither: over the limit but within
    its interval, or back over the limit but not yet at ``clear``; *no data*, nothing can be said,
    and ``reason`` says why. ``value`` and ``n`` are those of the window even then, so that a
    baseline can learn. ``reference`` is what the value is held against: the limit, or the figure's
    value before. ``facts``: ``against``, ``limit``, ``change`` and the figures of further
    conditions, where they are known.
    """

    state: OutcomeState
    value: float | None
    reference: float | None
    low: float | None
    high: float | None
    n: int
    window: Point
    reason: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


class _Reference(NamedTuple):
    """What a window is compared with; ``window`` where that is a window itself."""

    value: float | None
    window: Point | None = None
    reason: str = ""


def evaluate(rule: Rule, points: Points, baseline: Baseline | None) -> Outcome:
    """What a rule says of the newest window.

    ``points``: the windows of each of ``rule.figures``, oldest first, at least one of the rule's
    own; for rules against yesterday or last week a day or a week of them. ``baseline``: what was
    learned *before* this window, of its season; not looked at by other rules.

    **Beyond the interval.** With ``beyond_interval`` a change must also be more than chance
    explains. Against a limit or a baseline: the window's whole 95 % interval lies beyond it (a
    baseline counts as known exactly). Against another window: Welch's 95 % interval of the
    difference of the two lies beyond 0 (:mod:`ragnostic.stats.window_difference`). A window
    without an interval is not beyond.

    >>> from datetime import UTC, datetime
    >>> day = datetime(2026, 3, 1, tzinfo=UTC)
    >>> today = Point(day, day + timedelta(days=1), 0.7, 900)
    >>> rule = Rule(id="a", metric="RR@5", drop=0.1)
    >>> evaluate(rule, {"RR@5": [today]}, Baseline(value=0.8)).state
    'clear'
    >>> evaluate(rule, {"RR@5": [today]}, Baseline(value=0.81)).state
    'breach'
    """
    windows = points[rule.metric]
    window = windows[-1]
    reference = _reference(rule, windows, baseline)
    unknown = _lacking(window, rule.min_samples) or reference.reason
    if window.value is None or unknown:
        return _outcome("no data", window, reference.value, unknown, _facts(rule, window, None))
    change = _change(rule, window.value, reference.value)
    facts = _facts(rule, window, change)
    if change is None:
        return _outcome("no data", window, reference.value, _no_share(rule), facts)
    state, reason = _judged(rule, window, reference, change)
    others = {one.metric: _of_window(points.get(one.metric, ()), window) for one in rule.conditions}
    facts |= {name: None if one is None else one.value for name, one in others.items()}
    if state != "clear":
        state, reason = _with_conditions(rule, others, state, reason)
    return _outcome(state, window, reference.value, reason, facts)


def _with_conditions(
    rule: Rule, others: Mapping[str, Point | None], state: OutcomeState, reason: str
) -> tuple[OutcomeState, str]:
    """One that does not hold settles it; one of which nothing is known leaves it open."""
    for condition in rule.conditions:
        found = others[condition.metric]
        lacking = _lacking(found, rule.min_samples)
        if lacking:
            state, reason = "no data", f"{condition.metric}: {lacking}"
        elif found is not None and found.value is not None and not _holds(condition, found.value):
            return "clear", f"{condition.metric} is {found.value:.4g}"
    return state, reason


def _outcome(
    state: OutcomeState,
    window: Point,
    reference: float | None,
    reason: str,
    facts: Mapping[str, Any],
) -> Outcome:
    value, low, high, n = window.value, window.low, window.high, window.n
    return Outcome(state, value, reference, low, high, n, window, reason, facts)


def _facts(rule: Rule, window: Point, change: float | None) -> dict[str, Any]:
    known = {"against": rule.compared_with, "limit": rule.limit}
    return known if window.value is None or change is None else {**known, "change": change}


def _reference(rule: Rule, windows: Sequence[Point], baseline: Baseline | None) -> _Reference:
    against = rule.compared_with
    if against == "limit":
        return _Reference(rule.limit)
    if against == "baseline":
        if baseline is None or baseline.value is None:
            seen = 0 if baseline is None else baseline.seen
            enough = rule.min_windows if baseline is None else baseline.min_windows
            return _Reference(None, None, f"no baseline yet: {seen} of {enough} windows")
        return _Reference(baseline.value)
    then = _same_window(rule, windows, _BACK[against])
    lacking = _lacking(then, rule.min_samples)
    if then is None or lacking:
        return _Reference(None, None, f"{against}: {lacking}")
    return _Reference(then.value, then)


def _same_window(rule: Rule, windows: Sequence[Point], back: timedelta) -> Point | None:
    """The window of 24 hours, or 7 times 24 hours, before; days may be longer or shorter."""
    wanted = windows[-1].start - back
    spare = _SUMMER_TIME if rule.window == "day" else timedelta()
    place = bisect_left(windows, wanted - spare, key=lambda one: one.start)
    found = windows[place]
    return found if abs(found.start - wanted) <= spare else None


def _lacking(window: Point | None, min_samples: int) -> str:
    """Why a window says nothing; empty where it does."""
    if window is None:
        return "no such window"
    if window.value is None:
        return window.reason or "no data"
    if window.n < min_samples:
        return f"{window.n} rows, fewer than {min_samples}"
    return ""


def _of_window(windows: Sequence[Point], window: Point) -> Point | None:
    found = windows[-1] if windows else None
    return found if found is not None and found.start == window.start else None


def _change(rule: Rule, value: float, reference: float | None) -> float | None:
    """The figure itself, or how far it rose (a fall is negative); None for a share of 0."""
    if rule.compared_with == "limit" or reference is None:
        return value
    if not rule.relative:
        return value - reference
    return (value - reference) / abs(reference) if abs(reference) > TOLERANCE else None


def _no_share(rule: Rule) -> str:
    return f"{rule.compared_with} is 0, and nothing is a share of that"


def _judged(
    rule: Rule, window: Point, reference: _Reference, change: float
) -> tuple[OutcomeState, str]:
    """The state by the rule's own figure, and why it is on hold."""
    passed = _passed(rule, change, rule.limit)
    if passed and rule.beyond_interval and not _beyond(rule, window, reference):
        return "hold", "within its interval"
    if passed:
        return "breach", ""
    if rule.clear is not None and _passed(rule, change, rule.clear):
        return "hold", "not yet at its clear value"
    return "clear", ""


def _passed(rule: Rule, change: float, limit: float) -> bool:
    """Whether the change is over a limit; a drop is given as a positive number."""
    if rule.comparison == "drop":
        return -change > limit + TOLERANCE
    if rule.comparison == "below":
        return change < limit - TOLERANCE
    return change > limit + TOLERANCE


def _holds(condition: Condition, value: float) -> bool:
    if condition.comparison == "below":
        return condition.below is not None and value < condition.below - TOLERANCE
    return condition.above is not None and value > condition.above + TOLERANCE


def _beyond(rule: Rule, window: Point, reference: _Reference) -> bool:
    falling = rule.comparison in FALLING
    if reference.window is not None:
        pair = (_measured(window), _measured(reference.window))
        if pair[0] is None or pair[1] is None:
            return False
        low, high = window_difference(pair[0], pair[1])
        return high < -TOLERANCE if falling else low > TOLERANCE
    end = window.high if falling else window.low
    if end is None or reference.value is None:
        return False
    apart = end - reference.value
    return apart < -TOLERANCE if falling else apart > TOLERANCE


def _measured(window: Point) -> Measured | None:
    if window.value is None or window.low is None or window.high is None:
        return None
    return Measured(window.value, window.n, window.low, window.high)
