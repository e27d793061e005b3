"""Where spans stand in files, in little memory: a file may hold millions of them."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from pathlib import Path

from ragnostic.gateway.balance import Where


class SpanPlaces:
    """The first place of each span, about 150 bytes each. Ids are hexadecimal, as
    :func:`~ragnostic.gateway.spans.make_span` gives them.

    >>> places = SpanPlaces([Path("a.jsonl"), Path("b.jsonl")])
    >>> places.add("0a" * 16, "0b" * 8, file=1, line=3, offset=70)
    >>> places.of("0a" * 16, "0b" * 8)
    Where(source='b.jsonl', line=3, offset=70, trace='0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a')
    >>> places.of("0a" * 16, "0c" * 8) is None
    True
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._sources = [str(path) for path in paths]
        self._number: dict[int, int] = {}
        self._columns = tuple(array("q") for _ in range(3))

    def add(self, trace_id: str, span_id: str, *, file: int, line: int, offset: int) -> None:
        """Note a place; one that comes again keeps its first. ``file`` counts from 0."""
        count = len(self._number)
        if self._number.setdefault(_key(trace_id, span_id), count) == count:
            for column, value in zip(self._columns, (file, line, offset), strict=True):
                column.append(value)

    def of(self, trace_id: str, span_id: str) -> Where | None:
        """Where a span stands, None where it is in no file."""
        number = self._number.get(_key(trace_id, span_id))
        if number is None:
            return None
        file, line, offset = (column[number] for column in self._columns)
        return Where(self._sources[file], line, offset, trace_id)


def _key(trace_id: str, span_id: str) -> int:
    return int(trace_id + span_id, 16)
