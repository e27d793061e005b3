"""Every key of a TOML document has its line."""

from __future__ import annotations

import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ragnostic.config.toml_lines import KeyPath, index_lines

_KEYS = st.one_of(
    st.from_regex(r"[A-Za-z0-9_-]{1,6}", fullmatch=True),
    st.text(st.sampled_from("a.#[]='é\"\\ "), max_size=5),
)
_TEXTS = st.text(st.sampled_from("ab'\"#[]{}=,\\\n 中"), max_size=12)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _key(text: str) -> str:
    bare = text.isascii() and text and all(mark.isalnum() or mark in "_-" for mark in text)
    return text if bare else _quoted(text)


class _Writer:
    """Writes TOML with odd but valid layout and notes where each key went."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.text = ""
        self.lines: dict[KeyPath, int] = {}

    def note(self, path: KeyPath) -> None:
        self.lines[path] = self.text.count("\n") + 1

    def filler(self) -> str:
        return self.draw(st.sampled_from(["", " ", "\t", "  "]))

    def blank(self) -> str:
        return self.draw(st.sampled_from(["", "\n", ' # [x] = "\n', "\r\n", "#'''\n\n"]))

    def string(self, value: str) -> str:
        styles = [_quoted(value), f'"""\n{_quoted(value)[1:-1]}"""']
        if "'" not in value:
            styles.append(f"'''{value}'''")
            if "\n" not in value:
                styles.append(f"'{value}'")
        if value and '"' not in value and "\\" not in value:
            styles.append(f'"""{value}""""')
        return self.draw(st.sampled_from(styles))

    def value(self, path: KeyPath, depth: int) -> None:
        kind = self.draw(st.sampled_from(["text", "number", "list", "inline"][: 4 if depth else 2]))
        if kind == "text":
            self.text += self.string(self.draw(_TEXTS))
        elif kind == "number":
            self.text += self.draw(st.sampled_from(["1", "-0.5e3", "true", "2024-01-05"]))
        elif kind == "list":
            self.text += "["
            for index in range(self.draw(st.integers(0, 3))):
                self.text += self.blank()
                self.note((*path, index))
                self.value((*path, index), depth - 1)
                self.text += self.blank() + ","
            self.text += self.blank() + "]"
        else:
            self.text += "{"
            for index, key in enumerate(self.draw(st.lists(_KEYS, max_size=2, unique=True))):
                self.text += ", " * bool(index)
                self.pair((*path, key), key, depth - 1)
            self.text += "}"

    def pair(self, path: KeyPath, key: str, depth: int) -> None:
        self.note(path)
        self.text += f"{_key(key)}{self.filler()}={self.filler()}"
        self.value(path, depth)

    def pairs(self, prefix: KeyPath) -> None:
        for key in self.draw(st.lists(_KEYS, max_size=3, unique=True)):
            self.text += self.blank() + self.filler()
            self.pair((*prefix, key), key, 2)
            self.text += self.filler() + "\n"


@st.composite
def _documents(draw: st.DrawFn) -> tuple[str, dict[KeyPath, int]]:
    writer = _Writer(draw)
    writer.pairs(())
    taken = {path[0] for path in writer.lines}
    for name in draw(st.lists(_KEYS.filter(lambda key: key not in taken), max_size=3, unique=True)):
        writer.text += writer.blank()
        if draw(st.booleans()):
            for index in range(draw(st.integers(1, 2))):
                writer.note((name, index))
                writer.text += f"[[ {_key(name)} ]] # x\n"
                writer.pairs((name, index))
        else:
            writer.note((name,))
            writer.text += f"[{writer.filler()}{_key(name)}]\n"
            writer.pairs((name,))
    return writer.text, writer.lines


def _paths(value: Any, path: KeyPath = ()) -> set[KeyPath]:
    members: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        members = list(value.items())
    elif isinstance(value, list):
        members = list(enumerate(value))
    found = {path} if path else set()
    for key, inner in members:
        found |= _paths(inner, (*path, key))
    return found


@given(_documents())
def test_every_key_is_found_at_the_line_on_which_it_was_written(
    document: tuple[str, dict[KeyPath, int]],
):
    """Against a writer that knows where it put each key; nothing is found that is not there."""
    text, written = document
    found = index_lines(text)
    assert written.items() <= found.items()
    assert found.keys() == _paths(tomllib.loads(text))


def test_dotted_keys_and_nested_arrays_of_tables_have_their_own_paths():
    """A table of a table of an array belongs to the array's last element."""
    text = "a.b.c = 1\n[[d]]\n[[d]]\ne.f = 2\n[[d.g]]\nh = 3\n[d.i]\nj = 4\n"
    found = index_lines(text)
    assert found[("a",)] == found[("a", "b")] == found[("a", "b", "c")] == 1
    assert found[("d",)] == 2
    assert found[("d", 1, "e", "f")] == 4
    assert found[("d", 1, "g", 0, "h")] == 6
    assert found[("d", 1, "i", "j")] == 8


def test_a_table_written_after_its_child_has_its_own_line():
    """The header counts, not the first mention."""
    assert index_lines("[a.b]\nx = 1\n[a]\ny = 2\n")[("a",)] == 3
