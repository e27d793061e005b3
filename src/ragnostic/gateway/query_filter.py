"""Queries that are not worth asking: by length, by shape, by pattern, by a small model."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from ragnostic.gateway.settings import FilterSettings

_LOOKED_AT = 2000
_TRAILING = re.compile(r"[\s.。．｡,，、;；:：!！?？~～…·\-—_]+$")

Rule = Callable[[str], str | None]
"""Query → the reason why it is not worth asking, or None."""


def rules(settings: FilterSettings) -> list[Rule]:
    """The rules that are set, in the order in which they are tried.

    >>> [
    ...     first_reason("好好好", rules(FilterSettings(repeated=3))),
    ...     first_reason("好的", rules(FilterSettings(repeated=3, min_chars=3))),
    ... ]
    ['repeated', 'too_short']
    """
    found: list[Rule] = []
    if settings.min_chars:
        found.append(lambda query: "too_short" if len(query) < settings.min_chars else None)
    if (most := settings.max_chars) is not None:
        found.append(lambda query: "too_long" if len(query) > most else None)
    if settings.no_letters:
        found.append(lambda query: None if _has_letters(query) else "no_letters")
    if (times := settings.repeated) is not None:
        found.append(lambda query: "repeated" if _is_repeated(query, times) else None)
    for number, pattern in enumerate(map(re.compile, settings.patterns)):
        found.append(_pattern_rule(pattern, f"pattern_{number}"))
    return found


def _pattern_rule(pattern: re.Pattern[str], reason: str) -> Rule:
    return lambda query: reason if pattern.search(query[:_LOOKED_AT]) else None


def first_reason(query: str, tried: list[Rule]) -> str | None:
    """The first reason that a rule gives; spaces around the query do not count."""
    text = query.strip()
    return next((reason for rule in tried if (reason := rule(text))), None)


def _has_letters(query: str) -> bool:
    """Letters of any script, and marks that are words of their own, such as emoji."""
    return any(unicodedata.category(mark)[0] in "LM" or _is_picture(mark) for mark in query)


def _is_picture(mark: str) -> bool:
    return unicodedata.category(mark) == "So"


def _is_repeated(query: str, times: int) -> bool:
    return len(query) >= times and len(set(query.casefold())) == 1


def strip_punctuation(query: str) -> str:
    """The query without punctuation and spaces at its end; one of nothing else stays as it is.

    >>> strip_punctuation("年假几天？？ "), strip_punctuation("C++"), strip_punctuation("???")
    ('年假几天', 'C++', '???')
    """
    return _TRAILING.sub("", query) or query
