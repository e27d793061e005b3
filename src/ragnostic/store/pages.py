"""Rows out of the pages of a SQLite file, also of one that SQLite no longer opens.

Every page image in the file and in its log is read as a leaf of a table; what is no row of ours
fails its checksum, which the caller verifies. Format: https://www.sqlite.org/fileformat2.html
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from ragnostic.store.wal import PAGE, Frame

Value = int | bytes | None
_LOCAL = PAGE - 35
"""Bytes of a row that fit into a leaf; of a longer one at least ``_LEAST`` stand there."""
_LEAST = (PAGE - 12) * 32 // 255 - 23
_HEADER = 40
"""More bytes than the header of a row of ours has."""
_INDEX_LEAF = 10
_WIDTHS = (0, 1, 2, 3, 4, 6, 8)


class PageImages:
    """The pages of a file and the frames of its log."""

    def __init__(self, path: Path, frames: Sequence[Frame]) -> None:
        self._frames = frames
        self._newest = {frame.page: frame.image for frame in frames}
        self._stack = ExitStack()
        self._file = self._stack.enter_context(path.open("rb")) if path.exists() else None
        self._pages = -(-path.stat().st_size // PAGE) if self._file else 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def rows(self) -> Iterator[tuple[int, tuple[Value, ...]]]:
        """(rowid, columns behind the key) of all that looks like a row, of old images too."""
        for page in self._images():
            for at in _cells(page):
                size, start = _varint(page, at)
                rowid, start = _varint(page, start)
                body = self._body(page, start, size) if _may_be_row(page, start) else None
                columns = None if body is None else _columns(body)
                if columns:
                    yield rowid - (1 << 64 if rowid >> 63 else 0), columns[1:]

    def index_rows(self) -> Iterator[tuple[Value, ...]]:
        """The columns of all that looks like a short row of a table WITHOUT ROWID."""
        for page in self._images():
            for at in _cells(page) if page[0] == _INDEX_LEAF else ():
                size, start = _varint(page, at)
                columns = _columns(page[start : start + size])
                if columns:
                    yield columns

    def _images(self) -> Iterator[bytes]:
        yield from (self._stored(number) for number in range(1, self._pages + 1))
        yield from (frame.image for frame in self._frames)

    def _stored(self, number: int) -> bytes:
        if self._file is None:
            return b""
        self._file.seek((number - 1) * PAGE)
        return self._file.read(PAGE).ljust(PAGE, b"\0")

    def _body(self, page: bytes, at: int, size: int) -> bytes | None:
        """A cell's bytes, with those on its chain of overflow pages; None where they end early."""
        if size <= _LOCAL:
            body = page[at : at + size]
            return body if len(body) == size else None
        if size > (self._pages + len(self._frames)) * PAGE:
            return None
        local = _LEAST + (size - _LEAST) % (PAGE - 4)
        local = local if local <= _LOCAL else _LEAST
        parts, missing = [page[at : at + local]], size - local
        following = int.from_bytes(page[at + local : at + local + 4], "big")
        while missing > 0 and following:
            image = self._newest.get(following) or self._stored(following)
            parts.append(image[4 : 4 + min(missing, PAGE - 4)])
            missing -= PAGE - 4
            following = int.from_bytes(image[:4], "big")
        body = b"".join(parts)
        return body if len(body) == size else None


def _cells(page: bytes) -> Iterator[int]:
    """Where the cells of a leaf begin."""
    for cell in range(min(int.from_bytes(page[3:5], "big"), PAGE // 4)):
        yield int.from_bytes(page[8 + 2 * cell : 10 + 2 * cell], "big")


def _may_be_row(page: bytes, at: int) -> bool:
    """Whether a record may begin here: the length of its header is a small number."""
    return at < len(page) and page[at] <= _HEADER


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A whole number of 1 to 9 bytes, and where it ends."""
    value = 0
    for place in range(at, min(at + 8, len(data))):
        value = value << 7 | data[place] & 0x7F
        if data[place] < 0x80:
            return value, place + 1
    last = data[at + 8] if at + 8 < len(data) else 0
    return value << 8 | last, at + 9


def _columns(body: bytes) -> tuple[Value, ...] | None:
    """The values of a record of nulls, whole numbers and blobs; None where it is none."""
    end, at = _varint(body, 0)
    if end > _HEADER:
        return None
    kinds: list[int] = []
    while at < min(end, len(body)):
        kind, at = _varint(body, at)
        kinds.append(kind)
    values: list[Value] = []
    for kind in kinds:
        if kind in {8, 9}:
            values.append(kind - 8)
            continue
        if kind > 9 and kind % 2 == 0:
            width = (kind - 12) // 2
            values.append(body[at : at + width])
        elif kind < len(_WIDTHS):
            width = _WIDTHS[kind]
            values.append(
                int.from_bytes(body[at : at + width], "big", signed=True) if kind else None
            )
        else:
            return None
        at += width
    return tuple(values) if at == len(body) else None
