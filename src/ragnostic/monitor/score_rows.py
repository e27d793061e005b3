"""The scores of a window out of the lake, ready to be summed up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.errors import RagnosticError
from ragnostic.metrics import Metric
from ragnostic.metrics.recall import in_tail
from ragnostic.monitor.live_metrics import QER
from ragnostic.monitor.windows import Window
from ragnostic.ports import RecordStore

_UNUSED = ("record_id", "query_id", "ts", "day", "revision", QER)


@dataclass(frozen=True, slots=True)
class ScoreRows:
    """``table``: rows of scores without the columns that nothing is computed from, in one order
    whatever files they came from. ``records``: how many records they are of.
    """

    table: pa.Table
    records: int


def read_scores(store: RecordStore, window: Window) -> ScoreRows:
    """All scores in a window, a local day at a time; an empty table where there are none."""
    parts: list[pa.Table] = []
    records = 0
    for found in days_of(store, window):
        records += pc.count_distinct(found["record_id"]).as_py()
        order = pc.sort_indices(
            found, [("ts", "ascending"), ("record_id", "ascending"), ("stage_place", "ascending")]
        )
        kept = [name for name in found.column_names if name not in _UNUSED]
        parts.append(found.select(kept).take(order))
    if not parts:
        return ScoreRows(pa.table({}), 0)
    return ScoreRows(pa.concat_tables(parts, promote_options="permissive"), records)


def days_of(store: RecordStore, window: Window) -> Iterator[pa.Table]:
    """The scores of each day of the window that has any."""
    # The store may cut its days in another zone, so that a day's rows may lie one day off.
    stored = set(store.days("scores"))
    for day, start, end in _near(window, stored):
        near = ((day + timedelta(days=step)).isoformat() for step in (-1, 0, 1))
        if stored.isdisjoint(near):
            continue
        found = store.read("scores", start=start, end=end)
        if found.num_rows:
            yield found


def _near(window: Window, stored: set[str]) -> Iterator[tuple[date, datetime, datetime]]:
    """The days of a window that lie where anything is stored: a window may be millennia long."""
    if not stored:
        return
    beside = timedelta(days=3)
    first = datetime.combine(date.fromisoformat(min(stored)), time(), UTC) - beside
    last = datetime.combine(date.fromisoformat(max(stored)), time(), UTC) + beside
    start, end = max(window.start, first), min(window.end, last)
    if start < end:
        yield from Window(start, end, window.zone).days()


def metrics_of(table: pa.Table) -> tuple[Metric, ...]:
    """The metrics that a scores table has a column of, in its order.

    >>> [str(metric) for metric in metrics_of(pa.table({"status": ["ok"], "RR@5": [1.0]}))]
    ['RR@5']
    """
    return tuple(metric for name in table.column_names for metric in _metric(name))


def _metric(name: str) -> Iterator[Metric]:
    try:
        found = Metric.parse(name)
    except RagnosticError:
        return
    if str(found) == name and not found.definition.curve:
        yield found


def with_traffic(table: pa.Table) -> pa.Table:
    """Rows of one judge and stage with ``traffic``: ``head`` or ``tail`` by how often their query
    is asked among them (METRICS 3), null without a query.

    >>> table = pa.table({"query_key": ["a"] * 8 + ["b", "c"]})
    >>> with_traffic(table)["traffic"].to_pylist()[-3:]
    ['head', 'tail', 'tail']
    """
    coded = table["query_key"].combine_chunks().dictionary_encode()
    codes = pc.fill_null(coded.indices.cast(pa.int64()), -1).to_numpy(zero_copy_only=False)
    counts = np.bincount(codes[codes >= 0], minlength=len(coded.dictionary)).astype(np.float64)
    tail = in_tail(counts) if counts.size else np.zeros(0, dtype=np.bool_)
    names = pa.array(["head", "tail"])
    places = np.append(tail, False).astype(np.int64)[codes]
    return table.append_column("traffic", names.take(pa.array(places, mask=codes < 0)))
