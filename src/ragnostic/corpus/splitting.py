"""One splitter for all chunkers: windows of at most so many tokens, cut at the best break."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from ragnostic.corpus.breaks import Breaks, Offsets, Span


@dataclass(frozen=True, slots=True)
class Policy:
    """Where one chunker cuts.

    ``preferred`` and ``last_resort`` are levels of breaks, best first. A preferred break is taken
    if it leaves the chunk at least ``fill`` full (0 to 1); else any preferred break that makes
    progress; else one of the last resort; else the chunk is filled, if need be up to the middle
    of a word. ``overlap_at`` are the levels at which the repeated part may begin, best first.
    """

    preferred: Sequence[Offsets]
    last_resort: Sequence[Offsets]
    overlap_at: Sequence[Offsets]
    fill: float = 0.5


def split(breaks: Breaks, policy: Policy, max_tokens: int, overlap: int) -> list[Span]:
    """(start, end) of consecutive windows that cover all but the white space of the text.

    Each has at most ``max_tokens`` tokens, of which at most ``overlap`` repeat the end of the one
    before. Linear in the length of the text.

    >>> breaks = Breaks("one two three four five")
    >>> policy = Policy([breaks.words], [], [breaks.words])
    >>> [breaks.text[a:b] for a, b in split(breaks, policy, max_tokens=3, overlap=1)]
    ['one two', 'two three', 'four five']
    """
    tokens = breaks.tokens
    spans: list[Span] = []
    first = covered = 0
    while covered < len(tokens):
        cut = _cut(tokens, policy, first, covered, max_tokens)
        end = tokens[cut] if cut < len(tokens) else len(breaks.text)
        start = tokens[first]
        spans.append((start, start + len(breaks.text[start:end].rstrip())))
        first, covered = _overlap_start(tokens, policy, first, cut, overlap), cut
    return spans


def _cut(tokens: Offsets, policy: Policy, first: int, covered: int, max_tokens: int) -> int:
    """Index of the first token after the window that begins at token ``first``."""
    limit = first + max_tokens
    if limit >= len(tokens):
        return len(tokens)
    filled = first + int(policy.fill * max_tokens)
    attempts = (
        (policy.preferred, max(filled, covered)),
        (policy.preferred, covered),
        (policy.last_resort, covered),
    )
    for levels, beyond in attempts:
        for level in levels:
            position = bisect_right(level, tokens[limit]) - 1
            if position >= 0 and level[position] > tokens[beyond]:
                return bisect_left(tokens, level[position])
    return limit


def _overlap_start(tokens: Offsets, policy: Policy, first: int, cut: int, overlap: int) -> int:
    """Index of the token at which the next window begins, at most ``overlap`` before ``cut``."""
    if not overlap or cut >= len(tokens):
        return cut
    earliest = tokens[max(first + 1, cut - overlap)]
    for level in policy.overlap_at:
        position = bisect_left(level, earliest)
        if position < len(level) and level[position] < tokens[cut]:
            return bisect_left(tokens, level[position])
    return cut
