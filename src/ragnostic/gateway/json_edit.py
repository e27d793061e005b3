"""One string of a JSON text read or replaced, every other byte left as it is."""

from __future__ import annotations

import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]  # public, but not in typeshed
from typing import NamedTuple

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


class Place(NamedTuple):
    """Where a string stands in a text (quotes included), and what it says."""

    start: int
    end: int
    value: str


def find_string(text: str, path: str) -> Place | None:
    """The string at a dotted path; a number is a place in an array, from the end where negative.

    None where there is no string, or where the text is no JSON. Of keys given twice the last
    counts, as in every reader.

    >>> find_string('{"messages": [{"content": "a"}, {"content": "b"}]}', "messages.-1.content")
    Place(start=44, end=47, value='b')
    """
    try:
        _DECODER.decode(text)
        start = _skip(text, 0)
        for step in path.split("."):
            if text[start] == "{":
                start = _member(text, start, step)
            elif text[start] == "[":
                start = _element(text, start, int(step))
            else:
                return None
        if text[start] != '"':
            return None
        value, end = scanstring(text, start + 1)
    except (ValueError, LookupError, RecursionError):
        return None
    return Place(start, end, value)


def replace_string(body: bytes, path: str, value: str) -> bytes | None:
    """The body with the string at ``path`` replaced; None where it has none there.

    >>> replace_string(b'{"q" : "a?", "n": 1.0}', "q", "a")
    b'{"q" : "a", "n": 1.0}'
    """
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return None
    place = find_string(text, path)
    if place is None:
        return None
    written = json.dumps(value, ensure_ascii=text.isascii())
    return (text[: place.start] + written + text[place.end :]).encode("utf-8", "surrogatepass")


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _member(text: str, start: int, key: str) -> int:
    """Where the value of a key begins; the text is known to be JSON."""
    found = None
    at = _skip(text, start + 1)
    while text[at] != "}":
        name, at = scanstring(text, at + 1)
        at = _skip(text, _skip(text, at) + 1)
        if name == key:
            found = at
        at = _skip(text, _DECODER.raw_decode(text, at)[1])
        at = _skip(text, at + 1) if text[at] == "," else at
    if found is None:
        raise LookupError(key)
    return found


def _element(text: str, start: int, index: int) -> int:
    places: list[int] = []
    at = _skip(text, start + 1)
    while text[at] != "]":
        places.append(at)
        at = _skip(text, _DECODER.raw_decode(text, at)[1])
        at = _skip(text, at + 1) if text[at] == "," else at
    return places[index]
