"""Judgments of live records, collected and written as one Arrow table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
import pyarrow as pa

from ragnostic.records import JUDGMENT_SCHEMA

Status = Literal["judged", "refused", "abstained", "failed"]


@dataclass(frozen=True, slots=True)
class Judgment:
    """Chunks by number, the first ``hard`` of them hard-relevant, the others soft; equal ``items``
    are one item.
    """

    status: Status
    chunks: tuple[int, ...] = ()
    items: tuple[int, ...] = ()
    evidence: tuple[str, ...] = ()
    hard: int = 0

    @classmethod
    def of(
        cls,
        held: Iterable[tuple[int, int, str]],
        soft: Iterable[int],
        soft_evidence: str,
        unit: Literal["chunk", "span"],
    ) -> Self:
        """From (chunk, span, evidence) of the hard-relevant chunks, best evidence first.

        By chunk each chunk is an item, with its first evidence; by span each span that some chunk
        holds, and a chunk comes once for each. A soft-relevant chunk is an item of its own.

        >>> held = [(7, 0, "exact"), (5, 0, "exact"), (7, 1, "fact")]
        >>> found = Judgment.of(held, [5, 9], "entity", "chunk")
        >>> found.chunks, found.items, found.evidence, found.hard
        ((7, 5, 9), (0, 1, 2), ('exact', 'exact', 'entity'), 2)
        >>> Judgment.of(held, [], "", "span").items
        (0, 0, 1)
        """
        seen: dict[tuple[int, int], str] = {}
        numbers: dict[int, int] = {}
        for chunk, span, evidence in held:
            thing = chunk if unit == "chunk" else span
            seen.setdefault((chunk, numbers.setdefault(thing, len(numbers))), evidence)
        chunks = [chunk for chunk, _ in seen]
        others = [chunk for chunk in soft if chunk not in set(chunks)]
        return cls(
            "judged",
            (*chunks, *others),
            (*(item for _, item in seen), *range(len(numbers), len(numbers) + len(others))),
            (*seen.values(), *[soft_evidence] * len(others)),
            len(chunks),
        )


class Judgments:
    """Judgments in rows, written as one table. ``ids`` names the chunks."""

    def __init__(self, ids: pa.Array, weight_soft: float) -> None:
        self._ids = ids
        self._weight_soft = weight_soft
        self._status: list[str] = []
        self._ends: list[int] = [0]
        self._hard: list[int] = []
        self._chunks: list[int] = []
        self._items: list[int] = []
        self._evidence: list[str] = []

    def add(self, judgments: Iterable[Judgment]) -> None:
        """Append rows."""
        for judgment in judgments:
            self._status.append(judgment.status)
            self._hard.append(judgment.hard)
            self._chunks += judgment.chunks
            self._items += judgment.items
            self._evidence += judgment.evidence
            self._ends.append(len(self._chunks))

    def table(
        self, rows: pa.Array, record_ids: pa.ChunkedArray, judge: str, version: str, snapshot: str
    ) -> pa.Table:
        """One row a record under ``JUDGMENT_SCHEMA``; record i has the judgment ``rows[i]``."""
        ends = np.array(self._ends, dtype=np.int32)
        counts = np.diff(ends)
        nth = np.arange(ends[-1]) - np.repeat(ends[:-1], counts)
        is_hard = nth < np.repeat(np.array(self._hard, dtype=np.int64), counts)
        columns = {
            "ids": self._ids.take(pa.array(self._chunks, type=pa.int64())),
            "grades": pa.array(is_hard.astype(np.float32)),
            "weights": pa.array(np.where(is_hard, 1.0, self._weight_soft).astype(np.float32)),
            "items": pa.array(self._items, type=pa.int32()),
            "evidence": pa.array(self._evidence, type=pa.string()),
        }
        lists = {
            name: pa.ListArray.from_arrays(pa.array(ends), values).take(rows)
            for name, values in columns.items()
        }
        same = {"judge": judge, "version": version, "snapshot": snapshot}
        lists |= {name: pa.repeat(pa.scalar(value), len(rows)) for name, value in same.items()}
        lists |= {"record_id": record_ids, "status": pa.array(self._status, pa.string()).take(rows)}
        return pa.table([lists[name] for name in JUDGMENT_SCHEMA.names], schema=JUDGMENT_SCHEMA)
