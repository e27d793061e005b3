"""A file of recording and alerting rules as Prometheus loads it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

_ESCAPED = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_LARGEST_SHORT = 0xFFFF


@dataclass(frozen=True, slots=True)
class Recording:
    """A series that Prometheus works out and keeps; ``labels`` are put onto it."""

    record: str
    expr: str
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Alerting:
    """An alert. ``lasts``: how long the expression must hold; ``keeps``: how long it goes on
    firing after that. Annotations may hold templates: other text goes through :func:`literal`.
    """

    alert: str
    expr: str
    lasts: timedelta = timedelta()
    keeps: timedelta = timedelta()
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Group:
    """Rules that are evaluated one after the other; ``comment`` says what is to be known."""

    name: str
    rules: Sequence[Recording | Alerting]
    comment: str = ""


def rules_text(groups: Iterable[Group], comment: str = "") -> str:
    """The file, in YAML.

    >>> print(rules_text([Group("a", [Recording("x:y", 'z{a="b"} > 1', {"rule": "r"})])]))
    groups:
      - name: "a"
        rules:
          - record: "x:y"
            expr: |-
              z{a="b"} > 1
            labels:
              rule: "r"
    <BLANKLINE>
    """
    lines = [f"# {line}".rstrip() for line in comment.splitlines()]
    lines.append("groups:")
    for group in groups:
        lines += [f"  # {line}".rstrip() for line in group.comment.splitlines()]
        lines += [f"  - name: {quoted(group.name)}", "    rules:"]
        for rule in group.rules:
            body = _recording(rule) if isinstance(rule, Recording) else _alerting(rule)
            first, *rest = body
            lines += [f"      - {first}", *(f"        {line}" for line in rest)]
    return "\n".join(lines) + "\n"


def quoted(text: str) -> str:
    r"""A string of PromQL and of YAML: both read the same escapes.

    >>> print(quoted('退"款\n\x1b'))
    "退\"款\n\u001b"
    """
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(sign: str) -> str:
    if sign in _ESCAPED or sign.isprintable():
        return _ESCAPED.get(sign, sign)
    place = ord(sign)
    if 0xD800 <= place <= 0xDFFF:  # half a pair, which is no text
        return "\ufffd"
    return f"\\u{place:04x}" if place <= _LARGEST_SHORT else f"\\U{place:08x}"


def literal(text: str) -> str:
    """Text in an annotation that is no template, whatever stands in it.

    >>> literal("a {{ b")
    'a {{ "{{" }} b'
    """
    return text.replace("{{", '{{ "{{" }}')


def selector(family: str, labels: Mapping[str, str], *, filled: str = "") -> str:
    """A selector of PromQL; the label ``filled`` must not be empty.

    >>> selector("up", {"job": "a"}, filled="category")
    'up{job="a",category!=""}'
    """
    parts = [f"{name}={quoted(value)}" for name, value in labels.items()]
    parts += [f'{filled}!=""'] if filled else []
    return f"{family}{{{','.join(parts)}}}"


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


def _recording(rule: Recording) -> Iterator[str]:
    yield f"record: {quoted(rule.record)}"
    yield from _expr(rule.expr)
    yield from _map("labels", rule.labels)


def _alerting(rule: Alerting) -> Iterator[str]:
    yield f"alert: {quoted(rule.alert)}"
    yield from _expr(rule.expr)
    if rule.lasts:
        yield f"for: {span(rule.lasts)}"
    if rule.keeps:
        yield f"keep_firing_for: {span(rule.keeps)}"
    yield from _map("labels", rule.labels)
    yield from _map("annotations", rule.annotations)


def _expr(expr: str) -> Iterator[str]:
    yield "expr: |-"
    yield from (f"  {line}" for line in expr.splitlines())


def _map(name: str, values: Mapping[str, str]) -> Iterator[str]:
    if values:
        yield f"{name}:"
        yield from (f"  {key}: {quoted(value)}" for key, value in values.items())
