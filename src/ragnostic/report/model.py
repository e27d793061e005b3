"""From a run to a page: :func:`build_page` (pure, no HTML, no language)."""

from __future__ import annotations

from ragnostic.report.account import read_account
from ragnostic.report.answer_link import answer_link
from ragnostic.report.cases import CaseReader
from ragnostic.report.measures import losses, metric_rows, page_cutoff, stage_facts, verdict
from ragnostic.report.notes import fact_tables, fault_groups, header
from ragnostic.report.outcomes import read_outcomes
from ragnostic.report.page import Page
from ragnostic.report.picks import changed_queries, worst_queries
from ragnostic.report.robustness import read_robustness
from ragnostic.report.run import RunData
from ragnostic.report.scorebook import ScoreBook
from ragnostic.report.sets import evaluation_sets
from ragnostic.report.shapes import curves, rank_bars, score_bars, slices
from ragnostic.report.unanswerable import read_unanswerable

__all__ = ["Page", "RunData", "build_page"]

MAIN_METRICS = 4


def build_page(run: RunData, worst: int = 20) -> Page:
    """Everything a report says about ``run``, as data.

    ``worst`` is how many of the worst queries are shown in full, at most 200. Works for a run of
    one stage, without texts, judgments, latencies or queries; what is absent is absent on the page.
    """
    stages = run.stages
    book = ScoreBook(run)
    cutoff = page_cutoff(run, book)
    outcomes = read_outcomes(run, cutoff)
    telling = book.telling(stages[-1]) if stages else ()
    focus = telling[0] if telling else None
    rows = metric_rows(run, book)
    facts = stage_facts(run)
    fates = losses(run, book, outcomes, cutoff)
    reader = CaseReader(run, book, cutoff)
    return Page(
        header=header(run),
        cutoff=cutoff,
        verdict=verdict(outcomes, rows, fates, telling, facts),
        metrics=rows,
        stages=facts,
        losses=fates,
        curves=curves(run),
        scores=score_bars(book, stages, focus),
        scores_metric=focus,
        ranks=rank_bars(outcomes, stages),
        slices=slices(run, book, telling[:MAIN_METRICS]),
        changes=changed_queries(reader, book, outcomes, stages, focus),
        worst=worst_queries(reader, book, outcomes, stages[-1] if stages else "", worst),
        faults=fault_groups(run),
        facts=fact_tables(run),
        sets=evaluation_sets(run, book),
        robustness=read_robustness(run),
        account=read_account(run, book),
        unanswerable=read_unanswerable(run),
        answers=answer_link(run),
    )
