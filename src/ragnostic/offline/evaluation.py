"""``ragnostic.evaluate``: qrels and a run in, means with intervals and values a query out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import pyarrow as pa

from ragnostic.errors import Fault, UsageError
from ragnostic.evalset.grouping import ScoreOrder, ScorePrecision
from ragnostic.evalset.judged_run import JudgedRun
from ragnostic.evalset.numbers import Grades
from ragnostic.evalset.python_input import qrels_from, run_from
from ragnostic.metrics import Metric, parse_list
from ragnostic.metrics.naming import distinct
from ragnostic.scoring import Plan, Scored, score
from ragnostic.scoring.lookup import IdIndex
from ragnostic.scoring.plan import Missing
from ragnostic.stats import Summary, stage_summary, summarise

DEFAULT_METRICS = "nDCG@10,RR@10,R@10,AP,P@10,Success@1,Success@5"


@dataclass(frozen=True, repr=False)
class Evaluation:
    """What :func:`evaluate` found. ``result["nDCG@10"].mean``; shows itself in a notebook."""

    scored: Scored
    ties: int
    warnings: tuple[Fault, ...]

    @property
    def metrics(self) -> dict[str, Summary]:
        """Canonical metric name → mean with n, missing, unscored, failed, low, high."""
        return summarise(self.scored.table, self.scored.plan.metrics)

    def __getitem__(self, metric: str | Metric) -> Summary:
        """The summary of one metric, by any of its names."""
        name = metric if isinstance(metric, Metric) else Metric.parse(metric)
        return self.metrics[str(name)]

    @property
    def per_query(self) -> pa.Table:
        """``query_id`` and one column a metric, null where undefined."""
        return self.scored.table.select(["query_id", *map(str, self.scored.plan.metrics)])

    def as_json(self) -> dict[str, Any]:
        """The object that ``ragnostic score --json`` prints (INTERFACES)."""
        found = stage_summary(self.scored, ties=self.ties)
        return found | {"warnings": [str(fault) for fault in self.warnings]}

    def __repr__(self) -> str:
        names = ("mean", "n", "missing", "unscored", "failed")
        lines = [f"{'metric':24}" + "".join(f"{name:>10}" for name in names)]
        for metric, summary in self.metrics.items():
            mean = "–" if summary.mean is None else f"{summary.mean:.4f}"
            counts = (getattr(summary, name) for name in names[1:])
            lines.append(f"{metric:24}{mean:>10}" + "".join(f"{count:>10}" for count in counts))
        lines += [f"warning: {fault}" for fault in self.warnings[:5]]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from ragnostic.report.notebook import summary_html  # noqa: PLC0415  only in a notebook

        return summary_html(self.metrics)


def evaluate(
    qrels: Any,
    run: Any,
    metrics: Sequence[str | Metric] | str = DEFAULT_METRICS,
    *,
    missing: Missing = "zero",
    score_order: ScoreOrder = "similarity",
    score_precision: ScorePrecision = "float64",
    grades: Grades = "whole",
) -> Evaluation:
    """Score one run against qrels.

    ``qrels``: ``{query: {id: grade}}``, ``{query: [ids]}`` or ``{query: [[ids], …]}`` (groups: a
    group is one item); ``run``: ``{query: [ids, best first]}`` or ``{query: {id: score}}``. Both
    may also be an Arrow table, a pandas or polars frame (columns ``query_id, chunk_id|doc_id`` and
    ``grade|score``) or a path. ``missing="skip"`` leaves queries without a ranking out of the
    means. Inputs are never changed. Raises DataError (a ValueError) for what cannot be scored,
    naming the query and the id, and UsageError for an option or a metric that does not exist.

    >>> found = evaluate({"q1": {"d1": 2, "d2": 1}}, {"q1": ["d3", "d1"]}, ["RR@5", "R@20"])
    >>> found["RR@5"].mean, found["R@20"].mean
    (0.5, 0.5)
    >>> found.per_query.to_pylist()
    [{'query_id': 'q1', 'RR@5': 0.5, 'R@20': 0.5}]
    """
    for name, value, allowed in (
        ("missing", missing, Missing),
        ("score_order", score_order, ScoreOrder),
        ("score_precision", score_precision, ScorePrecision),
        ("grades", grades, Grades),
    ):
        if value not in get_args(allowed):
            words = " or ".join(map(repr, get_args(allowed)))
            raise UsageError(f"evaluate: {name} is {value!r}; it must be {words}")
    judged = qrels_from(qrels, grades)
    rankings = run_from(run, score_order=score_order, score_precision=score_precision)
    plan = Plan(_metrics(metrics), missing=missing)
    joined = JudgedRun(judged.table, rankings.batches())
    scored = _in_order(score(joined.batches(), plan), judged.table["query_id"])
    faults = (*judged.faults, *rankings.faults, *joined.faults, *scored.faults)
    return Evaluation(scored, rankings.ties, faults)


def evaluate_records(
    records: Iterable[pa.RecordBatch], plan: Plan, faults: Iterable[Fault] = ()
) -> Evaluation:
    """Score one stage of records that hold their own judgments."""
    scored = score(records, plan)
    return Evaluation(scored, 0, (*faults, *scored.faults))


def columns_read(plan: Plan) -> list[str]:
    """The columns of a records file that a plan reads; the rest need no decoding."""
    scores = any(metric.definition.on != "answerable" for metric in plan.metrics)
    members = ("ids", "top_k", "status", *(("scores",) if scores else ()))
    return [
        *("record_id", "query_id", "answerable", "judged"),
        *(f"{plan.stage}.{member}" for member in members),
    ]


def _metrics(given: Sequence[str | Metric] | str) -> tuple[Metric, ...]:
    if isinstance(given, str):
        return tuple(parse_list(given))
    return tuple(distinct(m if isinstance(m, Metric) else Metric.parse(m) for m in given))


def _in_order(scored: Scored, query_ids: pa.ChunkedArray) -> Scored:
    """Rows in the order of the qrels, queries that nobody judged behind them."""
    known = query_ids.combine_chunks()
    place = IdIndex.of(known).find(scored.table["query_id"].combine_chunks())
    order = np.argsort(np.where(place < 0, len(known), place), kind="stable")
    if (np.diff(order) == 1).all():
        return scored
    return Scored(scored.plan, scored.table.take(order), scored.faults, scored.counts)
