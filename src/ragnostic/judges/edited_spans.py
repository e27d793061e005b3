"""Spans that stand in a chunk within a few edits (METRICS 12, ``answer_span``).

A span that was edited at most twice still holds one of its three thirds as it was. The thirds are
looked up, and where one stands the rest is compared. An edit may touch no number, unit or
negation: these must be the same on both sides, in their order, and the edits lie between them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
from rapidfuzz.distance import Levenshtein

from ragnostic.judges.numerals import HAN_DIGITS, HAN_SCALES
from ragnostic.judges.span_index import Encoded, Ints, SpanIndex
from ragnostic.judges.units import PLAIN_UNIT

_HAN_NOT = "不没沒无無非未勿"
_LATIN_NOT = " (?:not|no|never|without|cannot|none|nor|non)(?= )|n't"
_FIXED = re.compile(
    rf"( -?[0-9][0-9./~-]* (?:{PLAIN_UNIT}|[a-z]+|[^\s,])?"
    rf"|[{HAN_DIGITS}{HAN_SCALES}{_HAN_NOT}]|{_LATIN_NOT})"
)
_NEGATED = re.compile(f"(?:[{_HAN_NOT}]|{_LATIN_NOT}) ?$")
_WORD = re.compile(r"[a-z0-9]")


def edited(
    index: SpanIndex, source: Encoded, spans: Ints, known: set[tuple[int, int]], edits: int
) -> Iterator[tuple[int, int, int]]:
    """(span, chunk, edits) of spans that stand in a chunk with 1 to ``edits`` edits.

    ``spans`` are numbers of texts in ``source``, in plain form; ``known`` are the (span, chunk)
    that need no look-up, because the span stands there as it is.
    """
    first, last = source.first[spans], source.last[spans]
    cuts = [first + (last - first) * part // (edits + 1) for part in range(edits + 2)]
    piece, place = index.find(source, np.concatenate(cuts[:-1]), np.concatenate(cuts[1:]))
    chunk = index.chunk_of(place)
    nth = piece % max(1, len(spans))
    third = piece // max(1, len(spans))
    done = set(known)
    rows = zip(*(a.tolist() for a in (nth, third, chunk, place)), strict=True)
    for number, part, holder, at in rows:
        pair = int(spans[number]), holder
        if pair in done:
            continue
        text = _text(source, int(first[number]), int(last[number]))
        begin, end = (int(cuts[part + more][number] - first[number]) for more in (0, 1))
        size = int(source.lead[cuts[part + 1][number]] - source.lead[cuts[part][number]])
        found = fewest_edits(text, begin, end, index.around(holder, at, size), edits)
        if found is not None:
            done.add(pair)
            yield *pair, found


def _text(source: Encoded, first: int, last: int) -> str:
    return source.data[source.lead[first] : source.lead[last]].decode("gb18030")


def fewest_edits(
    span: str, begin: int, end: int, around: tuple[str, str], edits: int
) -> int | None:
    """How many edits turn ``span`` into a piece of a text in which ``span[begin:end]`` stands
    between ``around[0]`` and ``around[1]``; None if more than ``edits`` or one that is not allowed.

    >>> fewest_edits("退货的期限为 5 天", 0, 2, ("", "期限为 5 天"), 2)
    1
    >>> fewest_edits("退货期限为 5 天", 0, 2, ("", "期限为 15 天"), 2) is None
    True
    """
    before, behind = around
    lefts = _ends(span[:begin][::-1], before[::-1], edits)
    rights = _ends(span[end:], behind, edits) if lefts else []
    ways = sorted((a + b, left, right) for a, left in lefts for b, right in rights)
    for count, left, right in ways:
        if count > edits:
            return None
        start = len(before) - left
        window = before[start:] + span[begin:end] + behind[:right]
        if not stands_free(before[:start], window, behind[right:]):
            continue
        if keeps_values(span, window, edits):
            return count
    return None


def _ends(part: str, text: str, edits: int) -> list[tuple[int, int]]:
    """(edits, length) of the beginnings of ``text`` that are within some edits of ``part``."""
    if text.startswith(part):  # no other end needs fewer, nor fits better
        return [(0, len(part))]
    shortest, longest = max(0, len(part) - edits), min(len(text), len(part) + edits)
    found = []
    for length in range(shortest, longest + 1):
        count = Levenshtein.distance(part, text[:length], score_cutoff=edits)
        if count <= edits:
            found.append((count, length))
    return found


def stands_free(before: str, window: str, behind: str) -> bool:
    """Whether a piece of text cuts no Latin word or number, and follows no negation.

    >>> stands_free("", "可以退货", "。"), stands_free("员工不", "可以退货", "")
    (True, False)
    """
    cut = _cuts_word(before, window) or _cuts_word(window, behind)
    return not cut and _NEGATED.search(before[-9:]) is None


def _cuts_word(left: str, right: str) -> bool:
    return bool(_WORD.match(left[-1:]) and _WORD.match(right))


def keeps_values(span: str, window: str, edits: int) -> bool:
    """Whether numbers with units and negations of two texts are the same, in order, and all
    between them within some edits.

    >>> keeps_values("年假为 15 天", "年假是 15 天", 2), keeps_values("可以退货", "不可以退货", 2)
    (True, False)
    """
    ours, theirs = _FIXED.split(span), _FIXED.split(window)
    if len(ours) != len(theirs) or ours[1::2] != theirs[1::2]:
        return False
    pairs: Sequence[tuple[str, str]] = list(zip(ours[::2], theirs[::2], strict=True))
    return sum(Levenshtein.distance(a, b, score_cutoff=edits) for a, b in pairs) <= edits
