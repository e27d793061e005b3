"""The grammar of a gate rule: ``[abs:]METRIC[{column=value}|{worst:column}][#stage] OP NUMBER``.

``Rule.parse(str(rule)) == rule`` for every rule.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, NoReturn, Self, cast

from ragnostic.errors import UsageError
from ragnostic.metrics import Metric
from ragnostic.scoring.plan import Plan

LOST = "lost"
"""The metric of rules that bound the share of queries whose first metric got worse."""
EXAMPLE = "nDCG@10 >= -0.02"
Operator = Literal[">=", "<=", ">", "<"]

_MARKS = r"{}#<>=!≥≤"
_HEAD = re.compile(
    rf"\s*(?P<absolute>abs\s*:)?"
    rf"(?P<metric>[^(){_MARKS}]*(?:\([^()]*\))?[^(){_MARKS}]*)"
    r"(?:\{(?P<slice>[^}]*)\}\s*)?"
    rf"(?:\#(?P<stage>[^{_MARKS}]*))?",
    re.IGNORECASE,
)
_BOUND = re.compile(r"(?P<op>[<>=!≥≤]+)\s*(?P<number>.*?)\s*", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
_WORST = re.compile(r"\s*worst\s*:(.*)", re.DOTALL | re.IGNORECASE)
_OPERATORS = {"=": "<=", "==": "<=", "=>": ">=", "=<": "<=", "≥": ">=", "≤": "<="}


@dataclass(frozen=True, slots=True)
class Rule:
    """What a run must keep to. ``text`` is the rule as it was written.

    Without ``absolute`` the bound is for the change against the base. ``column`` and ``value``
    pick the queries of one slice; a column without a value means its worst slice. ``stage`` None
    is the final one. ``metric`` is a canonical name or ``lost``.

    >>> str(Rule.parse("abs: recall@20{category = 人事}#rerank>=.85"))
    'abs:R@20{category=人事}#rerank >= 0.85'
    """

    metric: str
    op: Operator
    bound: float
    absolute: bool = False
    column: str | None = None
    value: str | None = None
    stage: str | None = None
    text: str = field(default="", compare=False)

    @classmethod
    def parse(cls, text: str) -> Self:
        """A rule from its text; raises UsageError naming what is wrong, with an example."""
        text = text.strip()
        head = cast("re.Match[str]", _HEAD.match(text))  # every part of it may be empty
        op, number = _operator_and_number(text, text[head.end() :], head["metric"].strip())
        absolute = head["absolute"] is not None
        metric = _metric(text, head["metric"].strip(), absolute=absolute)
        column, value = _slice(text, head["slice"])
        stage = head["stage"]
        if stage is not None and not stage.strip():
            _refuse(text, "names no stage after #", f"{metric}#rerank {op} {number}")
        bound = _number(text, f"{head[0].strip()} {op}", number)
        _check_size(text, metric, bound, absolute=absolute)
        return cls(
            metric=metric,
            op=op,
            bound=bound,
            absolute=absolute,
            column=column,
            value=value,
            stage=None if stage is None else stage.strip(),
            text=text,
        )

    @property
    def worst(self) -> bool:
        """Whether the worst slice of a column is judged."""
        return self.column is not None and self.value is None

    def __str__(self) -> str:
        where = ""
        if self.column is not None:
            inside = f"worst:{self.column}" if self.worst else f"{self.column}={self.value}"
            where = f"{{{inside}}}"
        stage = "" if self.stage is None else f"#{self.stage}"
        absolute = "abs:" if self.absolute else ""
        return f"{absolute}{self.metric}{where}{stage} {self.op} {_shown(self.bound)}"


def check_rule(text: str, metrics: Iterable[str]) -> Rule:
    """The rule, where a run that is asked for ``metrics`` could be judged by it.

    Raises UsageError, also for a metric that would not be measured; ``Judged@10`` is measured
    beside every graded metric at 10. Names in ``metrics`` that are no metrics have their own check.

    >>> check_rule("mrr@5 >= -0.01", ["RR@5"]).metric
    'RR@5'
    """
    rule = Rule.parse(text)
    asked = _metrics(metrics)
    known = [str(metric) for metric in (*asked, *Plan(asked).companions)]
    if rule.metric != LOST and rule.metric not in known:
        raise UsageError(
            f"gate {rule.text!r}: {rule.metric} is not measured; measured: {', '.join(known)}",
            hint=f"add {rule.metric} to score.metrics",
        )
    return rule


def _metrics(names: Iterable[str]) -> tuple[Metric, ...]:
    found: list[Metric] = []
    for name in names:
        try:
            found.append(Metric.parse(name))
        except UsageError:
            continue
    return tuple(found)


def _operator_and_number(text: str, rest: str, metric: str) -> tuple[Operator, str]:
    """The end of a rule; what stands there instead is told as precisely as it can be."""
    found = _BOUND.fullmatch(rest)
    if not text:
        _refuse(text, "is empty", EXAMPLE)
    if found is None and rest.startswith(("{", "}")):
        _refuse(
            text,
            "has braces that are not closed, or not right behind the metric",
            "RR@5{category=hr}#rerank >= -0.05",
        )
    if found is None and rest:
        _refuse(text, f"cannot be read from {rest!r} on", EXAMPLE)
    if found is None:
        _refuse(text, "has no bound", f"{metric or 'nDCG@10'} >= -0.02")
    op = found["op"]
    if op not in {">=", "<=", ">", "<"}:
        meant = _OPERATORS.get(op, ">=")
        _refuse(text, f"compares by {op!r}, not by >=, <=, > or <", f"{metric} {meant} 0.02")
    return cast("Operator", op), found["number"]


def _metric(text: str, name: str, *, absolute: bool) -> str:
    word = name.lower()
    if word == LOST:
        if absolute:
            _refuse(text, "says abs: of a share that is always against the base", "lost <= 0.02")
        return LOST
    if not name:
        _refuse(text, "names no metric", EXAMPLE)
    if word.partition("@")[0] in difflib.get_close_matches(LOST, [word.partition("@")[0]]):
        _refuse(text, f"names {name!r}, which is no metric", "lost <= 0.02")
    try:
        metric = Metric.parse(name)
    except UsageError as error:
        raise UsageError(f"gate {text!r}: {error.message}", hint=error.hint) from error
    if metric.definition.curve:
        _refuse(text, f"names {metric}, a curve, which has no one value", "R@20 >= -0.02")
    return str(metric)


def _slice(text: str, inside: str | None) -> tuple[str | None, str | None]:
    if inside is None:
        return None, None
    worst = _WORST.fullmatch(inside)
    column, _, value = inside.partition("=") if worst is None else (worst[1], "", "")
    column, value = column.strip(), value.strip()
    if not column or (worst is None and not value):
        example = f"RR@5{{{column or 'category'}=hr}} >= -0.05"
        said = "no value" if column else "no column"
        _refuse(text, f"names {said} in {{{inside}}}", f"{example}, or {{worst:category}}")
    return column, value if worst is None else None


def _number(text: str, before: str, written: str) -> float:
    if not written:
        _refuse(text, "has no number behind its operator", f"{before} -0.02")
    plain = written.replace("−", "-")  # the minus that our own tables print
    share = _NUMBER.fullmatch(plain.rstrip("%％ "))
    if share is not None and plain != share[0]:
        example = f"{before} {_shown(float(share[0]) / 100)}"
        _refuse(text, f"is bounded by {written}, and bounds are no percentages", example)
    number = float(plain) if _NUMBER.fullmatch(plain) else math.inf
    if not math.isfinite(number):
        _refuse(text, f"is bounded by {written!r}, which is no number", f"{before} -0.02")
    return number + 0.0  # -0 is 0


def _check_size(text: str, metric: str, bound: float, *, absolute: bool) -> None:
    """A bound that no value can reach is a slip, mostly a percentage."""
    what, low, high = metric, 0.0, 1.0
    if metric != LOST:
        low, high = Metric.parse(metric).definition.range or (-math.inf, math.inf)
        if not absolute:
            what, low, high = f"a change of {metric}", low - high, high - low
    if not low <= bound <= high:
        said = f"is bounded by {_shown(bound)}, but {what} lies between {low:g} and {high:g}"
        _refuse(text, said, f"{_shown(bound / 100)} for {_shown(bound)} %")


def _shown(number: float) -> str:
    return repr(number).removesuffix(".0")


def _refuse(text: str, what: str, example: str) -> NoReturn:
    raise UsageError(f"gate {text!r} {what}", hint=f"write it like {example}")
