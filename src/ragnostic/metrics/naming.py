"""Metric names: ``nDCG(gain=exp)@10`` parsed and printed (METRICS 1.1).

``Metric.parse(str(m)) == m`` for every metric; aliases are printed canonically.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self

from ragnostic.errors import UsageError
from ragnostic.metrics.registry import Definition, lookup, signals

_SHAPE = re.compile(r"\s*([A-Za-z][\w-]*)\s*(?:\((.*)\))?\s*(?:@\s*(\d{1,18}))?\s*")
_FIXED_ALIASES = {"top1": "Success@1"}
MAX_CUTOFF = 100_000


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric with its parameters: the column, the JSON key, the table head, the CLI word.

    >>> str(Metric.parse("ndcg@10"))
    'nDCG@10'
    >>> str(Metric.parse("nDCG(gain=exp, judged_only=False)@10"))
    'nDCG(gain=exp)@10'
    >>> Metric.parse("top1") == Metric.parse("hit_rate@1")
    True
    """

    name: str
    cutoff: int | None = None
    params: tuple[tuple[str, Any], ...] = ()
    """The parameters that differ from their default, in the order of the definition."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """A metric from its name; raises UsageError naming what is wrong with it."""
        text = _FIXED_ALIASES.get(text.strip().lower(), text)
        shape = _SHAPE.fullmatch(text)
        if shape is None:
            raise UsageError(
                f"{text!r} is not a metric name", hint="write it like nDCG(gain=exp)@10"
            )
        definition = definition_of(shape[1])
        cutoff = None if shape[3] is None else int(shape[3])
        _check_cutoff(text, definition, cutoff)
        given = dict(_pairs(text, definition, shape[2]))
        ordered = [(key, given[key]) for key in definition.params if key in given]
        return cls(
            definition.name,
            cutoff,
            tuple((key, value) for key, value in ordered if value != definition.default(key)),
        )

    def __str__(self) -> str:
        return self._spelled(self.name)

    def _spelled(self, name: str) -> str:
        inside = ",".join(f"{key}={value}" for key, value in self.params)
        params = f"({inside})" if inside else ""
        return f"{name}{params}" if self.cutoff is None else f"{name}{params}@{self.cutoff}"

    @property
    def definition(self) -> Definition:
        """The registered definition."""
        return lookup()[self.name.lower()]

    @property
    def label(self) -> str:
        """How the mean is shown: MRR for RR, MAP for AP, else the name itself.

        >>> Metric.parse("RR@5").label
        'MRR@5'
        """
        return self._spelled(self.definition.mean_name or self.name)

    @property
    def graded(self) -> bool:
        """Scored against relevance judgments, so Judged@k belongs beside it."""
        return self.definition.graded

    def param(self, key: str) -> Any:
        """Value of a parameter, given or default."""
        return dict(self.params).get(key, self.definition.default(key))


def parse_list(text: str) -> list[Metric]:
    """Metrics from a comma-separated list; commas inside parentheses belong to the name.

    >>> [str(m) for m in parse_list("nDCG(gain=exp,facet=basis)@10, AP,rr@5")]
    ['nDCG(gain=exp,facet=basis)@10', 'AP', 'RR@5']
    """
    parts = [part for part in re.split(r",(?![^()]*\))", text) if part.strip()]
    found: list[Metric] = []
    faults: list[UsageError] = []
    for part in parts:
        try:
            found.append(Metric.parse(part))
        except UsageError as error:
            faults.append(error)
    if len(faults) > 1:  # all at once, as a configuration tells them
        raise UsageError("\n".join(map(str, faults)))
    if faults:
        raise faults[0]
    return distinct(found)


def distinct(metrics: Iterable[Metric]) -> list[Metric]:
    """Each metric once; raises UsageError for none at all, and for a curve, which has no mean."""
    found = list(dict.fromkeys(metrics))
    if not found:
        raise UsageError("no metric is named", hint='for example: --metrics "nDCG@10,RR@5"')
    for metric in found:
        if metric.definition.curve:
            raise UsageError(f"{metric} is a curve, drawn in every report; it has no one mean")
    return found


def definition_of(name: str) -> Definition:
    """The definition of a metric by its bare name or an alias; raises UsageError with a hint.

    >>> definition_of("map").name, definition_of("top1").name
    ('AP', 'Success')
    """
    known = lookup()
    found = known.get(_FIXED_ALIASES.get(name.lower(), name).partition("@")[0].lower())
    if found is None:
        _refuse_signal(name)
        close = difflib.get_close_matches(name.lower(), known, n=1)
        hint = f"did you mean {known[close[0]].name}?" if close else "see: ragnostic metrics"
        raise UsageError(f"unknown metric {name!r}", hint=hint)
    return found


def _refuse_signal(name: str) -> None:
    """A signal of live traffic has a name, and nothing that a ranking and judgments give."""
    bare = name.partition("@")[0].lower()
    for one in signals():
        if one.name.lower() == bare:
            raise UsageError(
                f"{one.name} is a signal of live traffic: it needs {one.needs}",
                hint="it is always measured there; see: ragnostic aggregate, docs/signals.md",
            )


def _check_cutoff(text: str, definition: Definition, cutoff: int | None) -> None:
    if definition.cutoff == "required" and cutoff is None:
        raise UsageError(f"{text!r} needs a cutoff", hint=f"for example {definition.name}@5")
    if definition.cutoff == "none" and cutoff is not None:
        raise UsageError(f"{definition.name} takes no cutoff", hint=f"write {definition.name}")
    if cutoff is not None and not 1 <= cutoff <= MAX_CUTOFF:
        raise UsageError(f"{text!r}: the cutoff must be between 1 and {MAX_CUTOFF}")


def _pairs(text: str, definition: Definition, inside: str | None) -> Iterator[tuple[str, Any]]:
    seen: set[str] = set()
    for part in (inside or "").split(","):
        if not part.strip():
            continue
        key, equals, value = (word.strip() for word in part.partition("="))
        if not equals or key not in definition.params:
            known = ", ".join(definition.params) or "none"
            raise UsageError(
                f"{text!r}: {definition.name} has no parameter {key!r}; it has: {known}"
            )
        if key in seen:
            raise UsageError(f"{text!r}: parameter {key!r} is given twice")
        seen.add(key)
        yield key, _value(text, definition.params[key], key, value)


def _value(text: str, allowed: Any, key: str, value: str) -> Any:
    word = value.strip("'\" ")
    if isinstance(allowed, tuple):
        if word not in allowed:
            raise UsageError(f"{text!r}: {key} must be one of {', '.join(allowed)}")
        return word
    if allowed is None:
        return _any_number(text, key, word)
    if isinstance(allowed, bool):
        if word.lower() not in {"true", "false"}:
            raise UsageError(f"{text!r}: {key} must be True or False")
        return word.lower() == "true"
    if isinstance(allowed, int | float):
        return _number(text, key, word, whole=isinstance(allowed, int) and key != "rel")
    if not re.fullmatch(r"[\w .-]+", word):
        raise UsageError(f"{text!r}: {key} must be one word")
    return word


def _any_number(text: str, key: str, word: str) -> int | float:
    try:
        number = float(word)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UsageError(f"{text!r}: {key} must be a number")
    return int(number) if number.is_integer() and abs(number) < 1e9 else number


def _number(text: str, key: str, word: str, *, whole: bool) -> int | float:
    try:
        number = float(word)
    except ValueError:
        number = float("nan")
    if not 0 < number < 1e9 or (whole and not number.is_integer()):
        kind = "whole number" if whole else "number"
        raise UsageError(f"{text!r}: {key} must be a {kind} above 0")
    return int(number) if number.is_integer() else number
