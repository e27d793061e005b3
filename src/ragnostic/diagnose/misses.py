"""What a run, or live traffic, failed to find: one row an item that did not reach its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from ragnostic.report.outcomes import GoldItem, failed, gold_items

_COLUMNS = ("record_id", "query_id", "query", "searched", "answerable", "outcome", "judged")
_MORE = ("context_ids", "category", "language", "answer", "expected_answer")
_BLOCK = 2048


@dataclass(frozen=True, slots=True)
class Item:
    """One relevant item of one query, found or missed.

    ``place`` is its number among the query's items, best grade first, ``number`` that of the
    judgments where those have one; ``ids`` the chunks as which it counts, none where no chunk of
    the corpus matches it. ``ranks`` by stage, None where the stage does not hold it; ``given``:
    whether it was given to the generator, None where that was not logged. ``weight`` is its share
    of the query's items, so that weights sum to recall.
    """

    query_id: str
    place: int
    ids: tuple[str, ...]
    grade: float
    ranks: tuple[int | None, ...]
    weight: float
    missed: bool
    given: bool | None = None
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """One query as it was asked: the user's words, and what was really sent."""

    query_id: str
    query: str
    sent: tuple[str, ...]
    slices: Mapping[str, str] = field(default_factory=dict)
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """All items of the queries that can be scored, in order, and what was asked.

    ``failed`` and ``without``: queries that failed, and that have nothing relevant to find.
    """

    stages: tuple[str, ...]
    k: int
    asked: Mapping[str, Asked]
    items: tuple[Item, ...]
    failed: int = 0
    without: int = 0

    @property
    def missed(self) -> list[Item]:
        """The items that did not reach their place."""
        return [item for item in self.items if item.missed]

    @property
    def recall(self) -> float | None:
        """Mean over queries of the share of items that reached it; None without queries."""
        if not self.asked:
            return None
        return sum(item.weight for item in self.items if not item.missed) / len(self.asked)


def read_items(records: pa.Table, stages: Sequence[str], k: int) -> Found:
    """Every relevant item of every query that can be scored.

    ``records`` hold their judgments (records.JUDGED_TYPE), as in a run folder; ``stages`` in
    pipeline order. An item is missed where its rank at the last stage is above ``k`` or there is
    none, and where it was within ``k`` and not given to the generator, if that was logged.
    """
    names = [n for n in (*_COLUMNS, *_MORE, *stages) if n in records.column_names]
    asked: dict[str, Asked] = {}
    items: list[Item] = []
    lost = without = 0
    for row in _rows(records.select(names)):
        if row.get("answerable") is False:
            continue
        if failed(row, stages):
            lost += 1
            continue
        gold = gold_items(row, stages, k)
        if not gold:
            without += 1
            continue
        one = _asked(row)
        asked[one.query_id] = one
        context = row.get("context_ids")
        for place, item in enumerate(gold):
            missed, given = _fate(item, k, context)
            weight = 1 / len(gold)
            items.append(
                Item(
                    *(one.query_id, place, item.ids, item.grade, item.ranks),
                    weight=weight,
                    missed=missed,
                    given=given,
                    number=item.number,
                )
            )
    return Found(tuple(stages), k, asked, tuple(items), lost, without)


def _rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    for batch in table.to_batches(max_chunksize=_BLOCK):
        yield from batch.to_pylist()


def _asked(row: Mapping[str, Any]) -> Asked:
    query = str(row.get("query") or "")
    sent = tuple(text for text in row.get("searched") or () if text)
    slices = {name: str(row[name]) for name in ("category", "language") if row.get(name)}
    answer = row.get("expected_answer") or row.get("answer")
    query_id = str(row.get("record_id") or row["query_id"])
    return Asked(query_id, query, sent or (query,), slices, answer)


def _fate(item: GoldItem, k: int, context: Sequence[str] | None) -> tuple[bool, bool | None]:
    """Whether the item is missed, and whether the generator was given it, as far as known."""
    last = item.ranks[-1] if item.ranks else None
    if last is None or last > k:
        return True, None
    given = bool(set(item.ids) & set(context)) if context else None
    return given is False, given
