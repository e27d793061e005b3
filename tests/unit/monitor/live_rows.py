"""Small live records, judgments, a snapshot and a store in memory, for the tests of signals."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.records import JUDGMENT_SCHEMA, record_schema

NOON = datetime(2026, 3, 2, 4, tzinfo=UTC)
"""Noon of a Monday in Shanghai."""


def record(name: str, ids: list[str] | None = None, **values: Any) -> dict[str, Any]:
    """A record; ``ids`` is its stage ``retrieve``, whose other members are ``stage``."""
    stage = {"top_k": 10, "took_ms": 100.0, **values.pop("stage", {})}
    row = {"record_id": name, "query_id": name, "query": f"query {name}", "ts": NOON, **values}
    return row if ids is None else {**row, "retrieve": {"ids": ids, **stage}}


def records(*rows: dict[str, Any], stages: tuple[str, ...] = ("retrieve",)) -> pa.Table:
    """The table of records."""
    return pa.Table.from_pylist(list(rows), record_schema(stages))


def judgment(name: str, ids: list[str | None] | None = None, **values: Any) -> dict[str, Any]:
    """A judgment of a record; without ids the judge says why in ``status``."""
    row = {"record_id": name, "judge": "answer_span", "version": "1", "status": "judged"}
    return {**row, "ids": ids, **values}


def judgments(*rows: dict[str, Any]) -> pa.Table:
    """The table of judgments."""
    return pa.Table.from_pylist(list(rows), JUDGMENT_SCHEMA)


@dataclass
class Corpus:
    """A snapshot: text and vector of each chunk."""

    texts: dict[str, str]
    vectors: Any = None
    fingerprint: str = "00" * 8
    extra: dict[str, list[Any]] = field(default_factory=dict)

    @property
    def chunks(self) -> pa.Table:
        """Ids and texts."""
        columns = {"id": list(self.texts), "text": list(self.texts.values()), **self.extra}
        return pa.table(columns)


def corpus(vectors: dict[str, list[float]]) -> Corpus:
    """A snapshot from vectors by chunk id."""
    return Corpus(
        {name: f"text {name}" for name in vectors}, np.array(list(vectors.values()), "f4")
    )


class MemoryStore:
    """A RecordStore that holds one table a kind."""

    def __init__(self, **tables: pa.Table) -> None:
        self.tables = tables
        self.reads: list[tuple[str, datetime | None, datetime | None]] = []

    def write(self, kind: str, table: pa.Table, *, name: str) -> None:
        """Replace the table of a kind."""
        self.tables[kind] = table

    def read(self, kind, *, start=None, end=None, columns=None) -> pa.Table:
        """Rows of a kind with a time in [start, end)."""
        self.reads.append((kind, start, end))
        table = self.tables.get(kind)
        if table is None:
            return pa.table({"ts": pa.array([], pa.timestamp("us", tz="UTC"))})
        inside = pc.and_(pc.greater_equal(table["ts"], start), pc.less(table["ts"], end))
        return table.filter(inside)

    def days(self, kind: str) -> list[str]:
        """The days of a kind."""
        table = self.tables.get(kind)
        return [] if table is None else sorted(pc.unique(table["day"]).to_pylist())


def many(count: int, seed: int = 0) -> tuple[pa.Table, pa.Table]:
    """Random records over two days with two stages, and their judgments."""
    draw = np.random.default_rng(seed)
    chunks = [f"c{number}" for number in range(30)]
    rows, judged = [], []
    for number in range(count):
        ranking = draw.permutation(chunks)[: draw.integers(0, 13)].tolist()
        stage = {"ids": ranking, "top_k": 12, "took_ms": float(draw.exponential(80))}
        again = {**stage, "ids": ranking[::-1]}
        rows.append(
            {
                "record_id": f"r{number}",
                "query_id": f"r{number}",
                "query": f"query {int(draw.integers(12)) ** 2 % 40}",
                "ts": NOON + timedelta(minutes=int(draw.integers(2880))),
                "service": ["a", "b", None][number % 3],
                "context_ids": ranking[:3] if number % 4 else None,
                "retrieve": None if number % 17 == 5 else stage,
                "rerank": again,
            }
        )
        gold = draw.permutation(chunks)[: draw.integers(0, 5)].tolist()
        grades = draw.integers(0, 3, size=len(gold)).astype(float).tolist()
        judged.append(judgment(f"r{number}", gold, grades=grades, weights=[0.3] * len(gold)))
    return records(*rows, stages=("retrieve", "rerank")), judgments(*judged)
