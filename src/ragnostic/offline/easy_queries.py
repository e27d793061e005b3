"""Queries that every one of the last runs answered at once: they tell versions apart no more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ragnostic.errors import UsageError
from ragnostic.metrics import Metric
from ragnostic.offline.history import PastRun, RunSet
from ragnostic.offline.run_folder import RECORDS
from ragnostic.offline.run_source import folder_source
from ragnostic.report.outcomes import read_outcomes
from ragnostic.report.run import RunData
from ragnostic.report.trend_view import EasyQuery
from ragnostic.stats.paired import TOLERANCE, is_upward

LAST = 5


@dataclass(frozen=True, slots=True)
class EasyQueries:
    """Candidates for replacement: queries that are easy in each of ``runs``, oldest first.

    ``metric``: the one whose best value counts; None where a relevant first result does.
    """

    run_set: RunSet
    runs: tuple[str, ...]
    asked: int
    queries: tuple[EasyQuery, ...]
    metric: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The object of ``runs easy --json``."""
        return {
            "evaluation_set": {"name": self.run_set.name, "sha256": self.run_set.sha256},
            "runs": list(self.runs),
            "metric": self.metric,
            "queries": self.asked,
            "easy": [{"query_id": one.query_id, "query": one.text} for one in self.queries],
        }


def easy_queries(run_set: RunSet, *, last: int = LAST, metric: str | None = None) -> EasyQueries:
    """The easy queries of an evaluation set, in its order.

    A query is easy if the first result of the final stage is relevant in each of the ``last``
    runs (of all, where there are fewer); with ``metric``, if that has its best value instead.
    Raises UsageError for a metric that has no best value, and where a run lacks it.
    """
    name = None if metric is None else str(Metric.parse(metric))
    runs = run_set.runs[-last:]
    found = [_first(run) if name is None else _best(run, name) for run in runs]
    kept = set.intersection(*found)
    texts = _texts(runs[-1])
    queries = tuple(EasyQuery(one, text) for one, text in texts.items() if one in kept)
    return EasyQueries(run_set, tuple(run.name for run in runs), len(texts), queries, name)


def _first(run: PastRun) -> set[str]:
    """Ids of the queries whose first result at the final stage is relevant."""
    source = folder_source(run.folder)
    columns = ("record_id", "query_id", "answerable", "judged", "outcome", *source.stages)
    wanted = [name for name in columns if name in source.schema.names]
    records = source.read(RECORDS, wanted, None).replace_schema_metadata(source.schema.metadata)
    # Which gold the corpus lacks is not asked here, so no chunks are needed.
    data = RunData(run.meta, records, _nothing(), _nothing())
    outcomes = read_outcomes(data, 1)
    return {one.query_id for one in outcomes if one.scorable and one.first[-1] == 1}


def _best(run: PastRun, metric: str) -> set[str]:
    """Ids of the queries with the best value that the metric can have."""
    bounds = Metric.parse(metric).definition.range
    if bounds is None:
        raise UsageError(f"{metric} has no best value, so no query is easy by it")
    if run.summary(metric) is None:
        raise UsageError(f"run {run.name} has no {metric} at stage {run.stage}")
    side = run.side((metric,))
    best = bounds[1] if is_upward(metric) else bounds[0]
    values = side.values[run.stage, metric]
    found = zip(side.query_ids.to_pylist(), values.tolist(), strict=True)
    return {query_id for query_id, value in found if abs(value - best) <= TOLERANCE}


def _texts(run: PastRun) -> dict[str, str | None]:
    asked = folder_source(run.folder).asked()
    return dict(zip(asked["query_id"].to_pylist(), asked["query"].to_pylist(), strict=True))


def _nothing() -> pa.Table:
    return pa.table({"id": pa.array([], pa.string())})
