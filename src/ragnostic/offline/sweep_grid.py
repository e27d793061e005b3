"""``--grid a.b=v1,v2``: the settings that a sweep varies, and their product."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ragnostic.config import TABLES
from ragnostic.config.secrets import hide_secrets
from ragnostic.config.source import parse_assignment
from ragnostic.errors import ConfigError, ConfigFault, UsageError

_BARE = re.compile(r"[\w.+/-]+")
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_VARIED = ("chunk", "embed", "retrieve", "rerank", "score")
_HINT = 'for example --grid retrieve.top_k=10,20 or --grid \'embed.query_prefix="query: ",""\''
_TURNED_DOWN = {
    "score.overlap": "another overlap is another judge, and runs of different judges are never "
    "compared",
    "score.metrics": "it only adds columns to the table; name all metrics in the configuration",
    "dataset": "all combinations answer the same queries, or they could not be compared",
}


@dataclass(frozen=True, slots=True)
class Axis:
    """One varied setting: its key path, and its values as ``--set`` would be given them."""

    path: tuple[str, ...]
    written: tuple[str, ...]

    @property
    def key(self) -> str:
        """The dotted key."""
        return ".".join(self.path)

    def assignment(self, value: str) -> str:
        """``a.b=value`` for :func:`ragnostic.config.load`."""
        return f"{self.key}={value}"

    def shown(self, value: str) -> str:
        """``a.b=value`` as a person reads it in a name.

        >>> axis = Axis(("embed", "query_prefix"), ('"query: "', '""'))
        >>> [axis.shown(value) for value in axis.written]
        ['embed.query_prefix="query: "', 'embed.query_prefix=""']
        """
        parsed = parse_assignment(self.assignment(value))[1]
        text = json.dumps(parsed, ensure_ascii=False)
        bare = isinstance(parsed, str) and _BARE.fullmatch(parsed)
        return f"{self.key}={parsed if bare else text}"


def parse_axes(grids: Sequence[str], sets: Sequence[str] = ()) -> list[Axis]:
    """The axes of a sweep; raises ConfigError with all faults at once.

    >>> [axis.written for axis in parse_axes(["chunk.max_tokens=200, 400", "embed.use=http"])]
    [('200', '400'), ('http',)]
    """
    faults: list[ConfigFault] = []
    axes: list[Axis] = []
    fixed = {parse_assignment(text)[0] for text in sets if "=" in text}
    for grid in grids:
        axis = _axis(grid, faults)
        if axis is None:
            continue
        if axis.path in {other.path for other in axes}:
            faults.append(_fault(axis.key, "is given twice", "write all its values in one --grid"))
        if axis.path in fixed:
            faults.append(_fault(axis.key, "is also given by --set", "leave one of them out"))
        axes.append(axis)
    if not grids:
        raise UsageError("no --grid is given", hint=_HINT)
    if faults:
        raise ConfigError(faults)
    return axes


def named(axes: Sequence[Axis], values: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """(name, assignments) of the combination with one value of every axis.

    >>> axes = parse_axes(["chunk.max_tokens=200,400", "retrieve.use=bm25,dense"])
    >>> named(axes, ["200", "bm25"])
    ('chunk.max_tokens=200, retrieve.use=bm25', ('chunk.max_tokens=200', 'retrieve.use=bm25'))
    """
    pairs = list(zip(axes, values, strict=True))
    name = ", ".join(axis.shown(value) for axis, value in pairs)
    return name, tuple(axis.assignment(value) for axis, value in pairs)


def split_values(text: str) -> list[str]:
    r"""Values at the commas outside quotes and brackets; raises ValueError for an open one.

    >>> split_values('"a, b",c,[1,2],nDCG(gain=exp,rel=2)@5')
    ['"a, b"', 'c', '[1,2]', 'nDCG(gain=exp,rel=2)@5']
    """
    values, start, closers = [], 0, ""
    at = 0
    while at < len(text):
        mark = text[at]
        fresh = bool(closers) or not text[start:at].strip()
        if mark in "\"'" and fresh:
            at = _after_quote(text, at)
            continue
        if mark in _PAIRS:
            closers = _PAIRS[mark] + closers
        elif closers and mark == closers[0]:
            closers = closers[1:]
        elif mark == "," and not closers:
            values.append(text[start:at].strip())
            start = at + 1
        at += 1
    if closers:
        raise ValueError(f"{closers[0]!r} is missing at the end")
    return [*values, text[start:].strip()]


def _after_quote(text: str, at: int) -> int:
    """The place behind the string that begins at ``at``."""
    quote = text[at]
    end = at + 1
    while end < len(text) and text[end] != quote:
        end += 2 if quote == '"' and text[end] == "\\" else 1
    if end >= len(text):
        raise ValueError(f"a {quote} is not closed")
    return end + 1


def _axis(grid: str, faults: list[ConfigFault]) -> Axis | None:
    text = grid.partition("=")[2]
    try:
        path, _ = parse_assignment(grid)
        values = split_values(text)
    except ValueError as error:
        message = str(error).replace("expected a.b=value", "expected a.b=v1,v2")
        faults.append(ConfigFault(f"--grid {grid}", message, _HINT))
        return None
    axis = Axis(path, tuple(values))
    before = len(faults)
    faults += _value_faults(axis)
    reason = _turned_down(path)
    if reason:
        faults.append(_fault(axis.key, f"cannot be varied: {reason}"))
    return axis if len(faults) == before else None


def _value_faults(axis: Axis) -> Iterator[ConfigFault]:
    seen: list[tuple[type, Any]] = []
    for value in axis.written:
        if not value:
            yield _fault(axis.key, "has an empty value", 'write "" for an empty text')
            continue
        parsed = parse_assignment(axis.assignment(value))[1]
        if (type(parsed), parsed) in seen:
            yield _fault(axis.key, f"has the value {value} twice")
        if hide_secrets(parsed, axis.path[-1]) != parsed:
            hint = "name variables of the environment instead: ${NAME}"
            yield _fault(axis.key, "holds a secret, which would stand in the names of runs", hint)
        seen.append((type(parsed), parsed))


def _turned_down(path: tuple[str, ...]) -> str:
    """Why a key is no axis of a sweep; empty where it is one, or where no table has it."""
    key, table = ".".join(path), path[0]
    if key == "dataset.corpus" or table not in TABLES:
        return ""
    if table not in _VARIED and table != "dataset":
        return "it changes no number of a run"
    return _TURNED_DOWN.get(key) or _TURNED_DOWN.get(table, "")


def _fault(key: str, message: str, hint: str = "") -> ConfigFault:
    return ConfigFault(f"--grid {key}", f"{key} {message}", hint)
