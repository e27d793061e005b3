"""The implementations that a configuration names, each with its own validated options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from ragnostic.config.faults import translate
from ragnostic.config.models import Table
from ragnostic.config.source import Source
from ragnostic.errors import ConfigFault, UsageError

NONE = "none"
FindPlugin = Callable[[str, str], Any]
"""(kind, name) → implementation class; raises UsageError with a hint."""

OptionTables = Mapping[str, Mapping[str, dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class PlugTable:
    """A table that names an implementation: of which kind, by which key, and which of its other
    keys are handed to implementations that know them.
    """

    kind: str
    key: str
    shared: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """The implementation in use: its name, class and options."""

    name: str
    plugin: Any
    options: BaseModel


PLUG_TABLES = {
    "chunk": PlugTable("chunkers", "by", ("max_tokens", "overlap")),
    "retrieve": PlugTable("retrievers", "use", ()),
    "rerank": PlugTable("rerankers", "use", ("max_tokens", "long")),
    "index": PlugTable("vectorstores", "use", ()),
    "embed": PlugTable("embedders", "use", ("query_prefix", "cache")),
    "generate": PlugTable("generators", "use", ()),
}


def choose(
    source: Source,
    tables: Mapping[str, Table | None],
    option_tables: OptionTables,
    find_plugin: FindPlugin,
    faults: list[ConfigFault],
) -> dict[str, Choice]:
    """Table → implementation in use. Every option table is validated, also of those not in use.

    The embedder is chosen only where the retriever, the reranker or the index needs one.
    """
    chooser = _Chooser(source, tables, option_tables, find_plugin, faults)
    choices: dict[str, Choice] = {}
    for name in PLUG_TABLES:
        needed = name != "embed" or any(needs(choice, "embedder") for choice in choices.values())
        needed = needed and not (name == "rerank" and _left_as_it_is(choices, tables["rerank"]))
        choice = chooser.used(name) if needed else None
        if choice is not None:
            choices[name] = choice
        chooser.check_unused(name, choice)
    return choices


def needs(choice: Choice, what: str) -> bool:
    """Whether an implementation says that it needs a ``corpus`` or an ``embedder``."""
    return bool(getattr(choice.plugin, f"needs_{what}", False))


def _left_as_it_is(choices: Mapping[str, Choice], rerank: Table | None) -> bool:
    """Whether nobody asked for a reranker behind a retriever that has its own index: a service
    that exists is evaluated as it is.
    """
    retriever = choices.get("retrieve")
    asked = rerank is not None and "use" in rerank.model_fields_set
    return retriever is not None and not needs(retriever, "corpus") and not asked


@dataclass(frozen=True, slots=True)
class _Chooser:
    source: Source
    tables: Mapping[str, Table | None]
    option_tables: OptionTables
    find_plugin: FindPlugin
    faults: list[ConfigFault]

    def used(self, table: str) -> Choice | None:
        plug, model = PLUG_TABLES[table], self.tables[table]
        name = NONE if model is None else getattr(model, plug.key)
        if name == NONE and table != "chunk":
            return None
        plugin = self.find(plug.kind, name, (table, plug.key))
        return plugin and Choice(name, plugin, self.options(table, name, plugin))

    def check_unused(self, table: str, used: Choice | None) -> None:
        named = getattr(self.tables[table], PLUG_TABLES[table].key, None)
        for name in self.option_tables.get(table, {}):
            if name != named or (used is None and table == "embed"):
                plugin = self.find(PLUG_TABLES[table].kind, name, (table, name))
                if plugin is not None:
                    self.options(table, name, plugin)

    def find(self, kind: str, name: str, path: tuple[str, str]) -> Any | None:
        try:
            return self.find_plugin(kind, name)
        except UsageError as error:
            message = f"{'.'.join(path)}: {error.message}"
            self.faults.append(ConfigFault(self.source.where(path), message, error.hint))
            return None

    def options(self, table: str, name: str, plugin: Any) -> BaseModel:
        """Validated options; unchecked defaults where a fault was found, which ends the load."""
        model: type[BaseModel] = plugin.Options
        written = self.option_tables.get(table, {}).get(name, {})
        inherited = {
            key: value
            for key, value in self.shared(table).items()
            if key in model.model_fields and key not in written
        }
        try:
            return model.model_validate(inherited | written)
        except ValidationError as error:
            prefix = (table, name)

            def where(path: tuple[str | int, ...]) -> str:
                shared = path[2:3] and path[2] in inherited
                return self.source.where((table, *path[2:]) if shared else path)

            self.faults.extend(translate(error, model, prefix, where))
            return model.model_construct()

    def shared(self, table: str) -> dict[str, Any]:
        """What an implementation inherits from its own table and from the run's."""
        own = {key: getattr(self.tables[table], key, None) for key in PLUG_TABLES[table].shared}
        own["timeout_s"] = getattr(self.tables["run"], "timeout_s", None)
        return {key: value for key, value in own.items() if value is not None}
