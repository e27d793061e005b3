"""Gates: rules that a run must keep to, judged by intervals and never by a bare number.

The statistics of METRICS 11: with m rules each is judged at the level 1 − 0.05/m.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from ragnostic.errors import counted
from ragnostic.stats.gate_faults import check_rules
from ragnostic.stats.gate_rules import LOST, Operator, Rule
from ragnostic.stats.gate_samples import SMALLEST_SLICE, TOLERANCE, Sample, samples_of
from ragnostic.stats.sides import Side

Verdict = Literal["PASS", "FAIL", "INCONCLUSIVE"]

ALPHA = 0.05
_ORDER: tuple[Verdict, ...] = ("FAIL", "INCONCLUSIVE", "PASS")
_NAMED = 5


@dataclass(frozen=True, slots=True)
class RuleResult:
    """What became of one rule: ``value`` over ``n`` queries, with its interval at ``level``.

    ``slice`` is the slice that decided, ``reason`` says what a verdict alone does not, such as
    which slice has the lowest value where that is another one.
    """

    rule: str
    verdict: Verdict
    value: float | None
    low: float | None
    high: float | None
    n: int
    level: float
    slice: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class GateResult:
    """FAIL where any rule failed, else INCONCLUSIVE where any is, else PASS."""

    verdict: Verdict
    rules: tuple[RuleResult, ...]

    def as_json(self) -> dict[str, Any]:
        """``{"verdict", "rules": [{"rule", "verdict", "value", "low", "high", "n", …}]}``."""
        return {"verdict": self.verdict, "rules": [asdict(rule) for rule in self.rules]}


def judge_gate(
    rules: Sequence[Rule], base: Side | None, candidate: Side, metrics: Sequence[str]
) -> GateResult:
    """Judge a candidate by all rules at once.

    The first of ``metrics`` is the one that ``lost`` counts. A rule about the worst slice counts
    as many times as it has slices that can be judged. Equality keeps to ``>=`` and ``<=``, not to
    ``>`` and ``<``, all with 1e-9 of tolerance. Raises UsageError for no rules, a change without
    a base, and a metric, stage, column or value that is not there.

    >>> import numpy as np
    >>> import pyarrow as pa
    >>> ids = pa.array([f"q{number}" for number in range(9)])
    >>> sides = [
    ...     Side(name, ids, ("retrieve",), {("retrieve", "RR@5"): np.full(9, value)}, {})
    ...     for name, value in (("base", 0.5), ("candidate", 0.25))
    ... ]
    >>> gate = judge_gate([Rule.parse("RR@5 >= -0.02"), Rule.parse("abs:RR@5 > 0")], *sides, [])
    >>> gate.verdict, [(rule.verdict, rule.value) for rule in gate.rules]
    ('FAIL', [('FAIL', -0.25), ('PASS', 0.25)])
    """
    rules = list(dict.fromkeys(rules))
    check_rules(rules, base, candidate, metrics)
    samples = samples_of(rules, base, candidate, metrics)
    judged = sum(sample.large_enough for group in samples for sample in group)
    level = 1 - ALPHA / max(1, judged)
    results = tuple(_judge(*pair, level) for pair in zip(rules, samples, strict=True))
    verdicts = {result.verdict for result in results}
    return GateResult(next(word for word in _ORDER if word in verdicts), results)


def judge_bound(op: Operator, bound: float, low: float | None, high: float | None) -> Verdict:
    """PASS where the whole interval keeps to the bound, FAIL where none of it does.

    >>> judge_bound(">=", -0.02, -0.01, 0.03), judge_bound(">=", -0.02, -0.05, 0.03)
    ('PASS', 'INCONCLUSIVE')
    >>> judge_bound(">=", 0.0, 0.0, 0.0), judge_bound(">", 0.0, 0.0, 0.0)
    ('PASS', 'FAIL')
    """
    if low is None or high is None:
        return "INCONCLUSIVE"
    ends = [_keeps(op, bound, end) for end in (low, high)]
    return "PASS" if all(ends) else "INCONCLUSIVE" if any(ends) else "FAIL"


def _keeps(op: Operator, bound: float, value: float) -> bool:
    over = value - bound if op in {">=", ">"} else bound - value
    return over >= -TOLERANCE if op in {">=", "<="} else over > TOLERANCE


def _judge(rule: Rule, samples: Sequence[Sample], level: float) -> RuleResult:
    results = [_result(rule, sample, level) for sample in samples if sample.large_enough]
    small = [f"{sample.slice} ({sample.n})" for sample in samples if not sample.large_enough]
    if not results:
        n = sum(sample.n for sample in samples)
        decided = RuleResult(str(rule), "INCONCLUSIVE", None, None, None, n, level, rule.value)
    else:
        decided = min(results, key=lambda result: _badness(rule, result))
    reasons = [decided.reason] if decided.reason else []
    reasons += _furthest(rule, decided, results)
    failed = [found.slice for found in results if found.verdict == "FAIL" and found is not decided]
    if failed:
        reasons.append(f"failed too: {_listed(failed)}")
    if small:
        reasons.append(f"not judged, fewer than {SMALLEST_SLICE} queries: {_listed(small)}")
    return replace(decided, reason="; ".join(reasons) or None)


def _result(rule: Rule, sample: Sample, level: float) -> RuleResult:
    value, low, high = sample.measure(level)
    verdict = judge_bound(rule.op, rule.bound, low, high)
    reason = None
    if value is None:
        reason = "no query has a value" if rule.absolute else "no query has a value on both sides"
    elif low is None or high is None:
        reason = f"{counted(sample.n, 'query', 'queries')} cannot give an interval"
    elif verdict == "INCONCLUSIVE":
        reason = "the interval holds the bound: more queries would tell"
    return RuleResult(str(rule), verdict, value, low, high, sample.n, level, sample.slice, reason)


def _badness(rule: Rule, result: RuleResult) -> tuple[int, float]:
    """Sorts the slice that decides first: by verdict, then the furthest on the wrong side."""
    value = result.value or 0.0
    return _ORDER.index(result.verdict), value if rule.op in {">=", ">"} else -value


def _furthest(rule: Rule, decided: RuleResult, results: Sequence[RuleResult]) -> list[str]:
    """The slice with the worst value, where another one decides: small slices have wide intervals,
    so the worst value need not be the worst verdict.
    """
    sign = 1.0 if rule.op in {">=", ">"} else -1.0
    known = [(sign * one.value, one.value, one) for one in results if one.value is not None]
    if not known or decided.value is None:
        return []
    worst, value, found = min(known, key=lambda entry: entry[0])
    if worst >= sign * decided.value - TOLERANCE:
        return []
    shown = f"{value:.4f}" if rule.absolute or rule.metric == LOST else f"{value:+.4f}"
    what = "lowest" if sign > 0 else "highest"
    return [f"{found.slice} has the {what} value ({shown}, n {found.n}: {found.verdict})"]


def _listed(names: Sequence[str | None]) -> str:
    more = len(names) - _NAMED
    return ", ".join(map(str, names[:_NAMED])) + (f" and {more} more" if more > 0 else "")
