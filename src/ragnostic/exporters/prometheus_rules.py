"""Files of recording and alerting rules, as Prometheus reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any


@dataclass(frozen=True, slots=True)
class RecordingRule:
    """A series that Prometheus keeps: what an expression gives, under a name."""

    record: str
    expr: str
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AlertingRule:
    """Fires while an expression gives anything, once it has for ``hold``."""

    alert: str
    expr: str
    hold: timedelta = timedelta()
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RuleGroup:
    """Rules that are evaluated one after the other."""

    name: str
    rules: Sequence[RecordingRule | AlertingRule]


def rules_text(groups: Iterable[RuleGroup]) -> str:
    """The YAML of a rule file.

    >>> print(rules_text([RuleGroup("g", [AlertingRule("Low", "up < 1", timedelta(hours=1))])]))
    groups:
    - name: g
      rules:
      - alert: Low
        expr: up < 1
        for: 3600s
    <BLANKLINE>
    """
    import yaml  # noqa: PLC0415 - on use

    document = {"groups": [_group(group) for group in groups]}
    text: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=1000)
    return text


def _group(group: RuleGroup) -> dict[str, Any]:
    return {"name": group.name, "rules": [_rule(rule) for rule in group.rules]}


def _rule(rule: RecordingRule | AlertingRule) -> dict[str, Any]:
    if isinstance(rule, RecordingRule):
        found: dict[str, Any] = {"record": rule.record, "expr": rule.expr}
        return found | ({"labels": dict(rule.labels)} if rule.labels else {})
    found = {"alert": rule.alert, "expr": rule.expr}
    if rule.hold:
        found["for"] = f"{rule.hold.total_seconds():.0f}s"
    for name in ("labels", "annotations"):
        if getattr(rule, name):
            found[name] = dict(getattr(rule, name))
    return found


def selector(family: str, labels: Mapping[str, str], *, other: str = "") -> str:
    r"""A family with the labels it must have; ``other``: conditions as PromQL writes them.

    >>> selector("a_ratio", {"x": 'q"\\'}, other='y!=""')
    'a_ratio{x="q\\"\\\\",y!=""}'
    """
    said = [f'{name}="{_escaped(value)}"' for name, value in labels.items()]
    return f"{family}{{{','.join([*said, *([other] if other else [])])}}}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
