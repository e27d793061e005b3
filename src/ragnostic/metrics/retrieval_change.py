"""Whether retrieval gives what it gave before: two rankings of one query at two times."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragnostic.metrics.consistency import rank_biased_overlap
from ragnostic.metrics.inputs import Columns
from ragnostic.metrics.registry import signal

Before = Sequence[str] | None
"""A ranking of an earlier time; None where the query was not asked then."""


@signal(
    "RetrievalOverlap",
    section="8",
    formula="|A ∩ B| ÷ |A ∪ B| of the top tens of today and the day before",
    purpose="does retrieval still find the same chunks: silent changes of index or model show",
    needs="rankings of two days: ragnostic sentinel --retrieval",
    write="RetrievalOverlap@10",
)
def retrieval_overlap(pairs: Sequence[tuple[Before, Sequence[str]]], *, k: int = 10) -> Columns:
    """Jaccard of the two top-k sets; 1: nothing has changed. Range [0, 1].

    Unlike RCS (METRICS 8), short lists have a value: the candidates were not given, so nothing is
    1 by construction. NaN where there is no ranking of before, and where both are empty.

    >>> pairs = [(["a", "b"], ["b", "c"]), (["a"], ["a"]), (None, ["a"]), ([], []), ([], ["a"])]
    >>> retrieval_overlap(pairs).value.round(4).tolist()
    [0.3333, 1.0, nan, nan, 0.0]
    """
    return Columns(np.array([_jaccard(a, b, k) for a, b in pairs], dtype=np.float64))


def _jaccard(before: Before, now: Sequence[str], k: int) -> float:
    first, second = set((before or ())[:k]), set(now[:k])
    if before is None or not first | second:
        return float("nan")
    return len(first & second) / len(first | second)


@signal(
    "RetrievalRBO",
    section="8",
    formula="rank-biased overlap of the top tens of today and the day before, extrapolated",
    purpose="the same, and does it find them in the same order",
    needs="rankings of two days: ragnostic sentinel --retrieval",
    write="RetrievalRBO(p=0.9)@10",
)
def retrieval_rank_overlap(
    pairs: Sequence[tuple[Before, Sequence[str]]], *, k: int = 10, p: float = 0.9
) -> Columns:
    """RBO(p)@k of the two rankings, as METRICS 8 defines it for rerankings. Range [0, 1].

    NaN where there is no ranking of before, and where both are empty.

    >>> pairs = [(["a", "b"], ["a", "b"]), (["a"], ["b"]), (None, ["a"])]
    >>> retrieval_rank_overlap(pairs).value.round(6).tolist()
    [1.0, 0.0, nan]
    """
    values = rank_biased_overlap([(before or (), now) for before, now in pairs], k=k, p=p).value
    asked = np.array([before is not None for before, _ in pairs], dtype=np.bool_)
    return Columns(np.where(asked, values, np.nan))
