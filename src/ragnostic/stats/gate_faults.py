"""Whether the data holds what gate rules speak of; all faults at once."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence

import pyarrow.compute as pc

from ragnostic.errors import UsageError
from ragnostic.metrics import Metric
from ragnostic.stats.gate_rules import EXAMPLE, LOST, Rule
from ragnostic.stats.sides import Side

_NAMED = 20


def check_rules(
    rules: Sequence[Rule], base: Side | None, candidate: Side, metrics: Sequence[str]
) -> None:
    """Raise UsageError for no rules, and for what rules name and the sides do not have.

    ``metrics``: the first is what ``lost`` counts.
    """
    if not rules:
        raise UsageError("a gate without rules judges nothing", hint=f'for example "{EXAMPLE}"')
    needy = change_rules(rules)
    if needy and base is None:
        raise UsageError(
            f"nothing to compare with for {', '.join(repr(rule.text) for rule in needy)}",
            hint="name a baseline, or write abs: before a bound for the value itself",
        )
    faults = [fault for rule in rules for fault in _faults(rule, base, candidate, metrics)]
    if len(faults) == 1:
        raise faults[0]
    if faults:
        raise UsageError("\n".join(map(str, faults)))


def change_rules(rules: Iterable[Rule]) -> list[Rule]:
    """The rules that compare with a base.

    >>> [str(rule) for rule in change_rules(map(Rule.parse, ["abs:RR@5 > 0.5", "lost < 0.1"]))]
    ['lost < 0.1']
    """
    return [rule for rule in rules if not rule.absolute]


def counted_metric(rule: Rule, metrics: Sequence[str]) -> str:
    """The metric whose values a rule is about: for ``lost`` the first one asked for."""
    return str(Metric.parse(metrics[0])) if rule.metric == LOST else rule.metric


def _faults(
    rule: Rule, base: Side | None, candidate: Side, metrics: Sequence[str]
) -> Iterator[UsageError]:
    if rule.metric == LOST and not metrics:
        yield UsageError(f"gate {rule.text!r}: no metric is named that queries could lose")
        return
    metric = counted_metric(rule, metrics)
    for side in [candidate] if rule.absolute or base is None else [base, candidate]:
        stage = rule.stage or side.final_stage
        measured = side.metrics_of(stage)
        if stage not in side.stages:
            yield _unknown(rule, f"{side.name} has no stage {stage}", stage, side.stages)
        elif metric not in measured:
            said = f"{side.name} has no {metric} at stage {stage}"
            yield _unknown(rule, said, metric, measured)
    if rule.column is None:
        return
    if rule.column not in candidate.columns:
        said = f"{candidate.name} has no column {rule.column} to slice by"
        yield _unknown(rule, said, rule.column, candidate.columns)
        return
    known = pc.unique(candidate.columns[rule.column].drop_null()).to_pylist()
    if rule.value is not None and rule.value not in known:
        said = f"no query has {rule.column} = {rule.value}"
        yield _unknown(rule, said, rule.value, sorted(known))


def _unknown(rule: Rule, said: str, name: str, known: Iterable[str]) -> UsageError:
    """The fault of a name that is not there; the hint names the nearest, or those that are."""
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1)
    listed = f"known: {', '.join(names[:_NAMED])}{' …' if len(names) > _NAMED else ''}"
    hint = f"did you mean {close[0]}?" if close else listed if names else "it has none"
    return UsageError(f"gate {rule.text!r}: {said}", hint=hint)
