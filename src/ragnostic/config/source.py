"""A TOML file and its ``--set`` overrides as one tree, with the place of every key."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragnostic.config.toml_lines import KeyPath, index_lines
from ragnostic.errors import ConfigError, ConfigFault, UsageError

_PLACE = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)$")


@dataclass(frozen=True, slots=True)
class Source:
    """The values as written, and where each stands."""

    name: str
    tree: dict[str, Any]
    lines: Mapping[KeyPath, int]
    overrides: Mapping[KeyPath, str]

    def where(self, path: KeyPath) -> str:
        """``eval.toml:14`` or ``--set a.b`` of the key, else of what was set in it, else of the
        nearest table around it.
        """
        if path not in self.overrides and path not in self.lines:
            for key, label in self.overrides.items():
                if key[: len(path)] == path:
                    return label
        for length in range(len(path), 0, -1):
            if path[:length] in self.overrides:
                return self.overrides[path[:length]]
            if path[:length] in self.lines:
                return f"{self.name}:{self.lines[path[:length]]}"
        return self.name


def read_source(path: Path, sets: Sequence[str]) -> Source:
    """The file and its overrides; raises ConfigError for what is no TOML.

    ``sets`` holds ``a.b=value`` texts; a value is TOML where it parses as such, else a string.
    """
    text = _decode(path)
    try:
        tree = tomllib.loads(text)
        lines = index_lines(text)
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        line = (place and place[1]) or str(text.rstrip().count("\n") + 1)
        message = _PLACE.sub("", str(error))
        fault = ConfigFault(
            f"{path.name}:{line}", f"not valid TOML: {message[:1].lower()}{message[1:]}"
        )
        raise ConfigError([fault]) from error
    except RecursionError as error:
        raise ConfigError([ConfigFault(path.name, "too deeply nested")]) from error
    overrides: dict[KeyPath, str] = {}
    faults: list[ConfigFault] = []
    for assignment in sets:
        _override(tree, assignment, overrides, faults)
    if faults:
        raise ConfigError(faults)
    return Source(path.name, tree, lines, overrides)


def _decode(path: Path) -> str:
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise UsageError(f"no such file: {path}", hint=_neighbours(path)) from error
    except IsADirectoryError as error:
        raise UsageError(f"{path} is a folder", hint="name the TOML file in it") from error
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        fault = ConfigFault(f"{path.name}:{line}", "not UTF-8 text", "save the file as UTF-8")
        raise ConfigError([fault]) from error


def _neighbours(path: Path) -> str:
    found = sorted(file.name for file in path.parent.glob("*.toml"))[:5]
    return f"the folder holds {', '.join(found)}" if found else ""


def parse_assignment(assignment: str) -> tuple[tuple[str, ...], Any]:
    """``a.b=value`` as key path and value; raises ValueError where there is no key.

    >>> parse_assignment("retrieve.top_k=50")
    (('retrieve', 'top_k'), 50)
    >>> parse_assignment("dataset.path=my file.jsonl")
    (('dataset', 'path'), 'my file.jsonl')
    """
    written, equals, value = assignment.partition("=")
    if not equals:
        raise ValueError("expected a.b=value")
    try:
        tree: Any = tomllib.loads(f"{written} = 0")
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{written!r} is no key") from error
    keys: list[str] = []
    while isinstance(tree, dict):
        if len(tree) != 1:
            raise ValueError(f"{written!r} is no key")
        key, tree = next(iter(tree.items()))
        keys.append(key)
    try:
        parsed = tomllib.loads(f"x = {value}")
    except tomllib.TOMLDecodeError:
        return tuple(keys), value
    return tuple(keys), parsed["x"] if len(parsed) == 1 else value


def _override(
    tree: dict[str, Any],
    assignment: str,
    overrides: dict[KeyPath, str],
    faults: list[ConfigFault],
) -> None:
    try:
        path, value = parse_assignment(assignment)
    except ValueError as error:
        hint = "for example --set retrieve.top_k=50"
        faults.append(ConfigFault(f"--set {assignment}", str(error), hint))
        return
    label = f"--set {'.'.join(path)}"
    table = tree
    for depth, key in enumerate(path[:-1], 1):
        inner = table.setdefault(key, {})
        if not isinstance(inner, dict):
            faults.append(ConfigFault(label, f"{'.'.join(path[:depth])} is no table"))
            return
        table = inner
    table[path[-1]] = value
    overrides[path] = label
