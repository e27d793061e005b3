"""Line numbers of the keys of a TOML document.

``tomllib`` gives values without places, and an error for a person needs a place. This scanner
reads a document that ``tomllib`` has already accepted, so it may be lenient.
"""

from __future__ import annotations

import tomllib
from bisect import bisect_right
from itertools import accumulate

KeyPath = tuple[str | int, ...]

_QUOTES = ('"""', "'''", '"', "'")
_BARE_END = frozenset(" \t.=]")
_SCALAR_END = frozenset(",]}#\n")


def index_lines(text: str) -> dict[KeyPath, int]:
    r"""Key path → line (from 1) of every table, key and array element of valid TOML.

    Elements of arrays, and tables of arrays of tables, are counted from 0.

    >>> index_lines('[a]\nb = 1\n[[c.d]]\ne = ["x",\n "y"]')[("c", "d", 0, "e", 1)]
    5
    """
    scanner = _Scanner(text.replace("\r\n", "\n"))
    scanner.document()
    return scanner.lines


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[KeyPath, int] = {}
        self.table_counts: dict[KeyPath, int] = {}
        self.starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]

    def document(self) -> None:
        prefix: KeyPath = ()
        self.skip_blank()
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                prefix = self.header()
            else:
                self.pair(prefix)
            self.skip_blank()

    def header(self) -> KeyPath:
        place = self.at
        is_array = self.text.startswith("[[", self.at)
        self.at += 2 if is_array else 1
        keys = self.key()
        self.at += 2 if is_array else 1
        path: KeyPath = ()
        for depth, key in enumerate(keys, 1):
            path = (*path, key)
            if is_array and depth == len(keys):
                self.note(path, place)
                self.table_counts[path] = self.table_counts.get(path, -1) + 1
            if path in self.table_counts:
                path = (*path, self.table_counts[path])
            self.note(path, place)
        self.lines[path] = self.line(place)
        return path

    def pair(self, prefix: KeyPath) -> None:
        place = self.at
        path = prefix
        for key in self.key():
            path = (*path, key)
            self.note(path, place)
        self.at = self.text.index("=", self.at) + 1
        self.skip_spaces()
        self.value(path)

    def key(self) -> list[str]:
        parts: list[str] = []
        while True:
            self.skip_spaces()
            if self.text[self.at] in "\"'":
                start = self.at
                self.string()
                parts.append(tomllib.loads(f"x = {self.text[start : self.at]}")["x"])
            else:
                start = self.at
                while self.text[self.at] not in _BARE_END:
                    self.at += 1
                parts.append(self.text[start : self.at])
            self.skip_spaces()
            if self.text[self.at] != ".":
                return parts
            self.at += 1

    def value(self, path: KeyPath) -> None:
        mark = self.text[self.at]
        if mark in "\"'":
            self.string()
        elif mark == "[":
            self.array(path)
        elif mark == "{":
            self.inline_table(path)
        else:
            while self.at < len(self.text) and self.text[self.at] not in _SCALAR_END:
                self.at += 1

    def array(self, path: KeyPath) -> None:
        self.at += 1
        index = 0
        while self.next_in("]"):
            element = (*path, index)
            self.note(element, self.at)
            self.value(element)
            index += 1

    def inline_table(self, path: KeyPath) -> None:
        self.at += 1
        while self.next_in("}"):
            self.pair(path)

    def next_in(self, end: str) -> bool:
        """Whether another member follows; the end mark is consumed."""
        self.skip_blank(also=",")
        if self.text[self.at] != end:
            return True
        self.at += 1
        return False

    def string(self) -> None:
        quote = next(mark for mark in _QUOTES if self.text.startswith(mark, self.at))
        self.at += len(quote)
        while not self.text.startswith(quote, self.at):
            escaped = quote[0] == '"' and self.text[self.at] == "\\"
            self.at += 2 if escaped else 1
        self.at += len(quote)
        if len(quote) == 3:  # a multi-line string may end in up to two quotes of its own
            while self.text.startswith(quote[0], self.at):
                self.at += 1

    def skip_spaces(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1

    def skip_blank(self, also: str = "") -> None:
        while self.at < len(self.text):
            if self.text[self.at] == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            elif self.text[self.at] in " \t\n" or self.text[self.at] in also:
                self.at += 1
            else:
                return

    def note(self, path: KeyPath, place: int) -> None:
        self.lines.setdefault(path, self.line(place))

    def line(self, place: int) -> int:
        return bisect_right(self.starts, place)
