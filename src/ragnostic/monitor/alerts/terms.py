"""What the machine, and the check around it, need to know of a rule."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from ragnostic.monitor.alerts.machine import Terms
from ragnostic.monitor.alerts.rules import Rule
from ragnostic.stats.ewma import Baseline

_WARM_UP = {"hour": timedelta(days=16), "day": timedelta(days=60)}
_SEASONAL = timedelta(weeks=10)


def terms_of(rule: Rule) -> Terms:
    """The machine's terms of a rule.

    >>> terms_of(Rule(id="a", metric="RR@5", below=0.5)).baseline is None
    True
    """
    learns = rule.compared_with == "baseline"
    usual = Baseline(rule.alpha, rule.min_windows) if learns else None
    # In a week every season comes only once: one value has to do for the new level.
    shadow = Baseline(rule.alpha, 1) if learns and rule.seasonal else usual
    return Terms(
        rule=rule.id,
        severity=rule.severity,
        times=rule.times,
        repeat=rule.repeat,
        min_samples=rule.min_samples,
        baseline=usual,
        shadow=shadow,
        rebaseline_after=rule.rebaseline_after,
    )


def season_of(rule: Rule, start: datetime, zone: str) -> int:
    """Which baseline a window belongs to: the hour of the week from 0 (Monday, midnight), or the
    day of the week; 0 for all windows where the rule knows no seasons.

    >>> from datetime import UTC
    >>> monday = datetime(2026, 3, 2, 3, tzinfo=UTC)
    >>> rule = Rule(id="a", metric="RR@5", drop=0.1, window="hour", seasonal=True)
    >>> season_of(rule, monday, "UTC"), season_of(rule, monday, "Asia/Shanghai")
    (3, 11)
    """
    if not rule.seasonal:
        return 0
    local = start.astimezone(ZoneInfo(zone))
    return local.weekday() if rule.window == "day" else local.weekday() * 24 + local.hour


def warm_up(rule: Rule) -> timedelta:
    """How much of the past a new rule learns from."""
    return _SEASONAL if rule.seasonal else _WARM_UP[rule.window]


def definition_of(rule: Rule) -> str:
    """A digest of what a rule measures and learns: with another one its state means nothing.

    Limits, ``for``, severity and words may change without.

    >>> one = Rule(id="a", metric="RR@5", drop=0.1)
    >>> definition_of(one) == definition_of(Rule(id="a", metric="RR@5", drop=0.2))
    True
    >>> definition_of(one) == definition_of(Rule(id="a", metric="RR@10", drop=0.1))
    False
    """
    measured = (rule.metric, rule.stage, rule.slice, sorted(rule.where.items()), rule.window)
    learned = (rule.alpha, rule.min_windows, rule.seasonal)
    known = (measured, rule.compared_with, learned if rule.compared_with == "baseline" else ())
    return hashlib.blake2b(repr(known).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
