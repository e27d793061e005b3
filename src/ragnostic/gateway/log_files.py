"""Log files into the intake: which format, from where on, and what became of each row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from ragnostic.corpus.strict_json import RowError
from ragnostic.errors import DataError
from ragnostic.gateway import ubi
from ragnostic.gateway.balance import Unreadable, Where
from ragnostic.gateway.file_result import FINGERPRINT, FileResult, Format
from ragnostic.gateway.identity import content_id, has_identity
from ragnostic.gateway.intake import Intake
from ragnostic.gateway.lines import LineReader, Place
from ragnostic.gateway.log_lines import Block, parse_line, read_blocks
from ragnostic.gateway.mapping import Misses, RecordMap
from ragnostic.gateway.span_files import is_span

_LOOKED_AT = 50
_LIST = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[\s*(?:\{|$)")


class Positions(Protocol):
    """Where files were left off, over the life of a store."""

    def position(self, source: str) -> Mapping[str, Any] | None:
        """What was kept under a name, if anything."""
        ...

    def set_position(self, source: str, position: Mapping[str, Any]) -> None:
        """Keep something under a name."""
        ...


def detect(path: Path) -> Format:
    """The format of a file, by its first lines; raises DataError for what cannot be read."""
    reader = LineReader(path, [])
    for line in islice(reader.lines(), _LOOKED_AT):
        if line.number == 1 and _LIST.match(line.raw):
            raise DataError(
                f"{path}:1: a JSON list; a row a line is needed",
                hint=f"jq -c '.[]' {path.name} > rows.jsonl",
            )
        row = parse_line(reader, line) if line.raw.strip() else Unreadable("")
        if isinstance(row, Unreadable):
            continue
        if ubi.is_ubi(row):
            return "ubi"
        if is_span(row):
            return "openinference"
        return "jsonl"
    return "jsonl"


def ingest_json_lines(
    path: Path,
    intake: Intake,
    positions: Positions,
    record_map: RecordMap | None = None,
    misses: Misses | None = None,
) -> FileResult:
    """Rows of a JSON Lines file, mapped or as they are, from where an earlier call left off.

    The position is kept after each block is stored, so that a call which was killed goes on; what
    it had stored already counts as duplicate. A file is known by what it holds, not by its name.
    With another map than before it is read from the beginning, and its rows replace the earlier
    ones as a later revision.
    """
    result = FileResult(path, "jsonl")
    reader = LineReader(path, result.faults)
    own = reader.fingerprint()[:FINGERPRINT]
    revision = _revision(own, record_map, positions)
    key = f"ingest:{own}:{revision}"
    after = Place.of(positions.position(key))
    for block in read_blocks(path, reader, after):
        rows = _mapped(block, record_map, misses, revision)
        result.balance += intake.accept(rows, batch=f"{own}-{block.offset}")
        positions.set_position(key, block.behind._asdict())
    result.skipped = reader.start.line
    return result


def _revision(own: str, record_map: RecordMap | None, positions: Positions) -> int:
    """How often the map of a file has changed."""
    name = f"ingest-maps:{own}"
    kept = positions.position(name)
    maps = list(kept["maps"]) if kept else []
    current = record_map.fingerprint if record_map else "records"
    if maps[-1:] != [current]:
        maps.append(current)
        positions.set_position(name, {"maps": maps})
    return len(maps) - 1


def _mapped(
    block: Block, record_map: RecordMap | None, misses: Misses | None, revision: int
) -> Iterator[tuple[Mapping[str, Any] | Unreadable, Where]]:
    for row, where, raw in block.rows:
        if isinstance(row, Unreadable):
            yield row, where
            continue
        try:
            found = row if record_map is None else record_map.row(row, misses)
        except RowError as error:
            yield Unreadable(str(error), raw), where
            continue
        if record_map is not None and not has_identity(found):
            found["record_id"] = content_id(raw)  # the same line under any map
        if revision:
            found.setdefault("revision", revision)
        yield found, where
