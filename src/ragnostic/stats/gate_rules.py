"""The grammar of a gate rule: ``[abs:]METRIC[{column=value}|{worst:column}][#stage] OP NUMBER``.

``Rule.parse(str(rule)) == rule`` for every rule.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Self, cast

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
_OPERATORS = {"=>": ">=", "=<": "<=", "≥": ">=", "≤": "<="}
_LEAD = "write it like"


class _RuleError(Exception):
    """What is wrong with a rule, and rules that may have been meant, the likeliest first."""

    def __init__(self, what: str, *meant: str, lead: str = _LEAD) -> None:
        super().__init__(what)
        self.what, self.meant, self.lead = what, meant, lead


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
        """A rule from its text; raises UsageError naming what is wrong.

        The hint holds a rule that can be read: what was probably meant, else an example.
        """
        text = text.strip()
        try:
            return cls._read(text)
        except _RuleError as fault:
            meant = next(filter(cls._reads, fault.meant), None)
            lead = _LEAD if meant is None else fault.lead
            message = f"gate {text!r} {fault.what}"
            raise UsageError(message, hint=f"{lead} {meant or EXAMPLE}") from None

    @classmethod
    def _reads(cls, text: str) -> bool:
        try:
            cls._read(text)
        except (_RuleError, UsageError):
            return False
        return True

    @classmethod
    def _read(cls, text: str) -> Self:
        head = cast("re.Match[str]", _HEAD.match(text))  # every part of it may be empty
        op, number = _operator_and_number(text, head)
        metric = _metric(text, head, op, number)
        column, value = _slice(head["slice"])
        stage, before = head["stage"], head[0].strip()
        if stage is not None and not stage.strip():
            raise _RuleError("names no stage after #", f"{before}rerank {op} {number}")
        absolute = head["absolute"] is not None
        bound = _number(head, op, number)
        _check_size(head, metric, op, bound)
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


def _operator_and_number(text: str, head: re.Match[str]) -> tuple[Operator, str]:
    """The end of a rule; what stands there instead is told as precisely as it can be."""
    before, rest = head[0].strip(), text[head.end() :]
    found = _BOUND.fullmatch(rest)
    if not text:
        raise _RuleError("is empty")
    if found is None and rest.startswith(("{", "}")):
        raise _RuleError(
            "has braces that are not closed, or not right behind the metric",
            "RR@5{category=hr}#rerank >= -0.05",
        )
    if found is None and rest:
        raise _RuleError(f"cannot be read from {rest!r} on")
    if found is None:
        raise _RuleError("has no bound", f"{before} {_usual_bound(head)}")
    op, number = found["op"], found["number"]
    if op not in {">=", "<=", ">", "<"}:
        meant = _OPERATORS.get(op) or ("<=" if _falls(head) else ">=")
        raise _RuleError(
            f"compares by {op!r}, not by >=, <=, > or <",
            f"{before} {meant} {_mended(number)}",
            f"{before} {_usual_bound(head)}",
        )
    return cast("Operator", op), number


def _falls(head: re.Match[str]) -> bool:
    """Whether small values of a rule's metric are the good ones."""
    name = head["metric"].strip()
    try:
        return name.lower() == LOST or not Metric.parse(name).definition.higher_is_better
    except UsageError:
        return False


def _usual_bound(head: re.Match[str]) -> str:
    """An operator and a number such as rules about this metric mostly have."""
    falls, absolute = _falls(head), head["absolute"] is not None
    number = "0.1" if absolute and falls else "0.85" if absolute else "0.02"
    return f"<= {number}" if falls else f">= {number if absolute else '-0.02'}"


def _mended(number: str) -> str:
    """A number as rules have it: 0,5 and 50 % are 0.5."""
    plain = number.replace("−", "-")  # the minus that our own tables print
    bare = plain.rstrip("%％ ").replace(",", ".").replace("，", ".")
    if _NUMBER.fullmatch(bare) is None:
        return plain
    return _shown(float(bare) / 100) if plain.endswith(("%", "％")) else bare


def _metric(text: str, head: re.Match[str], op: str, number: str) -> str:
    name, absolute = head["metric"].strip(), head["absolute"] is not None
    word = name.lower()
    beside = text[head.end("metric") : head.end()].strip()
    meant = f"{LOST}{beside} {op} {_mended(number)}"
    if word == LOST:
        if absolute:
            what = "says abs: of a share that is always against the base"
            raise _RuleError(what, meant, "lost <= 0.02")
        return LOST
    if not name:
        raise _RuleError("names no metric")
    if word.partition("@")[0] in difflib.get_close_matches(LOST, [word.partition("@")[0]]):
        raise _RuleError(f"names {name!r}, which is no metric", meant, "lost <= 0.02")
    try:
        metric = Metric.parse(name)
    except UsageError as error:
        hint = error.hint and error.hint.replace(_LEAD, "write the metric like")
        raise UsageError(f"gate {text!r}: {error.message}", hint=hint) from error
    if metric.definition.curve:
        raise _RuleError(f"names {metric}, a curve, which has no one value", "R@20 >= -0.02")
    return str(metric)


def _slice(inside: str | None) -> tuple[str | None, str | None]:
    if inside is None:
        return None, None
    worst = _WORST.fullmatch(inside)
    column, _, value = inside.partition("=") if worst is None else (worst[1], "", "")
    column, value = column.strip(), value.strip()
    if not column or (worst is None and not value):
        said = "no value" if column else "no column"
        example = f"{column or 'category'}=hr" if worst is None else "worst:category"
        raise _RuleError(f"names {said} in {{{inside}}}", f"RR@5{{{example}}} >= -0.05")
    return column, value if worst is None else None


def _number(head: re.Match[str], op: str, written: str) -> float:
    before = head[0].strip()
    usual = f"{before} {op} {_usual_bound(head).split()[1]}"
    if not written:
        raise _RuleError("has no number behind its operator", usual)
    meant = _mended(written)
    if written.endswith(("%", "％")) and _NUMBER.fullmatch(meant):
        what = f"is bounded by {written}, and bounds are no percentages"
        raise _RuleError(what, f"{before} {op} {meant}", usual)
    plain = written.replace("−", "-")
    number = float(plain) if _NUMBER.fullmatch(plain) else math.inf
    if not math.isfinite(number):
        what = f"is bounded by {written!r}, which is no number"
        raise _RuleError(what, f"{before} {op} {meant}", usual)
    return number + 0.0  # -0 is 0


def _check_size(head: re.Match[str], metric: str, op: Operator, bound: float) -> None:
    """A bound that no value can reach is a slip: a percentage, or a change called a value."""
    before, what, low, high = head[0].strip(), metric, 0.0, 1.0
    absolute = head["absolute"] is not None
    if metric != LOST:
        low, high = Metric.parse(metric).definition.range or (-math.inf, math.inf)
        if not absolute:
            what, low, high = f"a change of {metric}", low - high, high - low
    if low <= bound <= high:
        return
    said = f"is bounded by {_shown(bound)}, but {what} lies between {low:g} and {high:g}"
    numbers = [_shown(bound), _shown(bound / 100)]
    if absolute and bound < 0:
        change = before.partition(":")[2].strip()
        raise _RuleError(said, *(f"{change} {op} {of}" for of in numbers), lead="leave abs: out:")
    if metric == LOST and bound < 0:
        raise _RuleError(said, *(f"{before} <= {of.removeprefix('-')}" for of in numbers))
    raise _RuleError(
        said, f"{before} {op} {numbers[1]}", f"{before} {op} {math.copysign(0.02, bound)}"
    )


def _shown(number: float) -> str:
    return repr(number).removesuffix(".0")


def rule_texts(gates: Sequence[str] | str) -> list[str]:
    """The rules that a caller names; one may be given without a list around it.

    >>> rule_texts("RR@5 >= 0"), rule_texts(["RR@5 >= 0"])
    (['RR@5 >= 0'], ['RR@5 >= 0'])
    """
    return [gates] if isinstance(gates, str) else list(gates)
