"""Places where a text may be cut, from coarse to fine; each is a sorted list of offsets.

An offset ``b`` means: one piece ends at or before ``b``, the next begins at ``b``. Every offset is
where a token begins, so the token counts of the two pieces add up.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from ragnostic.text import CJK, TOKEN, sentence_spans

Offsets = Sequence[int]
Span = tuple[int, int]

_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")
_LINE = re.compile(r"\n\s*")
_CLAUSE = re.compile(rf"(?:[，、；：]|(?<=[{CJK}])[,;:]|[,;:](?=\s))\s*")
_JOINED = "\u0300-\u036f\u200d\u20e3\ufe00-\ufe0f\U0001f3fb-\U0001f3ff"
_RUN = rf"[^\W_{CJK}]+"
_WORD = re.compile(rf"(?:{_RUN}|\S)(?:[{_JOINED}]+(?:(?<=\u200d)\S|{_RUN})?)*")


@dataclass(frozen=True)
class Breaks:
    r"""The breaks of one text, each level worked out when it is first asked for.

    >>> breaks = Breaks("One two. Three, four.\n\n五，六。")
    >>> list(breaks.paragraphs), list(breaks.sentences), list(breaks.clauses)
    ([23], [9, 23], [16, 25])
    """

    text: str

    @cached_property
    def tokens(self) -> Offsets:
        """Where each token begins."""
        return _offsets(match.start() for match in TOKEN.finditer(self.text))

    @cached_property
    def words(self) -> Offsets:
        """Where each word, CJK character or mark begins."""
        return _offsets(match.start() for match in _WORD.finditer(self.text))

    @cached_property
    def clauses(self) -> Offsets:
        """Where each piece after a comma, colon or semicolon begins."""
        return self._after(_CLAUSE)

    @cached_property
    def sentences(self) -> Offsets:
        """Where each sentence but the first begins."""
        return _offsets(start for start, _ in sentence_spans(self.text)[1:])

    @cached_property
    def lines(self) -> Offsets:
        """Where each non-blank line but the first begins, at its first mark."""
        return self._after(_LINE)

    @cached_property
    def paragraphs(self) -> Offsets:
        """Where each block after a blank line begins."""
        return self._after(_PARAGRAPH)

    def _after(self, pattern: re.Pattern[str]) -> Offsets:
        # White space at either end separates nothing; without it each match ends before a token.
        text = self.text
        start, end = len(text) - len(text.lstrip()), len(text.rstrip())
        matches = pattern.finditer(text, start, end)
        return _offsets(match.end() for match in matches if match.end() < end)


def outside(offsets: Offsets, kept_whole: Sequence[Span]) -> Offsets:
    """The offsets that cut none of the spans; the spans are sorted and do not overlap.

    >>> list(outside([2, 5, 8], [(2, 6)]))
    [2, 8]
    """
    kept: list[int] = []
    position = 0
    for start, end in kept_whole:
        inside = bisect_left(offsets, start + 1, position)
        kept.extend(offsets[position:inside])
        position = bisect_left(offsets, end, inside)
    kept.extend(offsets[position:])
    return _offsets(kept)


def _offsets(values: Iterable[int]) -> Offsets:
    return array("q", values)
