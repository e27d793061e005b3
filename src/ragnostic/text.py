"""Text without a model: normalise, tell the language, count tokens, find sentences and words.

Written for Chinese and English side by side; no I/O. The word list of Chinese text needs rjieba,
which is loaded on first use.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Any, Literal

Language = Literal["zh", "en"]

HAN = "々〇㐀-䶿一-鿿豈-\ufaff\U00020000-\U0003ffff"
CJK = HAN + "\u3040-\u30ff\u31f0-\u31ff\uac00-\ud7af\uff66-\uff9f"

_HAN = re.compile(f"[{HAN}]")
_LETTER = re.compile(r"[^\W\d_]")
TOKEN = re.compile(rf"[^\W_{CJK}]{{1,4}}|\S")
_WORD = re.compile(rf"[{HAN}]+|[^\W_{HAN}]+")

# Han letters say as much as a whole Latin word, so a small share makes a text Chinese.
_CHINESE_SHARE = 0.1

_CLOSERS = "\"'”’»」』）)】》〉\\]"  # the backslash is for the character class
# The look-behind lets a long run of marks be tried once, not once from each of its marks.
_END = re.compile(
    rf"[。！？｡]+[…—]*[{_CLOSERS}]*"
    rf"|(?<![.!?…])[.!?…]++[{_CLOSERS}]*+(?=\s|$|[{CJK}])"
    r"|\n(?=[^\S\n]*\n)"
    r"|\n(?=[^\S\n]*(?:[-*+•·|>#]|\d+[.)、]|[（(]?[一二三四五六七八九十]+[)）、]|第[^\s]{1,5}[条章节]))"
)
_STOPS = ".!?…"
_LAST_WORD = re.compile(r"(?:^|[\s(（\"'“‘])([^\s(（\"'“‘]+)$")
_ABBREVIATION = re.compile(
    r"mrs?|ms|dr|prof|st|vs|no|figs?|eq|sec|ch|vol|pp?|cf|al|e\.?g|i\.?e|approx|dept|est|u\.[sk]"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|inc|ltd|co|corp|art|ref"
)


def normalise(text: str) -> str:
    r"""Text for comparing: NFKC, case folded, runs of white space made one space, trimmed.

    >>> normalise("  Ｒef １２\n abc ")
    'ref 12 abc'
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(folded.split())


def has_han(text: str) -> bool:
    """Whether the text holds a Chinese character.

    >>> has_han("VPN 设置"), has_han("VPN setup")
    (True, False)
    """
    return _HAN.search(text) is not None


def language(text: str) -> Language:
    """``"zh"`` if at least a tenth of the letters are Han, else ``"en"``.

    >>> language("如何配置 kubernetes ingress?"), language("Ask 华为 about the new phone line")
    ('zh', 'en')
    >>> language("42")
    'en'
    """
    han = len(_HAN.findall(text))
    if not han:
        return "en"
    return "zh" if han >= _CHINESE_SHARE * len(_LETTER.findall(text)) else "en"


def count_tokens(text: str) -> int:
    """Tokens by a fixed rule, without a model: 1 for each CJK character, ⌈length / 4⌉ for each
    run of other letters and digits, 1 for each other mark; white space is free.

    >>> count_tokens("年假5天。"), count_tokens("annual leave, 5 days")
    (5, 7)
    """
    return sum(1 for _ in TOKEN.finditer(text))


def sentence_spans(text: str) -> list[tuple[int, int]]:
    r"""(start, end) of each sentence, in order; only white space lies between them.

    A sentence ends at 。！？ and at . ! ? … before white space (not after an abbreviation, an
    initial or a list number), with the closing quotes and brackets that follow; and at a blank
    line or a line that starts a list entry, table row, heading or article.

    >>> text = 'He said "no". Dr. Li paid 3.5 yuan!\n\n年假几天？“五天。”好。'
    >>> [text[a:b] for a, b in sentence_spans(text)]
    ['He said "no".', 'Dr. Li paid 3.5 yuan!', '年假几天？', '“五天。”', '好。']
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _END.finditer(text):
        if match.group()[0] in _STOPS and not _is_end(text, start, match):
            continue
        _add_trimmed(spans, text, start, match.end())
        start = match.end()
    _add_trimmed(spans, text, start, len(text))
    return spans


def _is_end(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether these Latin marks end the sentence that began at ``start``."""
    marks = match.group().rstrip(_CLOSERS)
    after = text[match.end() : match.end() + 40]
    if after[:1].strip():  # a Chinese character follows at once: "真的吗?是" but not "3.版本"
        return marks[-1:] in "!?"
    if marks[-1:] in "!?":
        return True
    if after.lstrip()[:1].islower():
        return False
    before = text[max(start, match.start() - 40) : match.start()]
    word = _LAST_WORD.search(before)
    if word is None or match.group() != ".":
        return True
    last = word.group(1)
    is_initial = len(last) == 1 and last.isupper() and last.isascii()
    is_list_number = last.isdigit() and len(last) <= 3 and not before[: word.start(1)].strip()
    return not (is_initial or is_list_number or _ABBREVIATION.fullmatch(last.lower()))


def _add_trimmed(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    if left < len(piece):
        spans.append((start + left, start + len(piece.rstrip())))


def words(text: str) -> list[str]:
    """Words in order: normalised Latin words and numbers, Chinese by rjieba's search mode
    (which also gives the short words inside a long one).

    >>> words("Reset my VPN")
    ['reset', 'my', 'vpn']
    """
    found: list[str] = []
    for match in _WORD.finditer(normalise(text)):
        run = match.group()
        if _HAN.match(run):
            found.extend(_segmenter().cut_for_search(run))
        else:
            found.append(run)
    return found


@cache
def _segmenter() -> Any:
    import rjieba  # noqa: PLC0415  heavy, loaded on use

    return rjieba
