"""Queries that the corpus cannot answer (METRICS 9)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ragnostic.metrics.inputs import Columns, Floats, Results
from ragnostic.metrics.registry import metric

Bools = npt.NDArray[np.bool_]


def placements(best: Floats, unanswerable: Bools) -> Floats:
    """Share of the queries of the other kind that each query is on the right side of; (n,).

    Ties count half. The mean over the queries of either kind is the AUROC (DeLong 1988). NaN
    everywhere where a kind is absent; queries with a NaN score are left out.

    >>> placements(np.array([0.9, 0.5, 0.7]), np.array([False, False, True])).tolist()
    [1.0, 0.0, 0.5]
    """
    known = ~np.isnan(best)
    found = np.full(len(best), np.nan)
    answered, other = np.sort(best[known & ~unanswerable]), np.sort(best[known & unanswerable])
    if answered.size and other.size:
        for rows, others, above in (
            (known & ~unanswerable, other, False),
            (known & unanswerable, answered, True),
        ):
            below = np.searchsorted(others, best[rows], "left")
            upto = np.searchsorted(others, best[rows], "right")
            share = (below + upto) / (2 * others.size)
            found[rows] = 1 - share if above else share
    return found


def contributions(best: Floats, unanswerable: Bools) -> Floats:
    """What each query adds to the AUROC: values whose mean is the AUROC, (n,).

    They are its influence values, placements stretched about the AUROC by the inverse share of
    their kind: the standard error of their mean is DeLong's, so that intervals and paired
    differences of a mean hold for the AUROC too. Single values may lie outside [0, 1].

    >>> contributions(np.array([0.9, 0.5, 0.7]), np.array([False, False, True])).tolist()
    [1.25, -0.25, 0.5]
    """
    return _stretched(placements(best, unanswerable), unanswerable, outward=True)


def placements_of(values: Floats, unanswerable: Bools) -> Floats:
    """The placements that :func:`contributions` were made from.

    >>> placements_of(np.array([1.25, -0.25, 0.5]), np.array([False, False, True])).tolist()
    [1.0, 0.0, 0.5]
    """
    return _stretched(values, unanswerable, outward=False)


def _stretched(values: Floats, unanswerable: Bools, *, outward: bool) -> Floats:
    known = ~np.isnan(values)
    if not known.any():
        return values
    middle = values[known].mean()
    result = values.copy()
    for rows in (known & ~unanswerable, known & unanswerable):
        if rows.any():
            share = rows.sum() / known.sum()
            result[rows] = middle + (values[rows] - middle) * (1 / share if outward else share)
    return result


@metric(
    "FalseRetrieval",
    section="9",
    formula="1 if a result of the top k scores at least t, else 0; without t: if there is any",
    purpose="How often is something returned for a query that the corpus cannot answer?",
    cutoff="required",
    params={"t": None},
    graded=False,
    higher_is_better=False,
    on="unanswerable",
)
def false_retrieval(results: Results, *, k: int, t: float | None = None) -> Columns:
    """1 where an unanswerable query has any result of the top ``k`` scoring at least ``t``.

    Without a threshold, or where a query's results carry no scores, any result is a false
    retrieval. NaN where the scores only encode a rank and a threshold is asked for. Range {0, 1}.
    Source: METRICS 9.

    >>> from ragnostic.metrics.inputs import results
    >>> false_retrieval(results([[0.3, 0.2], [0.9], []]), k=3, t=0.7).value.tolist()
    [0.0, 1.0, 0.0]
    >>> false_retrieval(results([[0.3, 0.2], [0.9], []]), k=3).value.tolist()
    [1.0, 1.0, 0.0]
    """
    any_result = results.lengths > 0
    if t is None:
        return Columns(any_result.astype(np.float64))
    reached = (results.scores[:, :k] >= t).any(axis=1) | (any_result & ~results.scored)
    return Columns(reached.astype(np.float64) if not results.ranks_only else _none(results))


@metric(
    "AUROC",
    section="9",
    formula="share of (answerable, unanswerable) pairs whose answerable query has the higher best "
    "score; ties count half",
    purpose="Can a threshold on the best score tell what the corpus cannot answer?",
    cutoff="none",
    graded=False,
    on="both",
    finish=contributions,
)
def best_score(results: Results) -> Columns:
    """The best score of each query; -inf for an empty result, which ranks lowest.

    A query with results but no scores has the same value as every other such query (+inf). NaN
    where the scores only encode a rank. The AUROC is made of it once all queries are there: each
    gets what it adds to the AUROC. Source: METRICS 9.

    >>> from ragnostic.metrics.inputs import results
    >>> best_score(results([[0.3, 0.4], []])).value.tolist()
    [0.4, -inf]
    """
    best = results.scores.max(axis=1, initial=-np.inf)
    best = np.where(results.scored, best, np.where(results.lengths > 0, np.inf, -np.inf))
    return Columns(_none(results) if results.ranks_only else best)


def _none(results: Results) -> Floats:
    return np.full(len(results), np.nan)
