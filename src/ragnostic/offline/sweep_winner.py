"""The settings of the best combination as a configuration of its own."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragnostic.config.secrets import hide_secrets
from ragnostic.config.source import read_source
from ragnostic.offline.sweep_plan import Combination

WINNER = "winner.toml"


def write_winner(
    config: Path, sets: Sequence[str], winner: Combination, folder: Path, sweep: str
) -> Path:
    """Write ``winner.toml`` and return its place: the sweep's own ``folder``, or, where the
    configuration names Python functions, which are found beside it, the configuration's folder.

    Relative paths are written anew for the place; a literal secret is not written.
    """
    tree = read_source(config, [*sets, *winner.sets]).tree
    target = folder / WINNER
    choices = winner.configuration.choices.values()
    if any("target" in type(choice.options).model_fields for choice in choices):
        target = config.resolve().parent / f"{sweep.replace('sweep', 'winner')}.toml"
    moved = _moved(tree, config.resolve().parent, target.resolve().parent)
    safe = {table: hide_secrets(values) for table, values in moved.items()}
    lines = [
        f"# The best of {sweep} over {config.name}: {winner.name}",
        *(["# Literal secrets stand here as (hidden)."] if safe != moved else []),
    ]
    target.write_text("\n".join([*lines, *_toml(safe)]) + "\n", encoding="utf-8")
    return target


def _moved(tree: Mapping[str, Any], old: Path, new: Path) -> dict[str, Any]:
    """The tables with the paths in them relative to another folder."""

    def path(value: Any) -> Any:
        if isinstance(value, list):
            return [path(one) for one in value]
        if not isinstance(value, str) or Path(value).expanduser().is_absolute():
            return value
        return Path(os.path.relpath(old / value, new)).as_posix()

    found = {name: dict(table) for name, table in tree.items()}
    dataset = found["dataset"]
    for key in ("path", "corpus"):
        if key in dataset:
            dataset[key] = path(dataset[key])
    if "set" in dataset:
        dataset["set"] = [{**one, "path": path(one["path"])} for one in dataset["set"]]
    for table, key in (("embed", "cache"), ("run", "out")):
        if key in found.get(table, {}):
            found[table][key] = path(found[table][key])
    return found


def _toml(table: Mapping[str, Any], path: tuple[str, ...] = ()) -> list[str]:
    """Lines of TOML: the plain keys of a table, then the tables in it."""
    lines: list[str] = []
    inner = {key: value for key, value in table.items() if isinstance(value, dict)}
    plain = {key: value for key, value in table.items() if key not in inner}
    if path and (plain or not inner):
        lines += ["", f"[{'.'.join(map(_key, path))}]"]
    lines += [f"{_key(key)} = {_value(value)}" for key, value in plain.items()]
    for key, value in inner.items():
        lines += _toml(value, (*path, key))
    return lines


def _key(key: str) -> str:
    bare = key.replace("-", "").replace("_", "")
    return key if bare.isascii() and bare.isalnum() else _value(key)


def _value(value: Any) -> str:
    """A value in one line.

    >>> _value({"name": "old", "path": ["a.jsonl"], "on": True})
    '{name = "old", path = ["a.jsonl"], on = true}'
    """
    if isinstance(value, dict):
        return (
            "{" + ", ".join(f"{_key(key)} = {_value(inner)}" for key, inner in value.items()) + "}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
