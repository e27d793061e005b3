"""Walking through the texts of a row, whatever its shape, without changing it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Path = tuple[str, ...]
Visit = Callable[[Path, str], str]

MAX_DEPTH = 64
"""Objects and lists inside one another; no record needs more, and every walk stays shallow."""

MARGIN = 1024
"""Bytes behind a cut that are looked into, and then left out."""

_LEAST_NUMBER = 10**9
_MOST_NODES = 200_000


def rewrite(value: Any, visit: Visit, path: Path = ()) -> Any:
    """The value with ``visit(path, text)`` in the place of each text, names of objects included.

    A path holds the names on the way, not the places in lists. A whole number of ten digits or
    more is visited too, as it may be a phone or a card; it becomes text only where that changed.

    >>> rewrite({"a": ["x", 1], "b": {"c": "y"}}, lambda path, text: ".".join(path) + text)
    {'a': ['ax', 1], 'b': {'c': 'b.cy'}}
    """
    if isinstance(value, str):
        return visit(path, value)
    if isinstance(value, dict):
        found: dict[str, Any] = {}
        for given, inner in value.items():
            name = str(given)
            key = visit((), name) if path else name
            found[_free(key, found)] = rewrite(inner, visit, (*path, name))
        return found
    if isinstance(value, list | tuple):
        return [rewrite(inner, visit, path) for inner in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= _LEAST_NUMBER:
        text = str(value)
        seen = visit(path, text)
        return value if seen == text else seen
    return value


def is_deeper(value: Any, limit: int = MAX_DEPTH) -> bool:
    """Whether objects and lists are nested more than ``limit`` deep; never recurses itself.

    >>> is_deeper([[1]], 2), is_deeper([[[1]]], 2)
    (False, True)
    """
    level, seen = [value], 0
    for _ in range(limit + 1):
        level = [inner for one in level for inner in _members(one)]
        seen += len(level)
        if not level:
            return False
        if seen > _MOST_NODES:  # something that holds itself
            return True
    return True


def cut(text: str, limit: int) -> str:
    """The longest beginning of a text that has at most ``limit`` bytes of UTF-8.

    >>> cut("汉字", 5), cut("汉字", 6)
    ('汉', '汉字')
    """
    encoded = text.encode("utf-8", "backslashreplace")
    return text if len(encoded) <= limit else encoded[:limit].decode("utf-8", "ignore")


def _members(value: Any) -> Sequence[Any]:
    """What counts as one level deeper: inner objects and lists, or a sign that there is a leaf."""
    if not isinstance(value, dict | list | tuple) or not value:
        return ()
    inner = value.values() if isinstance(value, dict) else value
    return [one for one in inner if isinstance(one, dict | list | tuple)] or [None]


def _free(key: str, taken: dict[str, Any]) -> str:
    """The name itself, or with a number where two names became one by masking."""
    number, name = 1, key
    while name in taken:
        number += 1
        name = f"{key}#{number}"
    return name
