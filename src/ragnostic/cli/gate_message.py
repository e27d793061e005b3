"""A failed gate as text: the table, and the queries behind it with their words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragnostic.cli.console import plain_lines
from ragnostic.cli.gate_table import gate_head, gate_notes, gate_rows
from ragnostic.cli.lacking import lacking_lines
from ragnostic.errors import counted
from ragnostic.offline.gate_queries import worst_queries
from ragnostic.report.numbers import decimal
from ragnostic.report.visible import excerpt, visible
from ragnostic.stats.comparison import Comparison
from ragnostic.stats.gates import GateResult, RuleResult
from ragnostic.stats.sides import Side

_LONGEST = 80


def gate_message(
    gate: GateResult,
    base: Side | None,
    candidate: Side,
    metrics: Sequence[str],
    texts: Mapping[str, str],
    *,
    comparison: Comparison | None = None,
) -> str:
    """The verdict, the table, the queries that one side lacks, and for every rule that has the
    verdict its worst queries.

    ``texts``: query id → what was asked; ``comparison``: what the gate stands on; the other
    arguments are those of the gate. A gate that passes has no worst queries.
    """
    head = f"gate: {gate.verdict}, {candidate.name}"
    lines = [head if base is None else f"{head} against {base.name}"]
    rows = [[visible(cell) for cell in row] for row in gate_rows(gate)]
    lines += [f"  {line}" for line in plain_lines([gate_head(gate), *rows], 2)]
    lacking = [] if comparison is None else lacking_lines(comparison)
    lines += [f"  {visible(line)}" for line in [*gate_notes(gate), *lacking]]
    said: set[tuple[str, ...]] = set()
    for rule in gate.rules if gate.verdict != "PASS" else ():
        block = _worst(rule, base, candidate, metrics, texts)
        if rule.verdict == gate.verdict and block and tuple(block[1:]) not in said:
            said.add(tuple(block[1:]))
            lines += block
    return "\n".join(lines)


def _worst(
    result: RuleResult,
    base: Side | None,
    candidate: Side,
    metrics: Sequence[str],
    texts: Mapping[str, str],
) -> list[str]:
    found = worst_queries(result, base, candidate, metrics)
    if not found.queries:
        return []
    rows = []
    for query in found.queries:
        value = decimal(query.after)
        if query.before is not None:
            value = f"{decimal(query.before)} → {value}"
        text = excerpt(texts.get(query.query_id, ""), _LONGEST)
        rows.append([visible(query.query_id), value, text])
    lines = [f"worst queries of {result.rule} ({found.metric}):"]
    lines += [f"  {line}" for line in plain_lines(rows, 3)]
    if found.more:
        lines.append(f"  … and {counted(found.more, 'more query', 'more queries')}")
    return lines
