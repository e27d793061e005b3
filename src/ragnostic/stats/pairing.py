"""Which queries two sides share, and where they stand (METRICS 11)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.stats.score_blocks import Rows
from ragnostic.stats.sides import Side


@dataclass(frozen=True, slots=True)
class Pairing:
    """Where the queries of both sides stand: row i of one is the query of row i of the other."""

    query_ids: pa.Array
    base: Rows
    candidate: Rows
    only_base: pa.Array
    only_candidate: pa.Array


def pair_queries(base: Side, candidate: Side) -> Pairing:
    """Pairs of the queries that both sides have, in the order of the base.

    >>> from ragnostic.stats.sides import side_from_values
    >>> one = side_from_values("a", {"AP": {"q1": 1.0, "q2": 0.5}})
    >>> two = side_from_values("b", {"AP": {"q3": 1.0, "q2": 0.5}})
    >>> found = pair_queries(one, two)
    >>> found.query_ids.to_pylist(), found.base.tolist(), found.candidate.tolist()
    (['q2'], [1], [1])
    """
    none = pa.array([], pa.string())
    if base.query_ids.equals(candidate.query_ids):
        same = np.arange(len(base.query_ids))
        return Pairing(base.query_ids, same, same, none, none)
    seats = pc.index_in(base.query_ids, value_set=candidate.query_ids)
    shared = np.asarray(seats.is_valid().to_numpy(zero_copy_only=False), dtype=np.bool_)
    base_rows = np.flatnonzero(shared)
    candidate_rows = seats.drop_null().to_numpy().astype(np.int64)
    alone = np.ones(len(candidate.query_ids), dtype=np.bool_)
    alone[candidate_rows] = False
    return Pairing(
        query_ids=base.query_ids.take(pa.array(base_rows)),
        base=base_rows,
        candidate=candidate_rows,
        only_base=base.query_ids.take(pa.array(np.flatnonzero(~shared))),
        only_candidate=candidate.query_ids.take(pa.array(np.flatnonzero(alone))),
    )
