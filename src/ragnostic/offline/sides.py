"""One side of a comparison from a run or an evaluation: values a query, and what slices them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from ragnostic.offline.evaluation import Evaluation
from ragnostic.offline.run_source import RunSource, memory_source
from ragnostic.report.run import RunData
from ragnostic.stats.sides import Side, side_from_scores
from ragnostic.stats.slices import slice_columns


def side_of_run(run: RunData, metrics: Sequence[str] | None = None) -> Side:
    """The side of a run in memory: all its stages, and all its metrics where None are named.

    Values are those of ``scores``; slice columns come from the records
    (:func:`ragnostic.stats.slices.slice_columns`). The name is the run's own.
    """
    source = memory_source(run, "run")
    return side_of_source(source, source.stages, metrics)


def side_of_source(
    source: RunSource,
    stages: Sequence[str],
    metrics: Sequence[str] | None = None,
    *,
    columns: Mapping[str, pa.Array] | None = None,
) -> Side:
    """The side of a run that is read in part: the values of these ``stages`` and ``metrics``.

    ``columns``: what :func:`columns_of` made of the source's questions; made anew where None.
    """
    return side_from_scores(
        source.name,
        source.scores(stages, metrics),
        stages=source.stages,
        metrics=metrics,
        columns=columns_of(source.asked()) if columns is None else columns,
    )


def columns_of(asked: pa.Table) -> dict[str, pa.Array]:
    """Slice columns of a table of questions, with the ``query_id`` that they belong to.

    >>> columns_of(pa.table({"query_id": ["q1"], "category": ["hr"]}))["category"].to_pylist()
    ['hr']
    """
    # Reading a million rows of labels to find that there are none takes longer than looking.
    known = [name for name in asked.column_names if asked[name].null_count < asked.num_rows]
    return {"query_id": asked["query_id"], **slice_columns(asked.select(known))}


def side_of_evaluation(name: str, found: Evaluation) -> Side:
    """The side of what :func:`ragnostic.evaluate` found: one stage, no slices."""
    metrics = [str(metric) for metric in found.scored.plan.metrics]
    scores = pa.concat_tables([_long(found, metric) for metric in metrics])
    return side_from_scores(name, scores, stages=[found.scored.plan.stage], metrics=metrics)


def _long(found: Evaluation, metric: str) -> pa.Table:
    table = found.scored.table
    return pa.table(
        {
            "query_id": table["query_id"],
            "stage": _repeated(found.scored.plan.stage, table.num_rows),
            "metric": _repeated(metric, table.num_rows),
            "value": table[metric],
            "status": table["status"],
        }
    )


def _repeated(word: str, count: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(np.zeros(count, dtype=np.int32), [word])
