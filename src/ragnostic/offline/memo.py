"""Parts that several evaluations have in common, each made once."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Hashable
from typing import Any, TypeVar, cast

from ragnostic.config import Configuration, needs

Part = TypeVar("Part")
Key = tuple[Hashable, ...]


class Memo:
    """Parts by kind and key, with the seconds that each took to make.

    Of the kinds in ``kept`` every part stays; of those in ``newest`` only the last one, so that a
    corpus is not held in memory once more for each way to cut it. Of all other kinds nothing
    stays, which is what a single evaluation wants. ``reused_s`` adds up the seconds of the parts
    that were handed out again: what they would have cost.

    >>> memo = Memo(kept=["square"])
    >>> [memo.once("square", (3,), lambda: 9), memo.once("square", (3,), lambda: 1 / 0)]
    [9, 9]
    """

    def __init__(self, kept: Collection[str] = (), newest: Collection[str] = ()) -> None:
        self.reused_s = 0.0
        self._kept = frozenset(kept)
        self._newest = frozenset(newest)
        self._parts: dict[str, dict[Key, tuple[Any, float]]] = {}

    def once(self, kind: str, key: Key, make: Callable[[], Part]) -> Part:
        """``make()``, or the part that it gave before."""
        found = self._parts.get(kind, {}).get(key)
        if found is not None:
            self.reused_s += found[1]
            return cast("Part", found[0])
        if kind in self._newest:
            self._parts.pop(kind, None)  # before the new one is made: both may be large
        start, reused = time.perf_counter(), self.reused_s
        part = make()
        seconds = time.perf_counter() - start + self.reused_s - reused
        if kind in self._newest or kind in self._kept:
            self._parts.setdefault(kind, {})[key] = (part, seconds)
        return part


def dataset_key(configuration: Configuration) -> Key:
    """What decides which queries and documents are loaded."""
    settings = configuration.settings
    folder = str(configuration.base_dir)
    return (folder, settings.dataset.model_dump_json(), settings.run.bad_rows)


def corpus_key(configuration: Configuration) -> Key:
    """What decides which chunks there are."""
    return (*dataset_key(configuration), *_choice(configuration, "chunk"))


def embedder_key(configuration: Configuration) -> Key:
    """What decides which vectors a text has."""
    settings = configuration.settings
    return (*_choice(configuration, "embed"), str(settings.embed.cache), *_calls(configuration))


def index_key(configuration: Configuration) -> Key:
    """What decides how a retriever is built; how many chunks it is asked for does not."""
    retriever = configuration.choices["retrieve"]
    embedder = embedder_key(configuration) if needs(retriever, "embedder") else ()
    return (
        *corpus_key(configuration),
        *embedder,
        *_choice(configuration, "retrieve"),
        *_calls(configuration),
    )


def retrieval_key(configuration: Configuration) -> Key:
    """What decides the rankings of the first stage."""
    return (*index_key(configuration), configuration.settings.retrieve.top_k)


def rerank_key(configuration: Configuration) -> Key:
    """What decides the rankings of the rerank stage."""
    return (
        *retrieval_key(configuration),
        *embedder_key(configuration),
        *_choice(configuration, "rerank"),
        configuration.settings.rerank.top_n,
    )


def _choice(configuration: Configuration, table: str) -> Key:
    choice = configuration.choices.get(table)
    return (table, None) if choice is None else (choice.name, choice.options.model_dump_json())


def _calls(configuration: Configuration) -> Key:
    run = configuration.settings.run
    return (run.retries, run.timeout_s, run.max_failed)
