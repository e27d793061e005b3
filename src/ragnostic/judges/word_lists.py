"""Words and phrases written in one string, so that long lists stay readable."""

from __future__ import annotations


def listed(words: str) -> list[str]:
    """The words of a string; "_" is a space inside a phrase.

    >>> listed("not does_not 没有")
    ['not', 'does not', '没有']
    """
    return [word.replace("_", " ") for word in words.split()]


def either(words: str) -> str:
    r"""A pattern for any of the words, which may be patterns themselves; it has no group.

    >>> either("no not_yet don'?t")
    "(?:no|not yet|don'?t)"
    """
    return f"(?:{'|'.join(listed(words))})"
