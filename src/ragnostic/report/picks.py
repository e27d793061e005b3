"""Which queries are worth a look: the worst ones, and those that the reranker moved most."""

from __future__ import annotations

from collections.abc import Sequence

from ragnostic.report.cases import CaseReader
from ragnostic.report.outcomes import Outcome
from ragnostic.report.page import Change, Changes, Worst
from ragnostic.report.scorebook import ScoreBook

MOST_CHANGED = 10
MOST_SHOWN = 200
"""More would make a page that no browser opens with ease."""

_SAME = 1e-9


def worst_queries(
    reader: CaseReader, book: ScoreBook, outcomes: Sequence[Outcome], stage: str, size: int
) -> Worst:
    """The ``size`` worst queries of the final stage that are not perfect, at most 200.

    Ranked by the metric that tells most, ties by the next ones, then by the rank of the first
    relevant chunk, then by query id. Unanswerable, failed and unscored ones are only counted.
    """
    metrics = book.telling(stage)[:3]
    columns = [book.values(stage, metric) for metric in metrics]
    scored = [
        outcome
        for outcome in outcomes
        if outcome.scorable and columns and outcome.record_id in columns[0]
    ]
    imperfect = [
        outcome
        for outcome in scored
        if any(column.get(outcome.record_id, 1.0) < 1 - _SAME for column in columns)
    ]

    def badness(outcome: Outcome) -> tuple[object, ...]:
        values = tuple(round(column.get(outcome.record_id, 1.0), 9) for column in columns)
        rank = outcome.first[-1]
        return (*values, -(rank or 1 << 30), outcome.query_id)

    chosen = sorted(imperfect, key=badness)[: min(max(size, 0), MOST_SHOWN)]
    reader.fetch(chosen)
    return Worst(
        metrics=metrics,
        cases=tuple(reader.case(outcome, metrics) for outcome in chosen),
        imperfect=len(imperfect),
        perfect=len(scored) - len(imperfect),
        unanswerable=sum(not outcome.answerable for outcome in outcomes),
        unscored=sum(
            outcome.answerable and not outcome.failed and not outcome.items for outcome in outcomes
        ),
        failed=sum(outcome.answerable and outcome.failed for outcome in outcomes),
    )


def changed_queries(
    reader: CaseReader,
    book: ScoreBook,
    outcomes: Sequence[Outcome],
    stages: Sequence[str],
    metric: str | None,
) -> Changes | None:
    """The queries that the final stage helped and hurt most against the first, by one metric."""
    if len(stages) < 2 or metric is None:
        return None
    before, after = book.values(stages[0], metric), book.values(stages[-1], metric)
    moved = [
        (after[outcome.record_id] - before[outcome.record_id], outcome)
        for outcome in outcomes
        if outcome.record_id in before and outcome.record_id in after
    ]
    helped = sorted(
        ((gain, outcome) for gain, outcome in moved if gain > _SAME),
        key=lambda entry: (-round(entry[0], 9), entry[1].query_id),
    )
    hurt = sorted(
        ((gain, outcome) for gain, outcome in moved if gain < -_SAME),
        key=lambda entry: (round(entry[0], 9), entry[1].query_id),
    )

    def shown(entries: Sequence[tuple[float, Outcome]]) -> tuple[Change, ...]:
        chosen = [outcome for _, outcome in entries[:MOST_CHANGED]]
        reader.fetch(chosen)
        return tuple(
            Change(
                metric,
                before[outcome.record_id],
                after[outcome.record_id],
                reader.case(outcome, (metric,)),
            )
            for outcome in chosen
        )

    return Changes(metric, shown(helped), shown(hurt), len(helped), len(hurt))
