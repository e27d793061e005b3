"""Text from data, made safe to look at: nothing invisible, nothing that turns the page around."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_KEPT_FORMATS = frozenset("\u200c\u200d\u00ad")
"""Joiners inside words and emoji, and the soft hyphen: harmless, and needed by real texts."""


def visible(text: object, *, newlines: bool = False) -> str:
    r"""``text`` with control characters, bidi overrides and other invisible ones shown.

    C0 controls become their pictures (``␀``), all others ``⟨U+202E⟩``. Line ends and tabs become
    a space, or stay with ``newlines=True``.

    >>> visible("a\x00b\u202ec")
    'a␀b⟨U+202E⟩c'
    >>> visible("two\nlines")
    'two lines'
    """
    kept = str(text)
    if kept.isascii() and kept.isprintable():
        return kept
    return "".join(_shown(character, newlines=newlines) for character in kept)


def _shown(character: str, *, newlines: bool) -> str:
    if character in "\n\t\r":
        kept = "" if character == "\r" else character
        return kept if newlines else " "
    code = ord(character)
    if code < 0x20 or code == 0x7F:
        return chr(0x2421 if code == 0x7F else 0x2400 + code)
    hidden = unicodedata.category(character) in _HIDDEN and character not in _KEPT_FORMATS
    return f"⟨U+{code:04X}⟩" if hidden or code & 0xFFFE == 0xFFFE else character


def excerpt(text: str, limit: int) -> str:
    r"""The first ``limit`` characters on one line, with an ellipsis where something was cut.

    >>> excerpt("alpha  beta\ngamma", 10)
    'alpha beta…'
    """
    folded = " ".join(text[: limit * 4].split())
    if len(folded) <= limit and len(text) <= limit * 4:
        return folded
    return folded[:limit].rstrip() + "…"


def run_on(sentences: Iterable[str]) -> str:
    """Sentences one after the other; behind a full-width stop no blank is due. Empty ones drop.

    >>> run_on(["One.", "", "Two."]), run_on(["一。", "二。"])
    ('One. Two.', '一。二。')
    """
    told = ""
    for sentence in filter(None, sentences):
        blank = "" if not told or told.endswith("。") else " "
        told += blank + sentence
    return told
