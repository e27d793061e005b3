"""What a stage does with queries that the corpus cannot answer (METRICS 9)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.metrics import Metric
from ragnostic.metrics.inputs import Floats
from ragnostic.metrics.unanswerable import Bools, placements
from ragnostic.scoring import Plan, score, score_batch
from ragnostic.scoring.plan import Missing, ScoreOrder
from ragnostic.stats.auroc import delong_interval
from ragnostic.stats.intervals import wilson_interval
from ragnostic.stats.robustness import main_metric
from ragnostic.stats.summary import values_of

KEPT = 0.95
"""Share of the answerable queries that the threshold keeps."""
DEFAULT_CUTOFF = 5
RANKS = "the scores only encode a rank, so no threshold on them means anything"
NO_SCORES = "no score is logged, so any result is a false retrieval"
NO_ANSWERABLE = "no answerable query was retrieved for"
NONE_RETRIEVED = "no unanswerable query was retrieved for"
MANY_EMPTY = "more than one answerable query in twenty has no result, so no threshold keeps 95%"


def threshold(best: Floats, kept: float = KEPT) -> float | None:
    """The highest threshold that ``kept`` of the answerable queries reach with their best score.

    ``best`` (m,): -inf for an empty result. None where too many are empty, or there is no query.

    >>> threshold(np.array([0.9, 0.8, 0.7, 0.6]), kept=0.75)
    0.7
    """
    if not best.size:
        return None
    # A share of queries comes out of a division: 0.95 * 20 must be 19, not 20.
    place = math.ceil(round(kept * best.size, 9)) - 1
    found = float(np.sort(best)[::-1][place])
    return None if found == -math.inf else found


def unanswerable_summary(
    records: pa.Table,
    stage: str,
    metrics: Sequence[Metric],
    *,
    missing: Missing = "zero",
    score_order: ScoreOrder = "similarity",
) -> dict[str, Any] | None:
    """What run.json says of a stage's unanswerable queries; None where there are none.

    ``threshold`` is t*, which keeps 95 % of the answerable queries; ``false_retrieval`` the share
    of unanswerable ones with a result of the top ``k`` at or above it; ``any_result`` the share
    with any result at all; ``auroc`` that of the best score, with DeLong's interval. ``reason``
    says why a member is None. ``k`` is the cutoff of the main one of ``metrics``, else 5.
    """
    if not pc.any(pc.invert(records["answerable"])).as_py():
        return None
    plan = Plan((Metric("AUROC"),), stage, missing, score_order=score_order)
    best, marked = _best_scores(records, plan)
    main = main_metric(metrics)
    k = (main.cutoff if main else None) or DEFAULT_CUTOFF
    found, reason = _threshold(best[~marked], best[marked], score_order)
    empty = {"value": None, "n": 0, "low": None, "high": None}
    answered = reason in (None, NO_SCORES)
    return {
        "queries": int(pc.sum(pc.invert(records["answerable"])).as_py()),
        "answerable": int((~marked & ~np.isnan(best)).sum()),
        "k": k,
        "threshold": found,
        "false_retrieval": _share(records, plan, k, found) if answered else empty,
        "any_result": _share(records, plan, k, None),
        "auroc": _auroc(best, marked),
        "reason": reason,
    }


def _best_scores(records: pa.Table, plan: Plan) -> tuple[Floats, Bools]:
    """The best score of each query, NaN where it takes no part, and which are unanswerable."""
    batches = records.to_batches(max_chunksize=8192)
    table = pa.Table.from_batches([score_batch(batch, plan) for batch in batches])
    marked = pc.equal(table["status"], "unanswerable").to_numpy()
    return values_of(table, plan.metrics[0]), np.asarray(marked, dtype=np.bool_)


def _threshold(
    answerable: Floats, unanswerable: Floats, order: ScoreOrder
) -> tuple[float | None, str | None]:
    """t*, and why there is none."""
    if order == "rank":
        return None, RANKS
    if np.isnan(unanswerable).all():
        return None, NONE_RETRIEVED
    known = answerable[~np.isnan(answerable)]
    if not known.size:
        return None, NO_ANSWERABLE
    found = threshold(known)
    if found is None:
        return None, MANY_EMPTY
    # Results without scores stand at +inf.
    return (None, NO_SCORES) if math.isinf(found) else (found, None)


def _share(records: pa.Table, plan: Plan, k: int, t: float | None) -> dict[str, Any]:
    params = () if t is None else (("t", t),)
    metric = Metric("FalseRetrieval", k, params)
    scored = score(records, Plan((metric,), plan.stage, plan.missing, score_order=plan.score_order))
    values = values_of(scored.table, metric)
    known = values[~np.isnan(values)]
    if not known.size:
        return {"value": None, "n": 0, "low": None, "high": None}
    low, high = wilson_interval(float(known.mean()), known.size)
    return {"value": float(known.mean()), "n": int(known.size), "low": low, "high": high}


def _auroc(best: Floats, marked: Bools) -> dict[str, Any]:
    placed = placements(best, marked)
    known = ~np.isnan(placed)
    if not known.any():
        return {"value": None, "low": None, "high": None}
    low, high = delong_interval(placed[known], marked[known]) or (None, None)
    return {"value": float(placed[known].mean()), "low": low, "high": high}
