"""Judgments that name their chunks by id, with any grades, written as one Arrow table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from ragnostic.records import FACETED_JUDGMENT_SCHEMA, JUDGMENT_SCHEMA

FACETS = "facets"
Status = Literal["judged", "refused", "abstained", "failed"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One judged chunk of a record; a null id is an item that no chunk matches, a null grade one
    that could not be told. ``facet`` None is the overall grade.
    """

    id: str | None
    grade: float | None
    item: int
    evidence: str
    facet: str | None = None

    @property
    def weight(self) -> float | None:
        """1 for a relevant chunk, else 0; null without a grade."""
        return None if self.grade is None else float(self.grade > 0)


@dataclass(frozen=True, slots=True)
class ListedJudgment:
    """What a judge says of one record; where there is no entry, ``reason`` is the evidence."""

    status: Status
    entries: tuple[Entry, ...] = ()
    reason: str = ""


def listed_table(
    rows: Sequence[ListedJudgment],
    record_ids: pa.ChunkedArray,
    source: tuple[str, str, str],
    *,
    facets: bool,
) -> pa.Table:
    """One row a record under ``records.JUDGMENT_SCHEMA``, with ``facets`` under
    ``records.FACETED_JUDGMENT_SCHEMA``; ``source``: judge, version, snapshot.

    >>> row = ListedJudgment("judged", (Entry("c1", 2.0, 0, "gold"),))
    >>> table = listed_table([row], pa.chunked_array([["r1"]]), ("gold", "1", ""), facets=False)
    >>> [table[name].to_pylist() for name in ("record_id", "ids", "grades", "weights")]
    [['r1'], [['c1']], [[2.0]], [[1.0]]]
    """
    members = {
        "ids": [[entry.id for entry in row.entries] for row in rows],
        "grades": [[entry.grade for entry in row.entries] for row in rows],
        "weights": [[entry.weight for entry in row.entries] for row in rows],
        "items": [[entry.item for entry in row.entries] for row in rows],
        "evidence": [[e.evidence for e in row.entries] or _told(row.reason) for row in rows],
        FACETS: [[entry.facet for entry in row.entries] for row in rows],
        "status": [row.status for row in rows],
    }
    schema = FACETED_JUDGMENT_SCHEMA if facets else JUDGMENT_SCHEMA
    same = dict(zip(("judge", "version", "snapshot"), source, strict=True))
    columns = {name: pa.repeat(pa.scalar(text), len(rows)) for name, text in same.items()}
    columns["record_id"] = record_ids
    columns |= {
        name: pa.array(members[name], schema.field(name).type)
        for name in schema.names
        if name in members
    }
    return pa.table([columns[name] for name in schema.names], schema=schema)


def _told(reason: str) -> list[str]:
    return [reason] if reason else []
