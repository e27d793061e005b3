"""The tables of ``alerts.toml``, read one on top of another; faults are gathered, not raised."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from ragnostic import plugins
from ragnostic.config.faults import dotted, translate, unknown_key
from ragnostic.config.models import Table
from ragnostic.config.source import Source
from ragnostic.config.toml_lines import KeyPath
from ragnostic.errors import ConfigError, ConfigFault
from ragnostic.monitor.alerts.actions import Action
from ragnostic.monitor.alerts.health import Health
from ragnostic.monitor.alerts.rule_checks import (
    Finding,
    figure_of,
    rule_findings,
    slice_findings,
)
from ragnostic.monitor.alerts.rules import (
    COMPARISONS,
    BaselineSettings,
    Condition,
    Links,
    Rule,
    key_names,
)

_LISTS = ("rule", "health", "channel", "action")
_BASELINE, _LINKS = "baseline", "links"
_JUDGED = (*COMPARISONS, "against", "relative", "clear", "beyond_interval")
"""What goes together: a rule that is given another comparison keeps none of these."""

Raw = dict[str, Any]
TableT = TypeVar("TableT", bound=Table)


class RuleReader:
    """One file on top of the shipped tables; ``faults`` fills up while it is read."""

    def __init__(self, source: Source, rules: Sequence[Raw], health: Sequence[Raw]) -> None:
        self.source = source
        self.below = {"rule": tuple(rules), "health": tuple(health)}
        self.faults: list[ConfigFault] = []

    def tables(self, name: str) -> tuple[Raw, ...]:
        """The tables of a list as they are written; a fault where it is none."""
        written = self.source.tree.get(name, [])
        if isinstance(written, list) and all(isinstance(one, dict) for one in written):
            return tuple(written)
        self.fault((name,), f"{name} must be a list of tables: [[{name}]]")
        return ()

    def rules(self) -> list[Rule]:
        """The shipped rules as changed, then the others; those without faults."""
        usual = self.baseline()
        read = (self.rule(*found, usual) for found in self.merged("rule", "id"))
        return [rule for rule in read if rule is not None]

    def colours(self) -> list[Health]:
        """The same for the colours of figures."""
        read = (self.health(*found) for found in self.merged("health", "metric"))
        return [one for one in read if one is not None]

    def actions(self) -> list[Action]:
        """What can be done; a name that is there twice is a fault."""
        found: dict[str, Action] = {}
        for index, table in enumerate(self.tables("action")):
            action = self.validated(Action, table, table, ("action", index))
            if action is None:
                continue
            if action.name in found:
                key = ("action", index, "name")
                self.fault(key, f"{dotted(key)}: {action.name!r} is given twice")
            found.setdefault(action.name, action)
        return list(found.values())

    def finish(self) -> None:
        """Raise ConfigError where there is any fault, unknown tables among them."""
        known = (*_LISTS, _BASELINE, _LINKS)
        for name in self.source.tree.keys() - set(known):
            self.faults.append(unknown_key(self.source.where((name,)), (name,), known))
        if self.faults:
            raise ConfigError(sorted(dict.fromkeys(self.faults), key=self.place))

    def baseline(self) -> Raw:
        """What ``[baseline]`` says for all rules, without what is faulty in it."""
        written = self.source.tree.get(_BASELINE, {})
        if not isinstance(written, dict):
            self.fault((_BASELINE,), f"{_BASELINE} must be a table: [{_BASELINE}]")
            return {}
        before = len(self.faults)
        self.validated(BaselineSettings, written, written, (_BASELINE,))
        return dict(written) if len(self.faults) == before else {}

    def links(self) -> Links:
        """Where messages lead to."""
        written = self.source.tree.get(_LINKS, {})
        if not isinstance(written, dict):
            self.fault((_LINKS,), f"{_LINKS} must be a table: [{_LINKS}]")
            return Links()
        return self.validated(Links, written, written, (_LINKS,)) or Links()

    def merged(self, name: str, key: str) -> Iterator[tuple[KeyPath, Raw, Raw]]:
        """Path, whole table and written part of each: shipped ones as changed, then new ones."""
        own: dict[str, tuple[int, Raw]] = {}
        for index, table in enumerate(self.tables(name)):
            label = _label(name, table.get(key, ""))
            if label in own:
                message = f"{name}[{index}].{key}: {table[key]!r} is given twice"
                self.fault((name, index, key), message, f"{name}[{own[label][0]}] has it too")
                continue
            own[label or f" {index}"] = (index, table)
        for shipped in self.below[name]:
            label = _label(name, shipped[key])
            index, written = own.pop(label, (-1, {}))
            path = (name,) if index < 0 else (name, index)
            yield path, _on_top(shipped, written), written
        for index, table in own.values():
            yield (name, index), dict(table), table

    def rule(self, path: KeyPath, table: Raw, written: Raw, usual: Raw) -> Rule | None:
        """A rule without faults, or None. ``usual``: what holds for all rules with a baseline."""
        before = len(self.faults)
        self.unknown_conditions(path, table)
        figure = self.figure(path, table)
        table = {**table, **figure, **self.conditions(path, table)}
        named = figure.get("metric")
        for finding in slice_findings(table, named) if isinstance(named, str) else ():
            self.fault((*path, *finding.path), finding.message, finding.hint)
        rule = self.validated(Rule, table, written, path)
        if rule is None:
            return None
        for finding in (*rule_findings(rule, table), *self.unknown_actions(rule, written)):
            self.fault((*path, *finding.path), f"{rule.id}: {finding.message}", finding.hint)
        if len(self.faults) > before:
            return None
        added = {key: value for key, value in usual.items() if key not in written}
        if not added or rule.compared_with != _BASELINE:
            return rule
        return Rule.model_validate({**table, **added})

    def figure(self, path: KeyPath, table: Raw) -> Raw:
        """``metric`` of a table by its full name; a fault where nobody knows it."""
        written = table.get("metric")
        if not isinstance(written, str) or not written:
            return {} if "metric" not in table else {"metric": written}
        figure, finding = figure_of(written)
        if finding is not None:
            key = (*path, "metric")
            self.fault(key, f"{dotted(key)}: {finding.message}", finding.hint)
        return {"metric": figure}

    def conditions(self, path: KeyPath, table: Raw) -> Raw:
        """``with`` of a rule, its figures by their full names."""
        written = table.get("with")
        if not isinstance(written, list) or not all(isinstance(one, dict) for one in written):
            return {}
        known = Condition.model_fields
        return {
            "with": [
                {key: value for key, value in one.items() if key in known}
                | self.figure((*path, "with", index), one)
                for index, one in enumerate(written)
            ]
        }

    def unknown_conditions(self, path: KeyPath, table: Raw) -> None:
        """A fault for each key of a condition that is none."""
        written = table.get("with")
        for index, one in enumerate(written if isinstance(written, list) else ()):
            for key in one.keys() - Condition.model_fields if isinstance(one, dict) else ():
                place = (*path, "with", index, key)
                where = self.source.where(place)
                self.faults.append(unknown_key(where, place, Condition.model_fields))

    def health(self, path: KeyPath, table: Raw, written: Raw) -> Health | None:
        """The colours of a figure."""
        return self.validated(Health, {**table, **self.figure(path, table)}, written, path)

    def unknown_actions(self, rule: Rule, written: Raw) -> Iterator[Finding]:
        """Actions that a rule of the file names must stand in the file. A shipped rule may name one
        that nobody has set up: then it only tells.
        """
        names = [str(action.get("name", "")) for action in self.tables("action")]
        for name in rule.actions if "actions" in written and self.below["rule"] else ():
            if name not in names:
                hint = plugins.nearest(name, names)
                yield Finding(("actions",), f"there is no [[action]] with name = {name!r}", hint)

    def validated(
        self, model: type[TableT], table: Raw, written: Raw, path: KeyPath
    ) -> TableT | None:
        """The model of a table, or None and its faults."""
        known = key_names(model)
        for key in written.keys() - known.keys():
            place = (*path, key)
            self.faults.append(unknown_key(self.source.where(place), place, known))
        try:
            return model.model_validate({key: table[key] for key in table.keys() & known.keys()})
        except ValidationError as error:
            self.faults += translate(error, model, path, self.source.where)
            return None

    def fault(self, path: KeyPath, message: str, hint: str = "") -> None:
        """Note a fault at its line."""
        self.faults.append(ConfigFault(self.source.where(path), message, hint))

    def place(self, fault: ConfigFault) -> tuple[int, str]:
        """By line, and those without one at the end."""
        line = fault.where.removeprefix(f"{self.source.name}:")
        return (int(line) if line.isdecimal() else 1 << 30, fault.where)


def _label(name: str, key: Any) -> str:
    """By what tables of a list are the same: rules by id, colours by full name of the figure."""
    text = key if isinstance(key, str) else ""
    return figure_of(text)[0] if name == "health" and text else text


def _on_top(shipped: Raw, written: Raw) -> Raw:
    """A shipped table as changed. Who gives another comparison, or the same with another number,
    does not mean what depended on the old one.
    """
    kept = dict(shipped)
    given = [name for name in COMPARISONS if name in written]
    if given:
        other = any(name not in shipped for name in given)
        for key in _JUDGED if other else ("clear",):
            kept.pop(key, None)
    return {**kept, **written}
