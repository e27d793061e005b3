"""The listed queries with the rankings of both systems."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ragnostic.report.cases import CaseReader
from ragnostic.report.comparison_page import ChangedQuery, Kind
from ragnostic.report.comparison_ranks import first_ranks, records_of
from ragnostic.report.comparison_view import ComparisonView
from ragnostic.report.outcomes import ranking, read_outcomes
from ragnostic.report.page import Hit, QueryCase, Ranking
from ragnostic.report.run import RunData
from ragnostic.report.scorebook import ScoreBook

if TYPE_CHECKING:
    from ragnostic.stats.comparison import QueryChange


def changed_queries(
    view: ComparisonView,
    chosen: Sequence[QueryChange],
    kinds: Mapping[str, tuple[Kind, ...]],
    cutoff: int,
) -> tuple[ChangedQuery, ...]:
    """A :class:`ChangedQuery` for each of ``chosen``, in order; texts as far as the runs hold
    them. A chunk of the candidate that moved says from where.
    """
    ids = [change.query_id for change in chosen]
    base, candidate = view.comparison.stages
    old, new = _cases(view.base_run, ids, cutoff), _cases(view.candidate_run, ids, cutoff)
    before = first_ranks(view.base_run, base, ids)
    after = first_ranks(view.candidate_run, candidate, ids)
    start = _ranks(view.base_run, base, ids)
    return tuple(
        _query(
            change,
            kinds[change.query_id],
            [case for case in (new.get(change.query_id), old.get(change.query_id)) if case],
            _first(before, after, change.query_id),
            (
                _ranking(old.get(change.query_id), base, {}),
                _ranking(new.get(change.query_id), candidate, start.get(change.query_id, {})),
            ),
        )
        for change in chosen
    )


def _query(
    change: QueryChange,
    kinds: tuple[Kind, ...],
    cases: Sequence[QueryCase],
    first: tuple[int | None, int | None] | None,
    rankings: tuple[Ranking | None, Ranking | None],
) -> ChangedQuery:
    """``cases`` are those at hand, the candidate's first: any of them knows the texts."""
    return ChangedQuery(
        query_id=change.query_id,
        before=change.before,
        after=change.after,
        kinds=kinds,
        query=next((case.query for case in cases if case.query), None),
        language=next((case.language for case in cases if case.language), None),
        expected=next((case.expected for case in cases if case.expected), None),
        first=first,
        rankings=rankings,
    )


def _first(
    before: Mapping[str, int | None], after: Mapping[str, int | None], query_id: str
) -> tuple[int | None, int | None] | None:
    if query_id not in before or query_id not in after:
        return None
    return before[query_id], after[query_id]


def _cases(run: RunData | None, ids: Collection[str], cutoff: int) -> dict[str, QueryCase]:
    if run is None:
        return {}
    part = records_of(run, ids)
    outcomes = read_outcomes(part, cutoff)
    reader = CaseReader(part, ScoreBook(part), cutoff)
    reader.fetch(outcomes)
    return {outcome.query_id: reader.case(outcome, ()) for outcome in outcomes}


def _ranks(run: RunData | None, stage: str, ids: Collection[str]) -> dict[str, dict[str, int]]:
    """Query id → chunk → rank, over the whole list."""
    if run is None or stage not in run.stages:
        return {}
    return {
        str(row["query_id"]): {chunk: rank for rank, _, chunk in ranking(row, stage) if chunk}
        for row in records_of(run, ids).rows(("query_id", stage))
    }


def _ranking(case: QueryCase | None, stage: str, start: Mapping[str, int]) -> Ranking | None:
    """The ranking of one stage; each hit says where it stood at the ``start``."""
    found = next((entry for entry in case.rankings if entry.stage == stage), None) if case else None
    if found is None:
        return None

    def moved(hits: Sequence[Hit]) -> tuple[Hit, ...]:
        return tuple(replace(hit, before=start.get(hit.passage.id)) for hit in hits)

    return replace(found, top=moved(found.top), rest=moved(found.rest))
