"""Why a search may not see a passage: what query and passage share, and what they do not."""

from __future__ import annotations

import re
from collections.abc import Callable

from ragnostic.text import count_tokens, language, words

NO_SHARED_WORD, SYMBOL, LANGUAGE = "no_shared_word", "abbreviation_number_symbol", "language"
LONG_PASSAGE, LONG_QUERY = "long_passage", "long_query"
MODEL_TOKENS, LONG_QUERY_TOKENS = 512, 128
_SPECIAL = re.compile(r"\b(?=\w*\d)[\w.-]+\b|\b[A-Z]{2,6}\b|[#$%°§±×≥≤]")
"""Numbers, codes with digits, short words in capitals, symbols."""

Count = Callable[[str], int]


def overlap(query: str, passage: str) -> float | None:
    """Share of the query's distinct words that the passage has; None for a query without words.

    >>> overlap("reset the VPN", "How to reset a vpn")
    0.6666666666666666
    """
    asked = set(words(query))
    return len(asked & set(words(passage))) / len(asked) if asked else None


def hints(query: str, passage: str, count: Count = count_tokens) -> tuple[str, ...]:
    """What speaks for one sub-cause or another, most telling first; none where nothing does.

    >>> hints("What is PTO?", "Paid time off is granted yearly.")
    ('abbreviation_number_symbol',)
    >>> hints("年假有几天", "Annual leave: 20 days")
    ('language', 'no_shared_word')
    """
    found = []
    if language(query) != language(passage):
        found.append(LANGUAGE)
    special = set(_SPECIAL.findall(query))
    if special and not any(mark.lower() in passage.lower() for mark in special):
        found.append(SYMBOL)
    if count(passage) > MODEL_TOKENS:
        found.append(LONG_PASSAGE)
    if count(query) > LONG_QUERY_TOKENS:
        found.append(LONG_QUERY)
    if overlap(query, passage) == 0:
        found.append(NO_SHARED_WORD)
    return tuple(found)
