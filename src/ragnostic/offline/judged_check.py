"""Whether a comparison has anything to stand on: judged queries that were answered."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.errors import UsageError
from ragnostic.offline.compare_checks import some_ids
from ragnostic.scoring.plan import Missing
from ragnostic.stats.pairing import pair_queries
from ragnostic.stats.sides import Side

Bools = npt.NDArray[np.bool_]
Place = tuple[Side, str]
"""A side and the stage of it that is compared."""

_UNANSWERED = pa.array(["missing", "unjudged"])


def check_judged(base: Place, candidate: Place, missing: Missing = "zero") -> None:
    """Raise UsageError where the sides share queries and none of them is judged and answered.

    Zeros against zeros would keep to any gate. Answered means by either side, as a query that one
    side lacks scores 0 there; with ``skip`` by both, as there is no pair otherwise.
    """
    sides = (base, candidate)
    pairing = pair_queries(base[0], candidate[0])
    if any(stage not in side.statuses for side, stage in sides) or not len(pairing.query_ids):
        return
    answered = [
        _answered(*place)[rows]
        for place, rows in zip(sides, (pairing.base, pairing.candidate), strict=True)
    ]
    pairs = answered[0] & answered[1] if missing == "skip" else answered[0] | answered[1]
    if pairs.any():
        return
    without = [side for side, own in zip(sides, answered, strict=True) if not own.any()]
    if len(without) == 1:
        said = f"no query of {without[0][0].name} is judged"
    elif without:
        said = "no query of either run is judged"
    else:
        said = "no judged query has results in both runs"
    ids = dict.fromkeys(f"{side.name} has {_own_ids(side, stage)}" for side, stage in sides)
    judged = "; ".join([f"judged are {_judged_ids(*base)}", *ids])
    raise UsageError(
        f"{said}, so there is nothing to compare: {judged}",
        hint="query ids of runs and judgments must be the same text",
    )


def _answered(side: Side, stage: str) -> Bools:
    """Queries with a judgment and results; where a stage says nothing of a query, it may have."""
    return ~_rows(side, stage, _UNANSWERED)


def _own_ids(side: Side, stage: str) -> str:
    """The queries that a run has results for."""
    return _some(side, ~_rows(side, stage, pa.array(["missing"])))


def _judged_ids(side: Side, stage: str) -> str:
    return _some(side, ~_rows(side, stage, pa.array(["unjudged"])))


def _rows(side: Side, stage: str, statuses: pa.Array) -> Bools:
    found = pc.is_in(side.statuses[stage], value_set=statuses)
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.bool_)


def _some(side: Side, rows: Bools) -> str:
    return some_ids(side.query_ids.filter(pa.array(rows)).to_pylist()) or "none"
