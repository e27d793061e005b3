"""The queries of a day that did worse than usual, with what was found for them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.monitor.cells import numbers
from ragnostic.monitor.live_store import LiveStore
from ragnostic.ports import RecordStore
from ragnostic.records import stages_of
from ragnostic.report.daily_view import Anomaly, Listed
from ragnostic.store.snapshots import current_snapshot

MOST = 10
_LOOKED_AT = 400
"""So many of the worst rows are compared with their past."""
_PAST = timedelta(days=7)
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class _Row:
    record_id: str
    query: str
    value: float


def anomalies(store: LiveStore, metric: str, start: datetime, end: datetime) -> list[Anomaly]:
    """The queries that fell farthest below their usual value, the farthest first.

    Usual is the mean of the same query in the seven days before, or the mean of everything of
    those days for a query that is new. A query is listed once, by its worst record.
    """
    today = _rows(store.lake, metric, start, end)
    if not today:
        return []
    worst = sorted(today, key=lambda row: row.value)[:_LOOKED_AT]
    past, whole = _past(store.lake, metric, start, {row.query for row in worst})
    if whole is None:
        whole = float(np.mean([row.value for row in today]))
    asked = Counter(row.query for row in today)
    best: dict[str, tuple[float, _Row, float, bool]] = {}
    for row in worst:
        known = past.get(row.query)
        usual = whole if known is None else known
        gap = usual - row.value
        if gap > 0 and (row.query not in best or gap > best[row.query][0]):
            best[row.query] = (gap, row, usual, known is not None)
    chosen = sorted(best.values(), key=lambda one: (-one[0], one[1].query))[:MOST]
    shown = _shown(store, [row.record_id for _, row, _, _ in chosen], start, end)
    return [
        Anomaly(
            row.query,
            row.value,
            usual,
            known,
            asked[row.query],
            *shown.get(row.record_id, ("", ())),
        )
        for _, row, usual, known in chosen
    ]


def _rows(
    store: RecordStore, metric: str, start: datetime, end: datetime, queries: set[str] | None = None
) -> list[_Row]:
    """The rows of the last stage with a value, and what was asked."""
    scores = store.read("scores", start=start, end=end)
    if not scores.num_rows or metric not in scores.column_names:
        return []
    last = pc.max(scores["stage_place"]).as_py()
    scores = scores.filter(pc.equal(scores["stage_place"], last))
    records = store.read("records", start=start, end=end, columns=["record_id", "query"])
    if queries is not None:
        records = records.filter(pc.is_in(records["query"], pa.array(sorted(queries))))
    texts = dict(zip(records["record_id"].to_pylist(), records["query"].to_pylist(), strict=True))
    values = numbers(scores, metric)
    return [
        _Row(name, texts[name], float(value))
        for name, value in zip(scores["record_id"].to_pylist(), values, strict=True)
        if texts.get(name) and not np.isnan(value)
    ]


def _past(
    store: RecordStore, metric: str, start: datetime, queries: set[str]
) -> tuple[Mapping[str, float], float | None]:
    """The means of these queries in the week before, and of all that was asked then."""
    found: dict[str, list[float]] = defaultdict(list)
    everything: list[float] = []
    for back in range(_PAST.days, 0, -1):
        begin = start - timedelta(days=back)
        scores = store.read("scores", start=begin, end=begin + timedelta(days=1))
        if metric in scores.column_names and scores.num_rows:
            everything.append(float(np.nanmean(numbers(scores, metric))))
        for row in _rows(store, metric, begin, begin + timedelta(days=1), queries):
            found[row.query].append(row.value)
    known = [value for value in everything if not np.isnan(value)]
    whole = sum(known) / len(known) if known else None
    return {query: sum(values) / len(values) for query, values in found.items()}, whole


def _shown(
    store: LiveStore, ids: Sequence[str], start: datetime, end: datetime
) -> dict[str, tuple[str, tuple[Listed, ...]]]:
    """Answer and ranking of some records, by id."""
    snapshot = current_snapshot(store.root)
    known = {} if snapshot is None else snapshot.texts
    records = store.lake.read("records", start=start, end=end)
    records = records.filter(pc.is_in(records["record_id"], pa.array(ids, pa.string())))
    judgments = store.lake.read("judgments", start=start, end=end)
    judgments = judgments.filter(pc.is_in(judgments["record_id"], pa.array(ids, pa.string())))
    relevant = {
        row["record_id"]: {
            name
            for name, grade in zip(row["ids"] or (), row["grades"] or (), strict=False)
            if grade
        }
        for row in judgments.to_pylist()
    }
    stages = stages_of(records.schema)
    return {
        row["record_id"]: (
            row.get("answer") or "",
            _ranking(row, stages, relevant.get(row["record_id"], set()), known),
        )
        for row in records.to_pylist()
    }


def _ranking(
    row: Mapping[str, Any], stages: Sequence[str], relevant: set[str], known: Mapping[str, str]
) -> tuple[Listed, ...]:
    """The first results, with their texts: as logged, or as the corpus snapshot has them."""
    last = next((row[stage] for stage in reversed(stages) if row.get(stage)), None) or {}
    ids = (last.get("ids") or ())[:_SHOWN]
    texts = [*(last.get("texts") or ()), *[None] * len(ids)]
    return tuple(
        Listed(rank, name or "", text or known.get(name) or "", name in relevant)
        for rank, (name, text) in enumerate(zip(ids, texts, strict=False), 1)
    )
