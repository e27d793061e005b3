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
    """Fires while an expression gives anything, once it has for ``hold``, and ``keep`` longer.

    Annotations are templates: what is text in them goes through :func:`literal`.
    """

    alert: str
    expr: str
    hold: timedelta = timedelta()
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    keep: timedelta = timedelta()


@dataclass(frozen=True, slots=True)
class RuleGroup:
    """Rules that are evaluated one after the other; ``comment`` stands before them."""

    name: str
    rules: Sequence[RecordingRule | AlertingRule]
    comment: str = ""


def rules_text(groups: Iterable[RuleGroup], comment: str = "") -> str:
    """The YAML of a rule file.

    >>> print(rules_text([RuleGroup("g", [AlertingRule("Low", "up < 1", timedelta(hours=1))])]))
    groups:
    - name: g
      rules:
      - alert: Low
        expr: up < 1
        for: 1h
    <BLANKLINE>
    """
    parts = [*_comment(comment), "groups:\n"]
    for group in groups:
        parts += [*_comment(group.comment), _yaml([_group(group)])]
    return "".join(parts)


def _comment(text: str) -> list[str]:
    return [f"# {line}".rstrip() + "\n" for line in text.splitlines()]


def _yaml(document: Any) -> str:
    import yaml  # noqa: PLC0415 - on use

    class Dumper(yaml.SafeDumper):
        """Expressions of several lines stay as they are written."""

    def text_of(dumper: Any, text: str) -> Any:
        style = "|" if "\n" in text else None
        if not text.replace("\n", "").isprintable():  # other line ends are folded otherwise
            style = '"'
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)

    Dumper.add_representer(str, text_of)
    written: str = yaml.dump(
        document, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=1000
    )
    return written


def _group(group: RuleGroup) -> dict[str, Any]:
    return {"name": group.name, "rules": [_rule(rule) for rule in group.rules]}


def _rule(rule: RecordingRule | AlertingRule) -> dict[str, Any]:
    if isinstance(rule, RecordingRule):
        found: dict[str, Any] = {"record": rule.record, "expr": rule.expr}
        return found | ({"labels": dict(rule.labels)} if rule.labels else {})
    found = {"alert": rule.alert, "expr": rule.expr}
    if rule.hold:
        found["for"] = span(rule.hold)
    if rule.keep:
        found["keep_firing_for"] = span(rule.keep)
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


def literal(text: str) -> str:
    """Text in an annotation that is no template, whatever stands in it.

    >>> literal("a {{ b")
    'a {{ "{{" }} b'
    """
    return text.replace("{{", '{{ "{{" }}')


def span(length: timedelta) -> str:
    """A duration as Prometheus writes it.

    >>> span(timedelta(hours=25, minutes=10)), span(timedelta())
    ('1d1h10m', '0s')
    """
    seconds = int(length.total_seconds())
    parts = []
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        count, seconds = divmod(seconds, size)
        parts.append(f"{count}{unit}" if count else "")
    return "".join(parts) or "0s"
