"""Whether the rules of ``[gate]`` can judge what ``[score]`` measures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import cast

from ragnostic.config.models import GateSettings, ScoreSettings
from ragnostic.config.rules import Tables
from ragnostic.config.source import Source
from ragnostic.errors import ConfigFault, RagnosticError

CheckRule = Callable[[str, Sequence[str]], object]
"""(rule, metrics) → anything; raises for a rule that cannot be read or judged."""


def gate_faults(source: Source, tables: Tables, check_rule: CheckRule) -> Iterator[ConfigFault]:
    """One fault for each rule that cannot be used, at its line."""
    gate = cast("GateSettings | None", tables["gate"])
    score = cast("ScoreSettings | None", tables["score"])
    for index, rule in enumerate(gate.rules if gate and score else ()):
        try:
            check_rule(rule, score.metrics if score else ())
        except RagnosticError as error:
            where = source.where(("gate", "rules", index))
            yield ConfigFault(where, f"gate.rules: {error.message}", error.hint)
