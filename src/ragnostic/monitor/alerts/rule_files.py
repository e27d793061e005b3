"""``alerts.toml``: the shipped rules, and what a store changes of them; all faults at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragnostic import plugins
from ragnostic.config.source import Source, read_source
from ragnostic.errors import UsageError
from ragnostic.monitor.alerts.actions import Action
from ragnostic.monitor.alerts.health import Health
from ragnostic.monitor.alerts.rule_reading import RuleReader
from ragnostic.monitor.alerts.rules import Links, Rule

FILE = "alerts.toml"
"""In a store folder; without it the shipped rules hold, and nobody is told."""
SHIPPED = Path(__file__).with_name("defaults.toml")


@dataclass(frozen=True, slots=True)
class RuleBook:
    """The rules of a store, the shipped ones first, and its further tables as they are written.

    ``rules`` holds those that are switched off too. ``shipped`` are the ids of the rules that came
    with the program. ``source`` knows the line of every key of the store's file; None without one.
    """

    rules: tuple[Rule, ...]
    health: tuple[Health, ...] = ()
    channels: tuple[Mapping[str, Any], ...] = ()
    actions: tuple[Action, ...] = ()
    links: Links = field(default_factory=Links)
    shipped: frozenset[str] = frozenset()
    source: Source | None = None

    @property
    def enabled(self) -> tuple[Rule, ...]:
        """The rules that are switched on."""
        return tuple(rule for rule in self.rules if rule.enabled)

    def rule(self, rule_id: str) -> Rule:
        """The rule of an id; raises UsageError for none.

        >>> load_rules(None).rule("mrr-drop").drop
        0.1
        """
        for rule in self.rules:
            if rule.id == rule_id:
                return rule
        known = [rule.id for rule in self.rules]
        hint = plugins.nearest(rule_id, known) or f"rules: {', '.join(known)}"
        raise UsageError(f"there is no rule {rule_id!r}", hint=hint)


def load_rules(path: Path | None) -> RuleBook:
    """The shipped rules with what a file changes: a rule of the same id is changed key by key, and
    others are added. Raises ConfigError with all faults, each with its line, and UsageError where
    the file cannot be read.
    """
    shipped = RuleReader(read_source(SHIPPED, ()), (), ())
    ids = frozenset(str(table["id"]) for table in shipped.tables("rule"))
    if path is None:
        return _book(shipped, ids, None)
    source = read_source(path, ())
    return _book(RuleReader(source, shipped.tables("rule"), shipped.tables("health")), ids, source)


def _book(reader: RuleReader, shipped: frozenset[str], source: Source | None) -> RuleBook:
    channels, actions = reader.tables("channel"), reader.actions()
    rules, health, links = reader.rules(), reader.colours(), reader.links()
    reader.finish()
    return RuleBook(tuple(rules), tuple(health), channels, tuple(actions), links, shipped, source)
