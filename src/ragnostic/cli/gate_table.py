"""A gate as a table, and as an exit code."""

from __future__ import annotations

import typer

from ragnostic.cli.console import print_table
from ragnostic.errors import EXIT_GATE, EXIT_INCONCLUSIVE, EXIT_OK
from ragnostic.report.numbers import bound, decimal, signed
from ragnostic.report.visible import visible
from ragnostic.stats.gate_rules import LOST, Rule
from ragnostic.stats.gates import GateResult, RuleResult


def print_gate(result: GateResult) -> None:
    """Each rule with its verdict, value and interval; what is to be known about them; the verdict
    of them all as ``gate: PASS``.
    """
    print_table(gate_head(result), gate_rows(result), text_columns=2)
    for line in [*gate_notes(result), f"gate: {result.verdict}"]:
        typer.echo(visible(line))


def exit_code(result: GateResult, *, strict: bool) -> int:
    """1 for FAIL; 5 for INCONCLUSIVE where that is asked for; else 0.

    >>> exit_code(GateResult("INCONCLUSIVE", ()), strict=True)
    5
    """
    if result.verdict == "FAIL":
        return EXIT_GATE
    return EXIT_INCONCLUSIVE if strict and result.verdict == "INCONCLUSIVE" else EXIT_OK


def gate_head(result: GateResult) -> list[str]:
    """The head of the table; the level of the intervals is corrected for the number of rules.

    >>> gate_head(GateResult("PASS", (RuleResult("lost < 1", "PASS", 0, 0, 0, 9, 0.975),)))[3]
    '97.5 % interval'
    """
    level = f"{100 * result.rules[0].level:.4g} % interval" if result.rules else "interval"
    return ["rule", "verdict", "value", level, "n"]


def gate_rows(result: GateResult) -> list[list[str]]:
    """One row a rule, for the columns of :func:`gate_head`; changes with their sign.

    >>> change = RuleResult("RR@5 >= 0", "FAIL", -0.25, -0.5, -0.125, 9, 0.95)
    >>> gate_rows(GateResult("FAIL", (change,)))
    [['RR@5 >= 0', 'FAIL', '−0.2500', '[−0.5000, −0.1250]', '9']]
    """
    return [_row(rule) for rule in result.rules]


def _row(result: RuleResult) -> list[str]:
    rule = Rule.parse(result.rule)
    change = not (rule.absolute or rule.metric == LOST)
    shown, end = (signed, bound) if change else (decimal, decimal)
    interval = decimal(None)
    if result.low is not None and result.high is not None:
        interval = f"[{end(result.low)}, {end(result.high)}]"
    return [result.rule, result.verdict, shown(result.value), interval, str(result.n)]


def gate_notes(result: GateResult) -> list[str]:
    """Of rules that need words: the slice that decided, and the reason.

    >>> worst = RuleResult("RR@5{worst:category} > 0", "PASS", 1, 1, 1, 9, 0.95, "hr")
    >>> gate_notes(GateResult("PASS", (worst,)))
    ['RR@5{worst:category} > 0: hr decides']
    """
    lines: list[str] = []
    for rule in result.rules:
        worst = rule.slice is not None and Rule.parse(rule.rule).worst
        parts = [f"{rule.slice} decides"] if worst else []
        parts += [rule.reason] if rule.reason else []
        if parts:
            lines.append(f"{rule.rule}: {'; '.join(parts)}")
    return lines
