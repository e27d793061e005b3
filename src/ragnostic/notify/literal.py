"""Texts of others as nothing but text, for channels whose markup knows no escape.

A query or a category may hold anything. What would be markup, a mention or an address becomes its
full-width likeness: it reads the same, and no client makes more of it.
"""

from __future__ import annotations

import re
from urllib.parse import quote, urlsplit

_LIKENESS = str.maketrans(
    {mark: chr(ord(mark) + 0xFEE0) for mark in "<>[]`*_~|\\!&{}"} | {"#": "＃"}
)
_ADDRESS = re.compile(r"(?<=\w)\.(?=[^\W\d_]{2})|:(?=//)|:(?=[^\s:]+@)")
_MENTION = re.compile(r"@(?!\d{1,4}\b(?!\.\w))")
"""All of them but the cutoff of a metric."""
_LINE_START = re.compile(r"^\s*(?:[-+=]|(\d+)\.(?=\s))")
_JOINERS = "\u200c\u200d"
_URL_BYTES = 1_000
_URL_KEPT = "/:?#@!$&'*+,;=-._~%"


def one_line(text: str) -> str:
    r"""``text`` on one line, with what cannot be seen shown by its code.

    >>> one_line("two\nlines\u202e\x00")
    'two lines⟨U+202E⟩⟨U+0000⟩'
    """
    if text.isascii() and text.isprintable():
        return text.strip()
    shown = "".join(
        mark
        if mark.isprintable() or mark in _JOINERS
        else " "
        if mark.isspace()
        else f"⟨U+{ord(mark):04X}⟩"
        for mark in text
    )
    return " ".join(shown.split())


def unlinked(text: str) -> str:
    """``text`` on one line, without an address or a mention that a client would find in plain
    text.

    >>> unlinked("a *b* <c>, @all: http://evil.example")
    'a *b* <c>, ＠all: http：//evil．example'
    """
    kept = _ADDRESS.sub(lambda match: "．" if match[0] == "." else "：", one_line(text))
    return _MENTION.sub("＠", kept)


def literal(text: str) -> str:
    r"""``text`` on one line, without markup, mention or address in Markdown of any dialect.

    >>> literal("<@all> *now* [free](https://evil.example/x)")
    '＜＠all＞ ＊now＊ ［free］(https：//evil．example/x)'
    >>> literal("MRR@5 fell by 0.1")
    'MRR@5 fell by 0.1'
    """
    return unlinked(text).translate(_LIKENESS)


def whole_line(text: str) -> str:
    """:func:`literal` for a text at the start of a line, where a dash would begin a list.

    >>> whole_line("- 1"), whole_line("1. first"), whole_line("1.5")
    ('－ 1', '1． first', '1.5')
    """
    kept = literal(text)
    start = _LINE_START.match(kept)
    if start is None:
        return kept
    place = start.end() - 1
    return kept[:place] + chr(ord(kept[place]) + 0xFEE0) + kept[place + 1 :]


def link_url(url: str) -> str:
    """An http(s) address that ends no markup early, or nothing where it is none or too long.

    >>> link_url("https://wiki.example/a b?c=(1)|<x>")
    'https://wiki.example/a%20b?c=%281%29%7C%3Cx%3E'
    >>> link_url("javascript:alert(1)"), link_url("https://" + "a" * 2000)
    ('', '')
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    if parts.scheme not in {"http", "https"} or not parts.hostname or "[" in parts.netloc:
        return ""
    kept = quote(url.strip(), safe=_URL_KEPT)
    return kept if len(kept) <= _URL_BYTES else ""
