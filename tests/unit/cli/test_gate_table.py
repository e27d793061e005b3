"""A gate as a table, as text and as an exit code."""

from __future__ import annotations

import pytest

from ragnostic.cli.gate_message import gate_message
from ragnostic.cli.gate_table import exit_code, gate_notes, print_gate
from ragnostic.stats.gate_rules import Rule
from ragnostic.stats.gates import GateResult, RuleResult, judge_gate
from ragnostic.stats.sides import side_from_values

_GATE = GateResult(
    "FAIL",
    (
        RuleResult("RR@5 >= -0.02", "FAIL", -0.25, -0.5, -0.125, 40, 0.98),
        RuleResult("lost <= 0.5", "PASS", 0.25, 0.125, 0.375, 40, 0.98),
        RuleResult("abs:RR@5{worst:a\u202eb} > 0.5", "FAIL", 0.0, 0.0, 0.0, 9, 0.98, "人\n事"),
        RuleResult("AP{set=new} >= 0", "INCONCLUSIVE", None, None, None, 0, 0.98, "new", "why"),
    ),
)


def test_the_table_has_a_row_a_rule_and_the_verdict_last(capsys):
    """Changes with their sign; what comes from data cannot change the terminal."""
    print_gate(_GATE)
    assert capsys.readouterr().out.splitlines() == [
        "rule                              verdict         value       98 % interval   n",
        "RR@5 >= -0.02                     FAIL          −0.2500  [−0.5000, −0.1250]  40",
        "lost <= 0.5                       PASS           0.2500    [0.1250, 0.3750]  40",
        "abs:RR@5{worst:a⟨U+202E⟩b} > 0.5  FAIL           0.0000    [0.0000, 0.0000]   9",
        "AP{set=new} >= 0                  INCONCLUSIVE        –                   –   0",
        "abs:RR@5{worst:a⟨U+202E⟩b} > 0.5: 人 事 decides",
        "AP{set=new} >= 0: why",
        "gate: FAIL",
    ]


def test_a_gate_without_notes_has_none():
    """Most rules need no words."""
    assert gate_notes(GateResult("PASS", _GATE.rules[:2])) == []


@pytest.mark.parametrize(
    ("verdict", "strict", "code"),
    [
        ("PASS", True, 0),
        ("FAIL", False, 1),
        ("FAIL", True, 1),
        ("INCONCLUSIVE", False, 0),
        ("INCONCLUSIVE", True, 5),
    ],
)
def test_exit_codes(verdict, strict, code):
    """Those of the design."""
    assert exit_code(GateResult(verdict, ()), strict=strict) == code


def _message(rules: list[str], after: dict[str, float]) -> list[str]:
    base = side_from_values("old", {"RR@5": dict.fromkeys(after, 1.0)})
    candidate = side_from_values("new", {"RR@5": after})
    gate = judge_gate([Rule.parse(rule) for rule in rules], base, candidate, ["RR@5"])
    return gate_message(gate, base, candidate, ["RR@5"], {"q0": "年假 有 几天？"}).splitlines()


def test_the_text_of_a_failed_gate_names_the_queries_behind_it():
    """At most ten, the worst first; the same list is not repeated for a second rule."""
    after = {f"q{number}": number / 100 for number in range(12)}
    lines = _message(["RR@5 >= -0.02", "lost <= 0.1"], after)
    assert lines[0] == "gate: FAIL, new against old"
    assert lines[4] == "worst queries of RR@5 >= -0.02 (RR@5):"
    assert lines[5] == "  q0  1.0000 → 0.0000  年假 有 几天？"
    assert lines[6] == "  q1  1.0000 → 0.0100"
    assert lines[-1] == "  … and 2 more queries"
    assert len(lines) == 16


def test_a_gate_that_no_query_speaks_against_has_a_table_only():
    """Nothing got worse, there are just too few queries."""
    lines = _message(["lost <= 0.1"], {"q0": 1.0, "q1": 1.0})
    assert lines[0].startswith("gate: INCONCLUSIVE")
    assert not any("worst queries" in line for line in lines)
