"""Words for BM25: Chinese by a segmenter, English stemmed, in one text if need be."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Literal

from ragnostic.text import HAN

Language = Literal["auto", "zh", "en"]

_WORD = re.compile(rf"(?P<han>[{HAN}]+)|(?P<number>\d+(?:[.,]\d+)+)|(?P<word>[^\W_{HAN}]+)")
_STOP_WORDS = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then "  # noqa: SIM905 (a list would hold more quotes than words)
    "there these they this to was will with".split()
)
"""Lucene's English list, so that scores compare with the published ones."""


def tokeniser(language: Language = "auto") -> Callable[[str], list[str]]:
    """A function from text to terms, in text order, repeats kept.

    The text is folded by NFKC and lower-cased. Runs of Han go through rjieba in search mode;
    numbers stay as they are; other words lose English stop words and are stemmed. ``zh`` neither
    stops nor stems Latin words; ``en`` takes each Han character as a term. Not thread-safe: the
    stemmer keeps state.

    >>> tokeniser()("规定：employees get １５ days")
    ['规定', 'employe', 'get', '15', 'day']
    """
    import rjieba  # noqa: PLC0415 (heavy, loaded on use)
    import Stemmer  # noqa: PLC0415 (heavy, loaded on use)

    stem = Stemmer.Stemmer("english").stemWord
    cut: Callable[[str], list[str]] = list if language == "en" else rjieba.cut_for_search

    def terms(text: str) -> list[str]:
        found: list[str] = []
        for match in _WORD.finditer(unicodedata.normalize("NFKC", text).lower()):
            word = match[0]
            if match["han"]:
                found.extend(cut(word))
            elif match["number"] or language == "zh":
                found.append(word)
            elif word not in _STOP_WORDS:
                found.append(stem(word))
        return found

    return terms
