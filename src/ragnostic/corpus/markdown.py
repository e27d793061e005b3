"""Where a Markdown document may be cut: sections with their heading path, blocks kept whole."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ragnostic.corpus.breaks import Span

_LINES = re.compile(r".*\n|.+")
_HEADING = re.compile(r" {0,3}(#{1,6})(?!\S)")
_UNDERLINE = re.compile(r" {0,3}(?:(=+)|-{2,})[ \t]*\r?\n?$")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_TABLE_ROW = re.compile(r"\s*\||.* \| ")
_NOT_A_PARAGRAPH = re.compile(r"\s*(?:$|[-*+>|#]|\d+[.)]\s)")
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(?:.*\n)*?(?:---|\.\.\.)[ \t]*(?:\r?\n|$)")
_FRONT_TITLE = re.compile(r"^title:(.*)$", re.MULTILINE)
_EMPHASIS = re.compile(r"\*\*|__|`")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with what stands under it, up to the next heading of any level.

    ``path`` holds the headings above it and its own. ``has_body`` is false for a heading alone.
    """

    start: int
    end: int
    path: tuple[str, ...]
    has_body: bool


@dataclass(frozen=True, slots=True)
class Outline:
    """Sections in order, covering the text; spans to keep whole (fences, table rows), sorted."""

    sections: tuple[Section, ...]
    kept_whole: tuple[Span, ...]


def title_of(text: str) -> str:
    r"""Title of a Markdown text: ``title:`` of its front matter, else its first heading, else "".

    >>> title_of("Some words.\n\n# Annual *leave*\n"), title_of("---\ntitle: 'Leave'\n---\n# A")
    ('Annual *leave*', 'Leave')
    """
    front = _FRONT_MATTER.match(text)
    named = _FRONT_TITLE.search(front.group()) if front else None
    if named:
        return named.group(1).strip().strip("'\"")
    return next((section.path[-1] for section in outline(text).sections if section.path), "")


def outline(text: str) -> Outline:
    r"""Sections and unbreakable spans of a Markdown text.

    Headings are ATX (``#``) or underlined; inside a code fence nothing is a heading.

    >>> [(s.path, s.has_body) for s in outline("# A\n## B\nbody\n# C\nmore").sections]
    [(('A',), False), (('A', 'B'), True), (('C',), True)]
    """
    return _Reader(text).read()


class _Reader:
    """One pass over the lines of a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.path: list[tuple[int, str]] = []
        self.sections: list[Section] = []
        self.kept_whole: list[Span] = []
        self.section_start = 0
        self.has_body = False

    def read(self) -> Outline:
        fence: tuple[int, str] | None = None
        previous: tuple[int, str] | None = None
        for match in _LINES.finditer(self.text, self._front_matter_end()):
            line, start = match.group(), match.start()
            mark = _FENCE.match(line)
            if fence is not None:
                if mark and _closes(line, mark.group(1), fence[1]):
                    self.kept_whole.append((fence[0], start + len(line.rstrip())))
                    fence = None
            elif mark:
                fence, previous, self.has_body = (start, mark.group(1)), None, True
            else:
                previous = self._plain_line(start, line, previous)
        if fence is not None:
            self.kept_whole.append((fence[0], len(self.text)))
        self._close(len(self.text))
        return Outline(tuple(self.sections), tuple(self.kept_whole))

    def _front_matter_end(self) -> int:
        front = _FRONT_MATTER.match(self.text)
        self.has_body = front is not None
        return front.end() if front else 0

    def _plain_line(
        self, start: int, line: str, previous: tuple[int, str] | None
    ) -> tuple[int, str] | None:
        """Take in a line outside fences; the line that an underline may turn into a heading."""
        heading = _HEADING.match(line)
        if heading:
            words = re.sub(r"\s#+$", "", line[heading.end() :].strip())
            self._open(start, len(heading.group(1)), words)
            return None
        underline = _UNDERLINE.match(line)
        if underline and previous:
            self._open(previous[0], 1 if underline.group(1) else 2, previous[1])
            return None
        if line.strip():
            self.has_body = True
            if _TABLE_ROW.match(line):
                self.kept_whole.append((start, start + len(line.rstrip())))
        return None if _NOT_A_PARAGRAPH.match(line) else (start, line)

    def _open(self, start: int, level: int, heading: str) -> None:
        self._close(start)
        self.path = [entry for entry in self.path if entry[0] < level]
        self.path.append((level, _EMPHASIS.sub("", heading).strip()))

    def _close(self, end: int) -> None:
        if end > self.section_start:
            path = tuple(heading for _, heading in self.path if heading)
            self.sections.append(Section(self.section_start, end, path, self.has_body))
        self.section_start, self.has_body = end, False


def _closes(line: str, mark: str, opening: str) -> bool:
    return mark[0] == opening[0] and len(mark) >= len(opening) and line.strip() == mark
