"""Text in the form in which answers and chunks are compared (METRICS 12, ``answer_span``).

The plain form: citation marks and Markdown off, NFKC, case folded, numbers and dates by value,
one mark for every pause, quotes and brackets off. Each Latin word and each number stands between
single spaces, all else without: ``保修期为 24 个月,``. So a piece of plain text that begins and
ends with whole words is found by a search for its characters, and 5 is not found in 15.

Many texts are done at once, as one long string, because a step costs the same for one text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ragnostic.judges.values import SEALED, by_value
from ragnostic.text import CJK

Fold = Literal["none", "hans"]

PAUSE = ","
_BETWEEN = "\x00"  # stands between texts that are done together; no pattern steps over it
_SEPARATOR = f"\n{_BETWEEN}\n"
_TOGETHER = 1 << 16  # characters; one rare character makes the slow path take this many

_LABEL = r"(?:citation|cite|source|ref|doc(?:ument)?|来源|來源|出处|引用|参考|资料|文档|注)"
_NUMBERS = r"\d{1,3}(?:\s*[,，、;；~–-]\s*\^?\d{1,3})*"
# Each pattern begins with plain characters and looks back over them, which keeps the search fast.
_CITATION = re.compile(
    r"[\[［【〔(（<^⁰¹²³⁴-⁹](?:"
    rf"(?<=[\[［【〔])\[?\s*\^?(?:{_LABEL}\s*[:：_#-]?\s*)?{_NUMBERS}(?:[†:][^\]】\n]{{0,40}})?\s*"
    r"[\]］】〕]\]?(?:\((?:https?:|[/#])[^()\s]*\))?"
    rf"|(?<=[\[［【〔(（])\s*{_LABEL}\s*[:：][^\[\]［］【】()（）\n]{{1,60}}[\]］】〕)）]"
    r"|(?<=<)sup>[^<>\n]{0,12}</sup>"
    r"|(?<=\^)(?<!\d\^)\[?\d{1,3}\]?\^?(?!\d)"
    r"|(?<=[⁰¹²³⁴-⁹])(?<![ckd]m.)(?<![\s\d]m.)(?<!\Am.)[⁰¹²³⁴-⁹]*"
    r")",
    re.IGNORECASE,
)
_BLOCK_TAG = re.compile(
    r"<(?:br|/?(?:p|div|li|ul|ol|tr|td|th|h[1-6]))\b[^<>\n]{0,80}>", re.IGNORECASE
)
_MARKUP = (
    (re.compile(r"!?\[([^\[\]\n]*)\]\((?:[^()\n]|\([^()\n]*\))*\)"), r"\1"),  # links and images
    (_BLOCK_TAG, "\n"),
    (re.compile(r"</?[a-zA-Z][^<>\n]{0,80}>"), ""),
    (re.compile(r"(?m)^[ \t]*(?:```|~~~).*$|^[ \t]*\|?(?:[ \t]*:?-{2,}:?[ \t]*\|)+.*$"), ""),
    (
        re.compile(
            r"(?m)^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?|[-*+•][ \t]+"
            r"|\d{1,2}(?:[.)][ \t]+|、)|[(（]\d{1,2}[)）][ \t]*"
            r"|[一二三四五六七八九十]{1,3}、|[(（][一二三四五六七八九十]{1,3}[)）][ \t]*)+"
        ),
        "",
    ),
    (re.compile(r"\\(?=[^\w\s])"), ""),
    (re.compile(r"\*(?:\*+|(?!\d)|(?<!\d\*))"), ""),
    (re.compile(r"_(?:_+|(?![^\W_])|(?<![^\W_]_))"), ""),
    (re.compile(r"`+"), ""),
    (re.compile(r"~~"), ""),
)

_SINGLE_QUOTE = re.compile(r"(?<![^\W\d_])'|'(?![^\W\d_])")  # not the apostrophe inside a word
_PAUSES = ",.;:!?、。｡…"
_KEPT = "%‰&@#/"
_OTHER, _LETTER, _DIGIT, _BREAK, _STOP = range(5)
_LIKE_LETTERS = "'"
_CJK_LETTER = re.compile(f"[{CJK}]")


def undressed(texts: Sequence[str]) -> list[str]:
    """Texts without citation marks and Markdown; words, case and punctuation stay.

    >>> undressed(
    ...     [
    ...         "**保修期**为24个月[1][2]，自签收之日起计算【3】。",
    ...         "## See the [plan](http://a.b/c)^1",
    ...     ]
    ... )
    ['保修期为24个月，自签收之日起计算。', 'See the plan']
    """
    return [text for block in _blocks(texts) for text in _split(_without_marks(block))]


def plain(texts: Sequence[str], fold: Fold = "none", *, dressed: bool = True) -> list[str]:
    """Texts in plain form; ``fold="hans"`` also makes traditional characters simplified ones.
    Texts that are not ``dressed`` have no citation marks and Markdown any more, which saves time.

    >>> plain(["根据规定，退货期限为５天。", "See the *iPhone15* plan: US$1,000!", "。……"])
    ['根据规定,退货期限为 5 天,', ' see the iphone 15 plan , us 1000 美元,', ',']
    >>> plain(["營收增長來自雲服務業務"], fold="hans")
    ['营收增长来自云服务业务']
    """
    found: list[str] = []
    for block in _blocks(texts):
        folded = _normalised(_without_marks(block) if dressed else block, fold)
        found += _split(_spaced(by_value(folded)))
    return found


def _blocks(texts: Sequence[str]) -> Iterator[str]:
    """The texts joined, some ten thousand characters at a time."""
    waiting: list[str] = []
    size = 0
    for text in texts:
        waiting.append(text.replace(_BETWEEN, " ") if _BETWEEN in text else text)
        size += len(text)
        if size >= _TOGETHER:
            yield _SEPARATOR.join(waiting)
            waiting, size = [], 0
    if waiting:
        yield _SEPARATOR.join(waiting)


def _split(block: str) -> Iterator[str]:
    return (text.strip("\n") for text in block.split(_BETWEEN))


def _without_marks(block: str) -> str:
    block = _CITATION.sub("", block)
    for pattern, replacement in _MARKUP:
        block = pattern.sub(replacement, block)
    return block


def _normalised(block: str, fold: Fold) -> str:
    """NFKC and case folded; most characters by a table, the few that need more by the library."""
    if fold == "hans":
        block = _to_simplified().convert(block)
    codes = _codes(block)
    forms, is_rare = _simple_forms()
    rare = np.unique(codes[is_rare[codes]])
    folded = _text(forms[codes])
    if any(unicodedata.combining(chr(code)) for code in rare):
        folded = unicodedata.normalize("NFKC", folded)
    else:
        for letter in map(chr, rare):
            folded = folded.replace(letter, unicodedata.normalize("NFKC", letter))
    return _SINGLE_QUOTE.sub(" ", folded.casefold())


@cache
def _to_simplified() -> Any:
    import opencc  # noqa: PLC0415 - heavy, loaded on use

    return opencc.OpenCC("t2s")


def _codes(text: str) -> npt.NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "replace"), dtype=np.uint32)


def _text(codes: npt.NDArray[np.uint32]) -> str:
    return codes.astype("<u4", copy=False).tobytes().decode("utf-32-le")


def _table_codes() -> Iterable[int]:
    """The code points that tables are made for: all below the rarer Han, but the surrogates."""
    yield from range(0xD800)
    yield from range(0xE000, 0x20000)


@cache
def _simple_forms() -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.bool_]]:
    """For each code point its folded form, where that is one character; and whether it is not."""
    forms = np.arange(0x110000, dtype=np.uint32)
    is_rare = np.zeros(0x110000, dtype=np.bool_)
    for code in _table_codes():
        letter = chr(code)
        form = unicodedata.normalize("NFKC", letter).casefold()
        if len(form) == 1:
            forms[code] = ord(form)
        is_rare[code] = len(form) > 1 or unicodedata.combining(letter) > 0
    is_rare[0x20000:] = True
    for sealed in SEALED:  # ours; in a text they say nothing
        forms[ord(sealed)] = ord(" ")
    forms[ord("…")] = ord(".")
    is_rare[ord("…")] = False
    for written, form in ("’'", "‘'", "−-"):
        forms[ord(written)] = ord(form)
    return forms, is_rare


@cache
def _classes() -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint8]]:
    """For each code point what is written for it, and its class."""
    written = np.arange(0x110000, dtype=np.uint32)
    classes = np.zeros(0x110000, dtype=np.uint8)
    for code in _table_codes():
        letter = chr(code)
        kind = unicodedata.category(letter)
        if _CJK_LETTER.match(letter):
            continue
        if letter in _LIKE_LETTERS or kind[0] in "LM":
            classes[code] = _LETTER
        elif kind[0] == "N":
            classes[code] = _DIGIT
        elif letter in _PAUSES:
            written[code] = ord(PAUSE)
        elif (kind[0] in "PZC" or kind == "Sc") and letter not in _KEPT:
            classes[code] = _BREAK
    for kept, written_as in SEALED.items():
        written[ord(kept)] = ord(written_as)
        classes[ord(kept)] = _DIGIT
    classes[ord(_BETWEEN)] = _STOP
    return written, classes


def _spaced(block: str) -> str:
    """Pauses made one mark, brackets and quotes off, single spaces around words and numbers."""
    codes = _codes(block)
    written, classes = _classes()
    kinds = classes[codes]
    kept = np.flatnonzero(kinds != _BREAK)
    codes, kinds = written[codes[kept]], kinds[kept]
    pause = codes == ord(PAUSE)
    first = ~pause
    first[1:] |= ~pause[:-1]
    first[:1] = True
    codes, kinds, kept = codes[first], kinds[first], kept[first]
    is_word = (kinds == _LETTER) | (kinds == _DIGIT)
    apart = (np.diff(kept) > 1) | (kinds[1:] != kinds[:-1])
    before = np.concatenate((is_word[:1], apart & (is_word[1:] | is_word[:-1])))
    places = np.arange(len(codes)) + np.cumsum(before)
    size = len(codes) + int(before.sum()) + bool(is_word[-1:].any())
    spaced = np.full(size, ord(" "), dtype=np.uint32)
    spaced[places] = codes
    return _text(spaced)
