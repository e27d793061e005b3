"""A stage's scores beside its rankings: what the metrics of METRICS 9 read."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ragnostic.metrics.inputs import Results
from ragnostic.scoring.plan import ScoreOrder
from ragnostic.scoring.rankings import Rankings, flat


def results(column: pa.StructArray, ranked: Rankings, order: ScoreOrder) -> Results:
    """The scores of the rankings of a stage column, higher is better whatever their ``order``.

    Duplicates and what lies behind ``top_k`` are out, as they are out of ``ranked``. A score that
    is null or NaN is none.
    """
    scores = np.full(ranked.hashes.shape, -np.inf)
    members = {f.name: at for at, f in enumerate(column.type)}
    if "scores" in members:
        # flatten() hands the struct's own nulls down to its members.
        lists = column.flatten()
        values, starts, lengths = flat(lists[members["scores"]].cast(pa.list_(pa.float64())))
        _, id_starts, _ = flat(lists[members["ids"]])
        place = ranked.positions - id_starts[:, None]
        known = ranked.inside & (place >= 0) & (place < lengths[:, None])
        where = (starts[:, None] + place)[known]
        numbers = np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)[where]
        numbers = -numbers if order == "distance" else numbers
        scores[known] = np.where(np.isnan(numbers), -np.inf, numbers)
    scored = np.asarray((scores > -np.inf).any(axis=1))
    return Results(scores, ranked.lengths, scored, ranks_only=order == "rank")
