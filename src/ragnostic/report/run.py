"""What a report is made from: a run folder in memory, and careful ways to look into it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.records import stages_of
from ragnostic.report.answer_tables import AnswerTables

_BLOCK = 2048


@dataclass(frozen=True, slots=True)
class RunData:
    """A run: ``meta`` is run.json, the tables are the Parquet files beside it.

    ``records`` has a row a query, ``chunks`` the texts that occur (may be empty), ``scores`` a
    row a query, stage and metric. Every member of ``meta`` may be absent.
    """

    meta: Mapping[str, Any]
    records: pa.Table
    chunks: pa.Table
    scores: pa.Table
    answers: AnswerTables | None = None
    """What a generator made of it, where it was asked."""

    @property
    def stages(self) -> tuple[str, ...]:
        """Stages of the records in pipeline order."""
        return tuple(stages_of(self.records.schema))

    def stage_meta(self, stage: str) -> Mapping[str, Any]:
        """What run.json says about one stage; empty when it says nothing."""
        return mapping(mapping(self.meta.get("stages")).get(stage))

    def rows(self, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Rows of the records with the columns that exist, in blocks, in order."""
        names = [name for name in columns if name in self.records.schema.names]
        for batch in self.records.select(names).to_batches(max_chunksize=_BLOCK):
            yield from batch.to_pylist()

    def row(self, index: int) -> dict[str, Any]:
        """One whole row of the records."""
        found: dict[str, Any] = self.records.slice(index, 1).to_pylist()[0]
        return found

    def chunk_rows(self, ids: set[str]) -> dict[str, dict[str, Any]]:
        """The chunks with these ids, by id; unknown ones are absent."""
        if not ids or "id" not in self.chunks.schema.names:
            return {}
        wanted = pc.is_in(self.chunks["id"], value_set=pa.array(sorted(ids), pa.string()))
        return {row["id"]: row for row in self.chunks.filter(wanted).to_pylist()}


def mapping(value: object) -> Mapping[str, Any]:
    """``value`` if it is a mapping, else an empty one.

    >>> mapping({"a": 1}), mapping(None), mapping([])
    ({'a': 1}, {}, {})
    """
    return value if isinstance(value, Mapping) else {}


def number(value: object) -> float | None:
    """``value`` as a float if it is a number, else None.

    >>> number(3), number("3"), number(True), number(None)
    (3.0, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def count(value: object) -> int:
    """``value`` as a count, 0 when it is none.

    >>> count(3), count(None)
    (3, 0)
    """
    found = number(value)
    return 0 if found is None else int(found)


def text(value: object) -> str | None:
    """``value`` as text, None when it is absent or empty.

    >>> text("a"), text(""), text(None), text(7)
    ('a', None, None, '7')
    """
    return None if value is None or value == "" else str(value)
