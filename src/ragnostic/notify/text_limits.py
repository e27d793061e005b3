"""Texts no longer than a channel takes: cut or split between whole characters, and saying so.

A limit is in the unit of the channel: bytes of UTF-8, bytes inside JSON, or UTF-16 units. A cut is
never inside what a person sees as one character: not between the bytes of one code point, not
before a combining mark, not inside an emoji joined of several.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Piece = TypeVar("Piece")
Size = Callable[[str], int]
"""Length of a text in the unit of a limit; of joined texts it is the sum of theirs."""

_JOINER = "\u200d"
_MARKS = frozenset({"Mn", "Me", "Mc"})
_LONGEST_CLUSTER = 32
"""Code points; longer ones are marks piled up to do harm, and may be cut."""


def utf8_bytes(text: str) -> int:
    """Bytes of UTF-8.

    >>> utf8_bytes("指标 a")
    8
    """
    return len(text.encode("utf-8", "surrogatepass"))


def json_bytes(text: str) -> int:
    r"""Bytes of UTF-8 inside a JSON string that keeps what is not ASCII.

    >>> json_bytes('a"\n')
    5
    """
    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass")) - 2


def utf16_units(text: str) -> int:
    """Characters as JavaScript counts them: an emoji is 2.

    >>> utf16_units("a指🙂")
    4
    """
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def clusters(text: str) -> Iterator[str]:
    r"""The characters as a person counts them, in order; together they are the text.

    >>> list(clusters("e\u0301👩\u200d💻🇨🇳🇫🇷中"))
    ['é', '👩\u200d💻', '🇨🇳', '🇫🇷', '中']
    """
    start = 0
    for place in range(1, len(text) + 1):
        whole = place == len(text) or place - start >= _LONGEST_CLUSTER
        if whole or not _joined(text, start, place):
            yield text[start:place]
            start = place


def _joined(text: str, start: int, place: int) -> bool:
    """Whether the character at ``place`` goes on with the cluster begun at ``start``."""
    before, here = text[place - 1], text[place]
    if _JOINER in (before, here) or (before, here) == ("\r", "\n"):
        return True
    code = ord(here)
    if 0x1F1E6 <= code <= 0x1F1FF and 0x1F1E6 <= ord(before) <= 0x1F1FF:
        return (place - start) % 2 == 1
    skin_or_tag = 0x1F3FB <= code <= 0x1F3FF or 0xE0020 <= code <= 0xE007F
    return skin_or_tag or unicodedata.category(here) in _MARKS


def cut(text: str, limit: int, *, note: str = "…", size: Size = utf8_bytes) -> str:
    """``text``, or its beginning with ``note`` behind it where it is longer than ``limit``.

    >>> cut("指标下降", 12), cut("指标下降", 11)
    ('指标下降', '指标…')
    """
    if size(text) <= limit:
        return text
    return _prefix(text, limit - size(note), size) + note


def _prefix(text: str, room: int, size: Size) -> str:
    """The longest beginning of whole characters that is no larger than ``room``."""
    end = 0
    for cluster in clusters(text):
        room -= size(cluster)
        if room < 0:
            break
        end += len(cluster)
    return text[:end]


def split(text: str, limit: int, *, size: Size = utf8_bytes) -> list[str]:
    r"""``text`` in pieces of at most ``limit``: at line ends, else between whole characters.

    >>> split("one\ntwo\nthree", 7), split("指标下降", 6)
    (['one\ntwo', 'three'], ['指标', '下降'])
    """
    lines = [piece for line in text.split("\n") for piece in _line(line, limit, size)]
    return ["\n".join(piece) for piece in packed(lines, limit, size, gap=size("\n"))]


def _line(line: str, limit: int, size: Size) -> list[str]:
    pieces = []
    while size(line) > limit:
        # A limit below one character still has to move on: then it is that character.
        piece = _prefix(line, limit, size) or next(clusters(line))
        pieces.append(piece)
        line = line[len(piece) :]
    return [*pieces, line] if line or not pieces else pieces


def packed(
    pieces: Sequence[Piece], limit: int, size: Callable[[Piece], int], *, gap: int = 0
) -> list[list[Piece]]:
    """Neighbours together as long as they, and a gap between each two, are within ``limit``.

    A piece that is larger than ``limit`` is alone. Order is kept.

    >>> packed([2, 3, 4, 9], 6, int)
    [[2, 3], [4], [9]]
    """
    found: list[list[Piece]] = []
    used = 0
    for piece in pieces:
        length = size(piece)
        if found and used + gap + length <= limit:
            found[-1].append(piece)
            used += gap + length
        else:
            found.append([piece])
            used = length
    return found


def numbered(title: str, count: int) -> list[str]:
    """``title`` for each of so many messages, with its number where there are several.

    >>> numbered("down", 1), numbered("down", 2)
    (['down'], ['(1/2) down', '(2/2) down'])
    """
    if count == 1:
        return [title]
    return [f"({place}/{count}) {title}" for place in range(1, count + 1)]


def parts(
    blocks: Sequence[str],
    limit: int,
    *,
    between: str = "\n\n",
    label: str = "",
    size: Size = utf8_bytes,
) -> list[str]:
    r"""Blocks in as few messages as they need, numbered ``(1/3)`` where that is more than one.

    A block stays whole where it fits into a message of its own. ``label`` stands before a number.

    >>> parts(["one", "two"], 24), parts(["first", "second", "third ones"], 24)
    (['one\n\ntwo'], ['(1/2)\n\nfirst\n\nsecond', '(2/2)\n\nthird ones'])
    """
    whole = between.join(blocks)
    if size(whole) <= limit:
        return [whole]
    room = limit - size(f"{label}(999/999){between}")
    pieces = [piece for block in blocks for piece in split(block, room, size=size)]
    messages = packed(pieces, room, size, gap=size(between))
    return [
        between.join((f"{label}({place}/{len(messages)})", *message))
        for place, message in enumerate(messages, 1)
    ]
