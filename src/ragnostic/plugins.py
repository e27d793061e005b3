"""Name → implementation, by entry points; the built-in ones are plugins like any other.

Groups: ``ragnostic.retrievers``, ``ragnostic.rerankers``, ``ragnostic.embedders``,
``ragnostic.chunkers``, ``ragnostic.generators``, ``ragnostic.judges``, ``ragnostic.notifiers``,
``ragnostic.vectorstores``.
"""

from __future__ import annotations

import difflib
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from ragnostic.errors import UsageError


@cache
def _group(kind: str) -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=f"ragnostic.{kind}")}


def names(kind: str) -> list[str]:
    """Names of all installed implementations of a kind, sorted.

    >>> "bm25" in names("retrievers")
    True
    """
    return sorted(_group(kind))


def load(kind: str, name: str) -> Any:
    """The implementation class; raises UsageError with the nearest known name."""
    point = _group(kind).get(name)
    if point is None:
        raise UsageError(unknown(kind, name), hint=nearest(name, names(kind)))
    try:
        return point.load()
    except ImportError as error:
        raise UsageError(
            f"{kind[:-1]} {name!r} needs a package that is not installed: {error.name or error}",
            hint="install ragnostic with its extra, for example: pip install 'ragnostic[local]'",
        ) from error


def unknown(kind: str, name: str) -> str:
    """The message for a name that no plugin has."""
    return f"unknown {kind[:-1]} {name!r}; known: {', '.join(names(kind))}"


def nearest(name: str, known: list[str]) -> str:
    """A hint naming the closest known name, or nothing.

    >>> nearest("dens", ["bm25", "dense"])
    'did you mean dense?'
    """
    close = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {close[0]}?" if close else ""
