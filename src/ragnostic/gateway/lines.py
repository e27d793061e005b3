"""Lines of a log file with their places, in little memory, from where it was left off."""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ragnostic.corpus.encoding import Fallback, announce, guess, wide_encoding
from ragnostic.corpus.files import unpacked_blocks
from ragnostic.errors import DataError, Fault

MAX_LINE = 4 * 2**20
"""Bytes of the longest line that is read; parsing one takes many times as much memory."""

_KEPT = 4096
_PARQUET_MAGIC = b"PAR1"
_CUT = "what stands before is in the store; ingest the whole file again when it is there"


class Line(NamedTuple):
    """A line without its end: number from 1, offset from 0, in the unpacked bytes of the file.

    ``size`` is its length in bytes; of one longer than allowed ``raw`` holds the beginning only.
    ``is_ended`` tells a whole line from one that may still be written.
    """

    number: int
    offset: int
    raw: bytes
    size: int
    is_ended: bool


class Place(NamedTuple):
    """How far a file was read: bytes, lines, and the SHA-256 of those bytes, which says later
    whether it is the same file.
    """

    offset: int = 0
    line: int = 0
    sha256: str = ""

    @classmethod
    def of(cls, kept: Mapping[str, Any] | None) -> Place:
        """From what was kept, or the beginning."""
        return cls(kept["offset"], kept["line"], kept["sha256"]) if kept else cls()


class LineReader:
    """Reads one file. gzip is told by its first bytes; UTF-16 and UTF-32 with their mark become
    UTF-8, and are announced in ``faults`` as GB18030 is (see :meth:`text`).
    """

    def __init__(self, path: Path, faults: list[Fault], max_line: int = MAX_LINE) -> None:
        self._path = path
        self._faults = faults
        self._max_line = max_line
        self._digest = hashlib.sha256()
        self._encoding: Fallback | None = None
        self.place = Place()
        """Behind the last whole line that was given out."""
        self.start = Place()
        """Where :meth:`lines` began."""

    def fingerprint(self) -> str:
        """SHA-256 of the first line, at most 64 KiB: a log that grows or is renamed keeps it."""
        head = b""
        for block in _narrow_blocks(self._path, []):
            head += block
            if b"\n" in head or len(head) >= 2**16:
                break
        return hashlib.sha256(head.partition(b"\n")[0][: 2**16]).hexdigest()

    def lines(self, after: Place | None = None) -> Iterator[Line]:
        """The lines behind ``after``, if the file still begins with the bytes it stands for;
        all lines otherwise. Raises DataError for what is no readable text file.
        """
        after = after or Place()
        blocks = _narrow_blocks(self._path, self._faults)
        rest = self._skipped(blocks, after)
        if rest is None:
            self._digest = hashlib.sha256()
            after, rest = Place(), b""
            blocks = _narrow_blocks(self._path, [])
        self.place = self.start = after
        yield from self._split(rest, blocks)

    def text(self, line: Line) -> str:
        """The line decoded; raises UnicodeDecodeError.

        The file is GB18030 if the first lines that are not ASCII are valid in it, and most of
        their characters are not in UTF-8.
        """
        return line.raw.decode(self._encoding or "utf-8").removesuffix("\r")

    def _skipped(self, blocks: Iterator[bytes], after: Place) -> bytes | None:
        """What follows the place in the block that holds it; None where this is another file."""
        left = after.offset
        while left:
            block = next(blocks, b"")
            if not block:
                return None
            self._digest.update(block[:left])
            if len(block) > left:
                same = self._digest.hexdigest() == after.sha256
                return block[left:] if same else None
            left -= len(block)
        return b"" if not after.offset or self._digest.hexdigest() == after.sha256 else None

    def _split(self, rest: bytes, blocks: Iterator[bytes]) -> Iterator[Line]:
        pending, size = b"", 0
        number, offset = self.place.line, self.place.offset
        for block in _chain(rest, blocks):
            self._tell_encoding(block)
            parts = block.split(b"\n")
            for index, part in enumerate(parts):
                size += len(part)
                pending = self._grown(pending, part, size)
                if index == len(parts) - 1:
                    self._digest.update(part)
                    break
                self._digest.update(part + b"\n")
                number += 1
                line = Line(number, offset, pending, size, is_ended=True)
                offset += size + 1
                pending, size = b"", 0
                self.place = Place(offset, number, self._digest.hexdigest())
                yield line
        if size:
            yield Line(number + 1, offset, pending, size, is_ended=False)

    def _grown(self, pending: bytes, part: bytes, size: int) -> bytes:
        """What is kept of a line; only its beginning once it is too long."""
        if size <= self._max_line:
            return pending + part if pending else part
        return (pending[:_KEPT] + part[:_KEPT])[:_KEPT]

    def _tell_encoding(self, block: bytes) -> None:
        if self._encoding is not None or block.isascii():
            return
        self._encoding = "utf-8"
        whole = block[: block.rfind(b"\n") + 1] or block
        if guess(whole) == "gb18030":
            try:
                whole.decode("gb18030")
            except UnicodeDecodeError:
                return
            self._encoding = "gb18030"
            announce("gb18030", self._path.name, self._faults)


def _chain(rest: bytes, blocks: Iterator[bytes]) -> Iterator[bytes]:
    if rest:
        yield rest
    yield from blocks


def _narrow_blocks(path: Path, faults: list[Fault]) -> Iterator[bytes]:
    """The file's blocks without its mark, UTF-16 and UTF-32 turned into UTF-8."""
    blocks = unpacked_blocks(path, cut_hint=_CUT)
    head = next(blocks, b"")
    if head.startswith(_PARQUET_MAGIC):
        raise DataError(f"{path} is a Parquet file", hint="a log is text: one JSON object a line")
    encoding = wide_encoding(head)
    if encoding is None:
        yield head.removeprefix(codecs.BOM_UTF8)
        yield from blocks
        return
    announce(encoding, path.name, faults)
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    yield decoder.decode(head).encode("utf-8", "replace")
    for block in blocks:
        yield decoder.decode(block).encode("utf-8", "replace")
    yield decoder.decode(b"", final=True).encode("utf-8", "replace")
