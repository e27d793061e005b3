"""Markdown that keeps to a number of bytes: rows that do not fit are counted, never just gone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from gettext import NullTranslations

_FOR_NOTES = 120
"""Bytes a section that are kept free for saying what was cut, and for the space around it."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page: the ``head`` stands or falls with it, ``rows`` are cut from the end.

    ``total`` is how many rows there are where those at hand are not all.
    """

    head: Sequence[str]
    rows: Sequence[str] = ()
    total: int = 0


def fitted(sections: Iterable[Section], limit: int, words: NullTranslations) -> str:
    """The sections with an empty line between them, at most ``limit`` bytes of UTF-8.

    >>> from ragnostic.report.catalogue import catalogue
    >>> text = fitted([Section(["# a", ""], ["- b", "- c"], total=9)], 1000, catalogue("en"))
    >>> text.splitlines()
    ['# a', '', '- b', '- c', '', '… and 7 more']
    """
    blocks: list[str] = []
    free = limit - _FOR_NOTES
    for section in sections:
        free -= _size(section.head) + _FOR_NOTES
        if free < 0:
            blocks.append(words.gettext("The rest does not fit into this summary."))
            break
        kept: list[str] = []
        for row in section.rows:
            if _size([row]) > free:
                break
            kept.append(row)
            free -= _size([row])
        block = "\n".join([*section.head, *kept])
        left = max(section.total, len(section.rows)) - len(kept)
        if left:
            block += "\n\n" + words.gettext("… and %(count)s more") % {"count": left}
        blocks.append(block)
    return _cut("\n\n".join(blocks) + "\n", limit)


def _size(lines: Iterable[str]) -> int:
    return sum(len(line.encode("utf-8", "surrogatepass")) + 1 for line in lines)


def _cut(text: str, limit: int) -> str:
    """At most ``limit`` bytes: the last resort for a limit that holds not even a headline."""
    encoded = text.encode("utf-8", "replace")
    return text if len(encoded) <= limit else encoded[:limit].decode("utf-8", "ignore")
