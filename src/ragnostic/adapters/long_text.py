"""Texts longer than a model reads: cut into segments, or cut off."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from ragnostic.ports import CountTokens
from ragnostic.text import sentence_spans

LongPolicy = Literal["max_over_segments", "truncate"]


@dataclass(frozen=True, slots=True)
class Pieces:
    """What of a text is given to the model; ``truncated`` when that is not all of it."""

    texts: tuple[str, ...]
    truncated: bool


def pieces(text: str, max_tokens: int, policy: LongPolicy, count_tokens: CountTokens) -> Pieces:
    """``text`` whole where it fits, else its segments or its beginning.

    >>> pieces("ab cd", 2, "truncate", lambda text: len(text.split()))
    Pieces(texts=('ab cd',), truncated=False)
    """
    if count_tokens(text) <= max_tokens:
        return Pieces((text,), truncated=False)
    if policy == "truncate":
        return Pieces((truncate(text, max_tokens, count_tokens),), truncated=True)
    cut = segments(text, max_tokens, count_tokens) or [truncate(text, max_tokens, count_tokens)]
    return Pieces(tuple(cut), truncated=False)


def truncate(text: str, max_tokens: int, count_tokens: CountTokens) -> str:
    """The longest beginning of ``text`` that has at most ``max_tokens``, at least a character.

    >>> truncate("abcdef", 4, len)
    'abcd'
    """
    return text[: _longest(text, 0, range(1, len(text) + 1), _fits(max_tokens, count_tokens))]


def segments(text: str, max_tokens: int, count_tokens: CountTokens) -> list[str]:
    """``text`` in segments of at most ``max_tokens``, as long as sentence ends allow.

    Together they hold all of the text but white space between sentences. A sentence longer than
    the limit is cut where the limit is met; a character that alone has more is still kept whole.

    >>> segments("One. Two. Three.", 10, len)
    ['One. Two.', 'Three.']
    """
    fits = _fits(max_tokens, count_tokens)
    found: list[str] = []
    spans = sentence_spans(text)
    ends = [end for _, end in spans]
    position = 0
    while position < len(spans):
        start = spans[position][0]
        if fits(text[start : ends[position]]):
            end = _longest(text, start, ends[position:], fits)
            found.append(text[start:end])
            position = bisect_right(ends, end)
        else:
            found.extend(_cut_hard(text[start : ends[position]], fits))
            position += 1
    return found


def _fits(max_tokens: int, count_tokens: CountTokens) -> Callable[[str], bool]:
    return lambda text: count_tokens(text) <= max_tokens


def _cut_hard(sentence: str, fits: Callable[[str], bool]) -> list[str]:
    parts: list[str] = []
    start = 0
    while start < len(sentence):
        end = _longest(sentence, start, range(start + 1, len(sentence) + 1), fits)
        parts.append(sentence[start:end])
        start = end
    return parts


def _longest(text: str, start: int, ends: Sequence[int], fits: Callable[[str], bool]) -> int:
    """The last of ``ends`` (ascending) up to which the text fits; the first if none does.

    Doubling, then halving: what is counted stays near the limit, however long the text.
    """
    good, step = 0, 1
    while good + step < len(ends) and fits(text[start : ends[good + step]]):
        good, step = good + step, step * 2
    low, high = good, min(good + step, len(ends))
    while high - low > 1:
        middle = (low + high) // 2
        if fits(text[start : ends[middle]]):
            low = middle
        else:
            high = middle
    return ends[low]
