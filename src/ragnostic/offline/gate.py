"""The gate of an evaluation: planned before anything runs, judged on the finished run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ragnostic.config import Configuration
from ragnostic.errors import UsageError
from ragnostic.offline.run_folder import META, find_run, read_meta
from ragnostic.offline.sides import side_of_run
from ragnostic.report.run import RunData
from ragnostic.stats.gate_faults import change_rules
from ragnostic.stats.gate_rules import Rule, check_rule
from ragnostic.stats.gates import GateResult, judge_gate

if TYPE_CHECKING:
    from ragnostic.offline.compare import ComparisonResult


@dataclass(frozen=True, slots=True)
class Gate:
    """The rules that a run will be judged by, and the run folder that it is compared with.

    ``base`` is None where no rule is about a change.
    """

    rules: tuple[str, ...]
    base: Path | None
    strict: bool


def plan_gate(
    configuration: Configuration,
    out: Path,
    *,
    rules: Sequence[str] = (),
    baseline: str | None = None,
    strict: bool = False,
) -> Gate | None:
    """What ``[gate]`` asks for together with the arguments; None where there are no rules.

    ``baseline`` is a run folder, or the id or tag of a run below ``out``; it goes before the one
    of the configuration, which may also be a folder relative to its file. Raises UsageError for a
    rule that cannot be judged, for a change without a baseline and a baseline that is not there.
    """
    settings = configuration.settings
    for rule in rules:
        check_rule(rule, settings.score.metrics)
    wanted = (*settings.gate.rules, *rules)
    if not wanted:
        return None
    base = None
    needy = change_rules(map(Rule.parse, wanted))
    if needy:
        base = _base(configuration, out, baseline, needy[0])
        read_meta(base)  # a folder that cannot be read is told before anything runs
    return Gate(wanted, base, strict or settings.gate.strict)


def _base(configuration: Configuration, out: Path, baseline: str | None, needy: Rule) -> Path:
    if baseline:
        return find_run(out, baseline)
    written = configuration.settings.gate.baseline
    if written is None:
        raise UsageError(
            f"gate {needy.text!r} is about a change, and no baseline is named",
            hint="name one with gate.baseline or --baseline, or write abs: before a bound for "
            "the value itself",
        )
    beside = configuration.path(written)
    return beside if (beside / META).is_file() else find_run(out, written)


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """The verdict on a run, and the comparison that it stands on where a rule is about a change."""

    gate: GateResult
    comparison: ComparisonResult | None = None


def judge_run(run: RunData, rules: Sequence[str], base: RunData | Path | None = None) -> JudgedRun:
    """Judge a run by rules, those about a change against ``base``.

    Raises UsageError for rules that cannot be read or judged, and where the two runs cannot be
    compared (METRICS 11).
    """
    parsed = [Rule.parse(rule) for rule in rules]
    if base is None or not change_rules(parsed):
        return JudgedRun(judge_gate(parsed, None, side_of_run(run), ()))
    from ragnostic.offline.compare import compare  # noqa: PLC0415 - only where there is a base

    found = compare(base, run, gates=rules)
    if found.gate is None:  # pragma: no cover - there are rules
        raise AssertionError("rules were given and none was judged")
    return JudgedRun(found.gate, found)
