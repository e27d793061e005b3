"""The alert rules of a store as rules of Prometheus, over what is exported.

What PromQL can say of exported figures it says; the rest (a change beyond its interval, slices
other than categories, percentiles that are not exported) is an alert on Ragnostic's own state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Literal

from ragnostic.exporters.prometheus_rules import (
    AlertingRule,
    RecordingRule,
    RuleGroup,
    selector,
)
from ragnostic.monitor.alerts.evaluation import TOLERANCE
from ragnostic.monitor.alerts.rules import Condition, Rule
from ragnostic.monitor.exported import RELEVANCE, ROWS, WINDOW_END, family_of
from ragnostic.monitor.exported_alerts import CODES, REFERENCE, STATE
from ragnostic.monitor.live_store import LiveStore
from ragnostic.monitor.rollups.series import read_series

Language = Literal["zh", "en"]
VALUE = "ragnostic:rule_value"
CHANGE = "ragnostic:rule_change"
_PLACE = "stage, judge, category"
_WINDOWS = {"hour": timedelta(hours=1), "day": timedelta(days=1)}
_OFFSETS = {"yesterday": "1d", "last week": "7d"}
_LOOKED_BACK = timedelta(days=30)
_LATE = {"hour": 3 * 3600, "day": 2 * 86400}
_WEEK = f'avg_over_time({RELEVANCE}{{window="day",category=""}}[7d])'


def prometheus_rules(
    rules: Iterable[Rule], stages: Mapping[str, str], *, language: Language = "en", base: str = ""
) -> list[RuleGroup]:
    """Recording rules first (the value and the change that each rule looks at, and weekly means),
    then the alerts, and two on Ragnostic itself.

    ``stages``: figure → the stage that a rule without one means, the last that the store has rows
    of; where it is not known, each stage has an alert of its own. ``base`` stands before the pages
    of ``runbook``.
    """
    said = [_Terms(rule, stages) for rule in rules]
    records = [record for terms in said for record in terms.records()]
    weekly = RecordingRule("ragnostic:relevance_ratio:avg7d", _WEEK)
    alerts = [_alert(terms, language, base) for terms in said]
    return [
        RuleGroup("ragnostic-values", [*records, weekly]),
        RuleGroup("ragnostic-alerts", [*alerts, *_on_itself()]),
    ]


def last_stages(store: LiveStore, figures: Iterable[str], now: datetime) -> dict[str, str]:
    """Figure → the stage that rules without one look at: the last one of the past weeks. Figures
    without rows are left out.
    """
    found = {}
    for figure in figures:
        keys = read_series(
            store.lake, figure, window="day", start=now - _LOOKED_BACK, end=now, zone=store.zone
        )
        stages = {key.stage for key in keys}
        if len(stages) == 1:
            found[figure] = stages.pop()
    return found


class _Terms:
    """One rule in PromQL."""

    def __init__(self, rule: Rule, stages: Mapping[str, str]) -> None:
        self.rule = rule
        self._stage = rule.stage or stages.get(rule.metric, "")

    @property
    def exact(self) -> bool:
        """Whether the exported figures say what the rule asks."""
        rule = self.rule
        of_category = rule.slice in {"", "category"} and rule.where.keys() <= {"category"}
        known = all(family_of(figure) is not None for figure in rule.figures)
        return of_category and known and not rule.beyond_interval

    def records(self) -> list[RecordingRule]:
        """The value, where there are enough rows, and what is held against the limit."""
        if not self.exact:
            return []
        rule, labels = self.rule, {"rule": self.rule.id}
        rows = self._figure(ROWS, {"metric": rule.metric.partition(":")[0]})
        enough = f"and on ({_PLACE}) {rows} >= {rule.min_samples}"
        found = [RecordingRule(VALUE, f"{self._value(rule.metric)} {enough}", labels)]
        if rule.comparison in {"drop", "rise"}:
            found.append(RecordingRule(CHANGE, self._change(), labels))
        return found

    def expression(self) -> str:
        """What is true in a window that is in breach."""
        rule = self.rule
        if not self.exact:
            return f"{selector(STATE, {'rule': rule.id})} == {CODES['firing']}"
        found = self._beyond(rule.limit)
        for condition in rule.conditions:
            found += f" and on ({_PLACE}) {self._holds(condition)}"
        if rule.clear is None:
            return found
        firing = selector("ALERTS", {"alertname": alert_name(rule.id), "alertstate": "firing"})
        return f"({found}) or ({self._beyond(rule.clear)} and on ({_PLACE}) {firing})"

    def _beyond(self, limit: float) -> str:
        rule = self.rule
        name = VALUE if rule.comparison in {"below", "above"} else CHANGE
        sign = "<" if rule.comparison == "below" else ">"
        spare = -TOLERANCE if sign == "<" else TOLERANCE
        return f"{selector(name, {'rule': rule.id})} {sign} {limit + spare:.12g}"

    def _change(self) -> str:
        """How far it fell or rose, as a positive number."""
        rule = self.rule
        value = selector(VALUE, {"rule": rule.id})
        if rule.compared_with in _OFFSETS:
            before = f"{value} offset {_OFFSETS[rule.compared_with]}"
        else:
            before = selector(REFERENCE, {"rule": rule.id})
        match = f"on ({_PLACE})"
        sides = (before, value) if rule.comparison == "drop" else (value, before)
        apart = f"{sides[0]} - {match} {sides[1]}"
        return f"({apart}) / {match} abs({before})" if rule.relative else apart

    def _value(self, figure: str) -> str:
        family, labels = family_of(figure) or ("", {})
        return self._figure(family, labels)

    def _holds(self, condition: Condition) -> str:
        sign = "<" if condition.comparison == "below" else ">"
        limit = condition.below if condition.above is None else condition.above
        return f"{self._value(condition.metric)} {sign} {limit}"

    def _figure(self, family: str, labels: Mapping[str, str]) -> str:
        rule = self.rule
        stage = {"stage": self._stage} if self._stage else {}
        every = rule.slice == "category" and not rule.where
        category = {} if every else {"category": rule.where.get("category", "")}
        found = {**labels, "window": rule.window, **stage, **category}
        return selector(family, found, other='category!=""' if every else "")


def alert_name(rule_id: str) -> str:
    """As Prometheus' alerts are called.

    >>> alert_name("mrr-drop-category")
    'RagnosticMrrDropCategory'
    """
    return "Ragnostic" + "".join(part.capitalize() for part in rule_id.split("-"))


def _alert(terms: _Terms, language: Language, base: str) -> AlertingRule:
    rule = terms.rule
    hold = _WINDOWS[rule.window] * (rule.times - 1) if terms.exact else timedelta()
    labels = {"severity": rule.severity, "rule": rule.id, "owner": rule.owner}
    about = rule.summary.get(language) or next(iter(rule.summary.values()), rule.id)
    what = {"below": "", "above": "", "drop": "drop of ", "rise": "rise of "}[rule.comparison]
    value = '{{ $value | printf "%.4g" }}' if terms.exact else "see ragnostic alerts list"
    annotations = {
        "summary": about,
        "description": f"{what}{rule.metric} {{{{ $labels.category }}}}: {value}; "
        f"{rule.comparison} {rule.limit:g}",
        "likely_cause": rule.likely_cause.get(language, ""),
        "runbook_url": base + rule.runbook if rule.runbook else "",
    }
    return AlertingRule(
        alert_name(rule.id), terms.expression(), hold, _filled(labels), _filled(annotations)
    )


def _filled(texts: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in texts.items() if text}


def _on_itself() -> list[AlertingRule]:
    """Silence is not health: figures that do not come, or that are old."""
    gone = AlertingRule(
        "RagnosticAbsent",
        f"absent({WINDOW_END})",
        timedelta(minutes=15),
        {"severity": "P1"},
        {"summary": "Prometheus gets no figures of Ragnostic."},
    )
    late = [
        AlertingRule(
            "RagnosticLate",
            f"time() - {selector(WINDOW_END, {'window': window})} > {seconds}",
            timedelta(minutes=15),
            {"severity": "P1", "window": window},
            {"summary": f"The figures of the last {window} are old: nobody exports them."},
        )
        for window, seconds in _LATE.items()
    ]
    return [gone, *late]
