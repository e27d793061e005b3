"""What retrieval found for a query the day before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.monitor.live_store import LiveStore
from ragnostic.monitor.probes import of_retrieval
from ragnostic.monitor.rcs import Ranking
from ragnostic.records import EvalQuery

LOOK_BACK_DAYS = 8
"""Days with probes that are looked through: a weekly run still finds the one before."""
_COLUMNS = (
    *("query_id", "query", "ts", "perturbation", "seed", "reranker"),
    *("second", "sentinel", "run"),
)

Asked = tuple[str, str]
"""Id and text of a query: another wording is another query."""


def earlier_rankings(
    store: LiveStore, queries: Sequence[EvalQuery], *, sentinel: str, run: str, began: datetime
) -> Mapping[Asked, Ranking]:
    """What a run that ``began`` then is held against: of each query the newest ranking that the
    same sentinel kept on an earlier day of the store; where there is none, the first of the same
    day. So an index that changes bit by bit, hour by hour, shows as well.

    A query whose retrieval failed on the day before is held against the day before that; one that
    was not asked in the last days is not in the answer.
    """
    wanted = {(query.query_id, query.query) for query in queries}
    found: dict[Asked, Ranking] = {}
    for rows in _days(store, began):
        mine = pc.and_(pc.equal(rows["sentinel"], sentinel), pc.not_equal(rows["run"], run))
        for row in rows.filter(mine.fill_null(fill_value=False)).to_pylist():
            key = (row["query_id"], row["query"])
            if key in wanted:
                found.setdefault(key, tuple(row["second"] or ()))
        if len(found) == len(wanted):
            break
    return found


def _days(store: LiveStore, began: datetime) -> Iterator[pa.Table]:
    """Earlier days, the newest and its newest rows first; then this day, its oldest rows first."""
    today = began.astimezone(ZoneInfo(store.zone)).date().isoformat()
    days = store.lake.days("probes")
    for day in [day for day in days if day < today][: -LOOK_BACK_DAYS - 1 : -1]:
        yield _rankings(store, day).sort_by([("ts", "descending")])
    if today in days:
        yield _rankings(store, today).sort_by([("ts", "ascending")])


def _rankings(store: LiveStore, day: str) -> pa.Table:
    start, end = store.day(day)
    return of_retrieval(store.lake.read("probes", start=start, end=end, columns=_COLUMNS))
