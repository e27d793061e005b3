"""JSON Lines into rows for the intake: a line that is none stands there as unreadable."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ragnostic.corpus.strict_json import RowError, parse_object
from ragnostic.gateway.balance import Unreadable, Where
from ragnostic.gateway.lines import MAX_LINE, Line, LineReader, Place

MAX_CONTAINERS = 100_000
"""Lists and objects of a line; each takes many times the memory of its two marks."""

_BLOCK_LINES = 1000
_BLOCK_BYTES = 2 * 2**20


class Block(NamedTuple):
    """Some lines read and parsed, where the first begins, and the place behind the last."""

    rows: list[tuple[dict[str, Any] | Unreadable, Where, bytes]]
    offset: int
    behind: Place


def read_blocks(path: Path, reader: LineReader, after: Place | None = None) -> Iterator[Block]:
    """The objects of a file in blocks that need little memory. Blank lines are nothing.

    A row comes with its place and its bytes (the beginning of them, if it is too long).
    """
    rows: list[tuple[dict[str, Any] | Unreadable, Where, bytes]] = []
    held, count, start = 0, 0, (after or Place()).offset
    for line in reader.lines(after):
        if not count:
            start = line.offset
        count += 1
        held += len(line.raw)
        if line.raw.strip():
            where = Where(str(path), line.number, line.offset)
            rows.append((parse_line(reader, line), where, line.raw))
        if count >= _BLOCK_LINES or held >= _BLOCK_BYTES:
            yield Block(rows, start, reader.place)
            rows, held, count = [], 0, 0
    if count:
        yield Block(rows, start, reader.place)


def parse_line(reader: LineReader, line: Line) -> dict[str, Any] | Unreadable:
    """The object in a line, or why there is none."""
    if line.size > MAX_LINE:
        reason = f"a line of {line.size:,} bytes, more than {MAX_LINE:,}"
        return Unreadable(reason, line.raw)
    if line.size > MAX_CONTAINERS and line.raw.count(b"[") + line.raw.count(b"{") > MAX_CONTAINERS:
        return Unreadable(f"more than {MAX_CONTAINERS:,} lists and objects", line.raw)
    try:
        return parse_object(reader.text(line))
    except UnicodeDecodeError as error:
        reason = f"not valid {error.encoding.upper()} (byte {error.start} of the line)"
        return Unreadable(reason, line.raw)
    except RowError as error:
        return Unreadable(str(error), line.raw)
