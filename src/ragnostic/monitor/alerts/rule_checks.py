"""Contradictions in a rule: what each of its keys alone cannot show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ragnostic.config.faults import nearest_name
from ragnostic.errors import RagnosticError
from ragnostic.monitor.alerts.rules import BASELINE_KEYS, COMPARISONS, Condition, Rule
from ragnostic.monitor.live_metrics import OVERLAP, OVERLAP_RBO, RBO, RCS
from ragnostic.monitor.rollups.rows import LATENCY, PERTURBATION, SLICED
from ragnostic.monitor.rollups.series import canonical

RERANKED = (RCS, RBO)
"""Figures of pairs of rerankings, whose one slice is the perturbation."""
RETRIEVED = (OVERLAP, OVERLAP_RBO)
"""Figures of rankings of two times, which have no slices."""
_SCORES, _RERANKS, _RETRIEVALS = "scores", "rerankings", "retrievals"


class Finding(NamedTuple):
    """Where in the rule (a path of keys), what is wrong, what to try."""

    path: tuple[str | int, ...]
    message: str
    hint: str = ""


def figure_of(name: str) -> tuple[str, Finding | None]:
    """The full name of a figure, or the name as it is and what is wrong with it.

    >>> figure_of("mrr@5"), figure_of("latency:p0")[1].message
    (('RR@5', None), 'latency:p0 is no percentile')
    """
    try:
        found = canonical(name)
    except RagnosticError as error:
        return name, Finding((), error.message, error.hint)
    own, colon, percent = found.partition(":p")
    if own == LATENCY and not (colon and _is_percentile(percent)):
        hint = "for example latency:p95"
        what = "is no percentile" if colon else "needs a percentile"
        return found, Finding((), f"{found} {what}", hint)
    if own != LATENCY and colon:
        return found, Finding((), f"{own} has no percentiles", f"did you mean {own}?")
    return found, None


def _is_percentile(text: str) -> bool:
    return text.replace(".", "", 1).isdecimal() and 0 < float(text) <= 100


def _rows_of(figure: str) -> str:
    """What a figure is measured on."""
    if figure in RERANKED:
        return _RERANKS
    return _RETRIEVALS if figure in RETRIEVED else _SCORES


def slice_findings(written: Mapping[str, Any], figure: str) -> Iterator[Finding]:
    """What is wrong with ``slice`` and ``where``, as written."""
    known = {_RERANKS: (PERTURBATION,), _RETRIEVALS: ()}.get(_rows_of(figure), SLICED)
    where = written.get("where")
    named: list[tuple[tuple[str | int, ...], Any]] = [(("slice",), written.get("slice") or None)]
    named += [(("where", key), key) for key in where] if isinstance(where, dict) else []
    for path, name in named:
        if isinstance(name, str) and name not in known:
            close = nearest_name(name, known)
            hint = f"did you mean {close}?" if close else f"slices: {', '.join(known) or 'none'}"
            yield Finding(path, f"{figure} is not kept by {name!r}", hint)
    if isinstance(where, dict) and len(where) > 1:
        yield Finding(("where",), "where names more than one column")
    if where and written.get("slice"):
        yield Finding(("where",), "slice and where are both given", "where is one value of a slice")


def rule_findings(rule: Rule, written: Mapping[str, Any]) -> Iterator[Finding]:
    """What contradicts itself in a rule whose keys are sound one by one; ``written`` are the keys
    that somebody wrote down.
    """
    given = [name for name in COMPARISONS if getattr(rule, name) is not None]
    if len(given) != 1:
        said = " and ".join(given) if given else "none"
        hint = f"exactly one of {', '.join(COMPARISONS)} says when it is in breach"
        yield Finding((given[-1],) if given else (), f"comparisons given: {said}", hint)
        return
    yield from _change_findings(rule, written)
    yield from _clear_findings(rule)
    if rule.beyond_interval and rule.metric.startswith(LATENCY):
        yield Finding(("beyond_interval",), f"{rule.metric} has no interval")
    for index, condition in enumerate(rule.conditions):
        for found in _condition_findings(rule, condition):
            yield found._replace(path=("with", index, *found.path))


def _change_findings(rule: Rule, written: Mapping[str, Any]) -> Iterator[Finding]:
    changes = rule.comparison in {"drop", "rise"}
    if not changes:
        for key in ("against", "relative"):
            if written.get(key):
                yield Finding((key,), f"{key} goes with drop or rise, not with {rule.comparison}")
    elif rule.limit < 0 or (rule.limit == 0 and not rule.beyond_interval):
        hint = "0 makes sense with beyond_interval = true: any change that is more than chance"
        yield Finding((rule.comparison,), f"{rule.comparison} must be greater than 0", hint)
    elif rule.comparison == "drop" and rule.relative and rule.limit >= 1:
        yield Finding(("drop",), "nothing falls by more than all of it", "0.1 is 10 %")
    if rule.compared_with != "baseline":
        for key in BASELINE_KEYS:
            if key in written:
                yield Finding((key,), f"{key} is for rules that are held against a baseline")


def _clear_findings(rule: Rule) -> Iterator[Finding]:
    if rule.clear is None:
        return
    least = rule.comparison == "below"
    if rule.clear < rule.limit if least else rule.clear > rule.limit:
        sign = "at least" if least else "at most"
        message = f"clear must be {sign} {rule.comparison}, {rule.limit:g}"
        yield Finding(("clear",), message, "otherwise it would end and begin at once")


def _condition_findings(rule: Rule, condition: Condition) -> Iterator[Finding]:
    if (condition.below is None) == (condition.above is None):
        yield Finding((), "a condition needs either below or above")
    if _rows_of(condition.metric) != _rows_of(rule.metric):
        message = f"{condition.metric} is not measured on the same rows as {rule.metric}"
        yield Finding(("metric",), message)
