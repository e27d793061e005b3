"""Where the first relevant chunk stood before and after, for the queries that differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.report.comparison_page import Slopes
from ragnostic.report.comparison_view import ComparisonView
from ragnostic.report.outcomes import gold_items
from ragnostic.report.run import RunData

if TYPE_CHECKING:
    from ragnostic.stats.comparison import QueryChange

READ = 5_000
"""Changed queries whose ranks are looked up; reading a record costs about 0.1 ms."""
PATHS = 60


def records_of(run: RunData, ids: Iterable[str]) -> RunData:
    """The run with the records of these queries only, the first of each; without its meta."""
    wanted = pa.array(list(ids), pa.string())
    column = run.records["query_id"]
    rows = pc.indices_nonzero(pc.is_in(column, value_set=wanted))
    firsts: dict[Any, int] = {}
    for row, query_id in zip(rows.to_pylist(), column.take(rows).to_pylist(), strict=True):
        firsts.setdefault(query_id, row)
    kept = pa.array(list(firsts.values()), pa.int64())
    return RunData({}, run.records.take(kept), run.chunks, run.scores)


def first_ranks(run: RunData | None, stage: str, ids: Iterable[str]) -> dict[str, int | None]:
    """Query id → rank of its first relevant chunk at ``stage``; None where its list has none.

    A query without gold is absent; all are where the run is not at hand or lacks the stage.
    """
    if run is None or stage not in run.stages:
        return {}
    found: dict[str, int | None] = {}
    for row in records_of(run, ids).rows(("query_id", "judged", stage)):
        items = gold_items(row, (stage,), cutoff=1)
        if items:
            ranks = [item.ranks[0] for item in items if item.ranks[0] is not None]
            found[str(row["query_id"])] = min(ranks, default=None)
    return found


def slopes(view: ComparisonView, changes: Iterable[QueryChange], total: int) -> Slopes | None:
    """The ways that first relevant ranks went, over the first 5,000 of ``changes`` (of ``total``);
    None where a run is not at hand or no rank moved.
    """
    ids = [change.query_id for change, _ in zip(changes, range(READ), strict=False)]
    base, candidate = view.comparison.stages
    before = first_ranks(view.base_run, base, ids)
    after = first_ranks(view.candidate_run, candidate, ids)
    pairs = [(before[key], after[key]) for key in ids if key in before and key in after]
    moved = Counter(pair for pair in pairs if pair[0] != pair[1])
    if not moved:
        return None
    ordered = sorted(moved.items(), key=lambda entry: (-entry[1], _order(entry[0])))
    return Slopes(
        paths=tuple((*pair, count) for pair, count in ordered[:PATHS]),
        still=len(pairs) - moved.total(),
        hidden=sum(count for _, count in ordered[PATHS:]),
        read=len(pairs),
        total=total,
    )


def _order(pair: tuple[int | None, int | None]) -> tuple[float, ...]:
    return tuple(float("inf") if rank is None else rank for rank in pair)
