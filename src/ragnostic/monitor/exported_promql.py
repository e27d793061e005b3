"""A rule in PromQL, over what :mod:`ragnostic.monitor.exported` exports."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Literal

from ragnostic.exporters.prometheus_rules import RecordingRule, selector
from ragnostic.monitor.alerts.evaluation import TOLERANCE
from ragnostic.monitor.alerts.rules import Comparison, Condition, Rule
from ragnostic.monitor.exported import ROWS, family_of
from ragnostic.monitor.exported_alerts import CODES, STATE

VALUE = "ragnostic:rule_value"
CHANGE = "ragnostic:rule_change"
LONGEST_HOLD = "7d"
"""A firing alert whose figure has no data any more ends after this."""
STORE = "instance, job"
"""What tells one store from another one in the same Prometheus."""
PLACE = f"{STORE}, stage, judge, category"
_BACK = {"yesterday": "1d", "last week": "7d"}

Reason = Literal["", "baseline", "interval", "slice", "figure"]
"""Why PromQL cannot say what a rule says: nothing hinders; a baseline that learns and is frozen
while the rule fires; an interval; a slice or a figure that is not exported.
"""


def alert_name(rule_id: str) -> str:
    """As Prometheus' alerts are called.

    >>> alert_name("mrr-drop-category")
    'RagnosticMrrDropCategory'
    """
    return "Ragnostic" + "".join(part.capitalize() for part in rule_id.split("-"))


def hindrance(rule: Rule) -> Reason:
    """Why a rule cannot be said in PromQL, or nothing.

    >>> hindrance(Rule(id="a", metric="RR@5", below=0.5))
    ''
    >>> hindrance(Rule(id="a", metric="RR@5", drop=0.1))
    'baseline'
    """
    if any(family_of(figure) is None for figure in rule.figures):
        return "figure"
    if {rule.slice, *rule.where} - {"", "category"}:
        return "slice"
    if rule.beyond_interval:
        return "interval"
    return "baseline" if rule.compared_with == "baseline" else ""


def recordings(rule: Rule, stage: str) -> Iterator[RecordingRule]:
    """The figures of a rule where they have enough rows, and the change that it looks at.

    ``stage``: that of the rule, or the one that it means; every stage where it is empty.
    """
    for figure in rule.figures:
        yield RecordingRule(VALUE, _value(rule, figure, stage), {"rule": rule.id, "metric": figure})
    back = _BACK.get(rule.compared_with)
    if back is not None:
        own = _recorded(VALUE, rule, rule.metric)
        change = f"{own} - {own} offset {back}"
        if rule.relative:
            change = f"({change})\n/ (abs({own} offset {back}) > {TOLERANCE})"
        yield RecordingRule(CHANGE, change, {"rule": rule.id, "metric": rule.metric})


def expression(rule: Rule) -> str:
    """In breach; or firing, and not known to be back: at ``clear``, or in a window with data of
    which a further condition does not hold. No data ends nothing.
    """
    watched = _recorded(VALUE if rule.compared_with == "limit" else CHANGE, rule, rule.metric)
    breach = f"{watched} {_passes(rule.comparison, rule.limit)}"
    clear = rule.limit if rule.clear is None else rule.clear
    firing = {"alertname": alert_name(rule.id), "alertstate": "firing", "rule": rule.id}
    hold = (
        f"last_over_time({watched}[{LONGEST_HOLD}]) {_passes(rule.comparison, clear)}\n"
        f"  and on ({PLACE})\n"
        f"    {selector('ALERTS', firing)}"
    )
    for condition in rule.conditions:
        found = _recorded(VALUE, rule, condition.metric)
        breach += f"\nand on ({PLACE})\n  {found} {_condition(condition)}"
        fails = f"{found} {_condition(condition, holds=False)} and on ({PLACE}) {watched}"
        hold += f"\n  unless on ({PLACE})\n    ({fails})"
    return f"{breach}\nor (\n  {hold}\n)"


def state_expression(rule: Rule) -> str:
    """What ``ragnostic alerts check`` found.

    >>> state_expression(Rule(id="a", metric="RR@5", drop=0.1))
    'ragnostic_alert_state{rule="a"} == 2'
    """
    return f"{selector(STATE, {'rule': rule.id})} == {CODES['firing']}"


def lasting(rule: Rule, settle: timedelta) -> timedelta:
    """For how long a figure is in breach when ``for`` windows in a row are: the first one is seen
    at once, each further one when it has closed; ``settle`` longer, so that none is seen twice.

    >>> lasting(
    ...     Rule.model_validate({"id": "a", "metric": "RR@5", "below": 0.5, "for": 3}),
    ...     timedelta(minutes=10),
    ... )
    datetime.timedelta(days=2, seconds=600)
    """
    window = timedelta(hours=1) if rule.window == "hour" else timedelta(days=1)
    return (rule.times - 1) * window + settle


def _recorded(record: str, rule: Rule, figure: str) -> str:
    return selector(record, {"rule": rule.id, "metric": figure})


def _value(rule: Rule, figure: str, stage: str) -> str:
    found = family_of(figure)
    if found is None:
        raise ValueError(f"{figure} is not exported")
    family, labels = found
    place = {"window": rule.window, **({"stage": stage} if stage else {})}
    place |= {} if rule.slice else {"category": rule.where.get("category", "")}
    other = 'category!=""' if rule.slice else ""
    own = selector(family, {**labels, **place}, other=other)
    rows = selector(ROWS, {"metric": figure.partition(":")[0], **place}, other=other)
    return f"{own}\nand on ({PLACE})\n  {rows} >= {rule.min_samples}"


def _passes(comparison: Comparison, limit: float) -> str:
    """Beyond the limit; equality is not."""
    if comparison == "drop":
        return f"< -{limit} - {TOLERANCE}"
    return f"< {limit} - {TOLERANCE}" if comparison == "below" else f"> {limit} + {TOLERANCE}"


def _condition(condition: Condition, *, holds: bool = True) -> str:
    limit = condition.below if condition.above is None else condition.above
    if condition.comparison == "below":
        return f"{'<' if holds else '>='} {limit} - {TOLERANCE}"
    return f"{'>' if holds else '<='} {limit} + {TOLERANCE}"
