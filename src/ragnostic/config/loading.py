"""From a TOML file to a configuration that can run, or to all its faults at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ragnostic.config.faults import translate, unknown_key
from ragnostic.config.gate_rules import CheckRule, gate_faults
from ragnostic.config.models import TABLES, Settings, Table
from ragnostic.config.options import NONE, PLUG_TABLES, Choice, FindPlugin, choose
from ragnostic.config.rules import cross_faults, settle, sound_sizes
from ragnostic.config.secrets import hide_secrets
from ragnostic.config.source import Source, read_source
from ragnostic.errors import ConfigError, ConfigFault


@dataclass(frozen=True, slots=True)
class Configuration:
    """A configuration without faults.

    ``choices`` maps the tables that name an implementation (chunk, embed, retrieve, rerank,
    generate, index) to its class and validated options; a table that is not used (no reranker, no
    embedder needed) is absent. ``base_dir`` is the folder that relative paths refer to.
    """

    settings: Settings
    choices: Mapping[str, Choice]
    base_dir: Path

    def path(self, written: str) -> Path:
        """A path of the configuration, resolved against its folder."""
        return self.base_dir / Path(written).expanduser()

    def as_json(self) -> dict[str, dict[str, Any]]:
        """The settings as resolved, by table; an unused stage is ``{"use": "none"}``.

        Literal secrets in options are hidden. Where the results are put is left out, the gate,
        which changes no number, and generator and index, which no evaluation asks.
        """
        left_out: Any = {"run": {"out"}, "gate": True, "generate": True, "index": True}
        tables = self.settings.model_dump(mode="json", exclude=left_out)
        tables["dataset"] = _dataset_json(tables["dataset"])
        for name, plug in PLUG_TABLES.items():
            if name not in tables:
                continue
            choice = self.choices.get(name)
            if choice is None:
                tables[name] = {plug.key: NONE}
                continue
            options = hide_secrets(choice.options.model_dump(mode="json"))
            tables[name] |= {key: options.pop(key) for key in plug.shared if key in options}
            tables[name] |= {choice.name: options} if options else {}
        return tables


def _dataset_json(dataset: dict[str, Any]) -> dict[str, Any]:
    """The table as a person writes it: path or sets, a single path as text."""
    sets = [_one_path(one) for one in dataset.pop("set")]
    if not sets:
        return _one_path(dataset)
    return {**{key: value for key, value in dataset.items() if key != "path"}, "set": sets}


def _one_path(table: dict[str, Any]) -> dict[str, Any]:
    paths = table["path"]
    return {**table, "path": paths[0] if len(paths) == 1 else paths}


def load(
    path: Path,
    *,
    find_plugin: FindPlugin,
    check_metric: Callable[[str], object],
    check_rule: CheckRule | None = None,
    sets: Sequence[str] = (),
) -> Configuration:
    """The configuration in a file, with ``a.b=value`` overrides.

    ``find_plugin(kind, name)`` returns an implementation class (:func:`ragnostic.plugins.load`)
    ``check_metric`` raises for a name that is no metric, and ``check_rule(text, metrics)`` for a
    gate rule that a run with these metrics could not be judged by (without it rules are not
    looked into): they are handed in, because the rooms they live in are not below this one.
    Raises ConfigError with all faults.
    """
    source = read_source(path, sets)
    base_dir = path.resolve().parent
    faults = [
        unknown_key(source.where((name,)), (name,), TABLES)
        for name in source.tree.keys() - TABLES.keys()
    ]
    plain, option_tables = _split_options(source, faults)
    tables = settle({name: _validate(name, plain[name], source, faults) for name in TABLES})
    choices = choose(source, sound_sizes(tables), option_tables, find_plugin, faults)
    faults += cross_faults(source, tables, choices, base_dir, check_metric)
    if check_rule is not None:
        faults += gate_faults(source, tables, check_rule)
    if faults:
        raise ConfigError(_in_order(faults, source))
    return Configuration(Settings.model_validate(tables), choices, base_dir)


def _split_options(
    source: Source, faults: list[ConfigFault]
) -> tuple[dict[str, dict[str, Any] | None], dict[str, dict[str, dict[str, Any]]]]:
    """Tables without, and only, their sub-tables of options of one implementation."""
    plain: dict[str, dict[str, Any] | None] = {name: {} for name in TABLES}
    options: dict[str, dict[str, dict[str, Any]]] = {}
    for name in source.tree.keys() & TABLES.keys():
        table = source.tree[name]
        if not isinstance(table, dict):
            faults.append(ConfigFault(source.where((name,)), f"{name} must be a table: [{name}]"))
            plain[name] = None
            continue
        fields = TABLES[name].model_fields
        options[name] = {
            key: value
            for key, value in table.items()
            if name in PLUG_TABLES and key not in fields and isinstance(value, dict)
        }
        plain[name] = {key: value for key, value in table.items() if key not in options[name]}
    return plain, options


def _validate(
    name: str, values: dict[str, Any] | None, source: Source, faults: list[ConfigFault]
) -> Table | None:
    """The table's model. Where keys are faulty, the model of the sound ones, so that the rules
    between tables can still be checked; None where that is not possible.
    """
    model = TABLES[name]
    if values is None:
        return None
    try:
        return model.model_validate(values)
    except ValidationError as error:
        faults += translate(error, model, (name,), source.where)
        faulty = {found["loc"][0] for found in error.errors()}
        sound = {key: value for key, value in values.items() if key not in faulty}
    try:
        return model.model_validate(sound)
    except ValidationError:
        return None


def _in_order(faults: list[ConfigFault], source: Source) -> list[ConfigFault]:
    """By line of the file, then the others; each fault once."""

    def place(fault: ConfigFault) -> tuple[int, str]:
        line = fault.where.removeprefix(f"{source.name}:")
        return (int(line) if line.isdecimal() else 1 << 30, fault.where)

    return sorted(dict.fromkeys(faults), key=place)
