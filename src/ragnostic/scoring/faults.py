"""Data faults of rankings: counted, named, never silently repaired (METRICS 1.2, 1.3, 1.6)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ragnostic.errors import Fault, counted
from ragnostic.scoring.rankings import Rankings

NAMED = 20
"""Examples that a message names; the count is always exact."""

_TEXTS = {
    "duplicate_retrieved": "chunk id came back twice in one ranking (kept at its first place)",
    "null_retrieved_id": "null id among the results (keeps its rank as unjudged)",
    "empty_retrieved_id": "empty id among the results (keeps its rank as unjudged)",
    "more_results_than_top_k": "more results than top_k asked for (cut at top_k)",
}


def ranking_faults(
    batch: pa.RecordBatch, stage: str, top_k: npt.NDArray[np.float64], ranked: Rankings
) -> list[Fault]:
    """One fault a query and kind, with the ids concerned."""
    found = [
        (row, "duplicate_retrieved", f"id {ranked.strings.bytes_at(position).decode()}")
        for row, position in ranked.duplicates
    ]
    if ranked.strings.missing.any():
        absent = ranked.inside & ranked.strings.missing[ranked.positions]
        for row, place in np.argwhere(absent).tolist():
            known = ranked.ids[ranked.positions[row, place]].is_valid
            kind = "empty_retrieved_id" if known else "null_retrieved_id"
            found.append((row, kind, f"rank {place + 1}"))
    column = batch[stage]
    lists = column.flatten()[column.type.get_field_index("ids")]
    lengths = lists.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    for row in np.flatnonzero(lengths > top_k).tolist():
        detail = f"{counted(int(lengths[row]), 'result')} for top_k {int(top_k[row])}"
        found.append((row, "more_results_than_top_k", detail))
    queries = batch["query_id"]
    return [Fault(kind, detail, ids=(str(queries[row]),)) for row, kind, detail in found]


def merged(faults: Iterable[Fault], stage: str = "") -> list[Fault]:
    """Faults of one kind as one, with the exact count and the first examples named.

    >>> twice = [Fault("duplicate_retrieved", "id A", ids=(q,)) for q in ("q1", "q2")]
    >>> print(merged(twice)[0].message)  # doctest: +ELLIPSIS
    2 × chunk id came back twice in one ranking (kept at its first place): q1 (id A), q2 (id A)
    """
    groups: dict[str, list[Fault]] = defaultdict(list)
    for fault in faults:
        groups[fault.kind].append(fault)
    # In one order, however the records were cut into batches.
    return [_merged(kind, groups[kind], stage) for kind in _TEXTS if kind in groups]


def _merged(kind: str, group: list[Fault], stage: str) -> Fault:
    count = sum(fault.count for fault in group)
    named = ", ".join(f"{fault.ids[0]} ({fault.message})" for fault in group[:NAMED])
    more = f" and {len(group) - NAMED} more" if len(group) > NAMED else ""
    prefix = f"{stage}: " if stage else ""
    ids = tuple(dict.fromkeys(fault.ids[0] for fault in group))
    return Fault(kind, f"{prefix}{count} × {_TEXTS[kind]}: {named}{more}", ids=ids, count=count)
