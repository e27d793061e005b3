"""How long retrieval took, stage by stage, and what it was measured by (METRICS 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.metrics.inputs import Floats

STAGES, REQUEST, NEGATIVE, MISSING = "stages", "request", "negative", "missing"
ORIGINS = (STAGES, REQUEST, NEGATIVE, MISSING)


@dataclass(frozen=True, slots=True)
class Latency:
    """``seconds`` (n,): NaN where unknown. ``origin`` (n,): what each is, see :data:`ORIGINS`."""

    seconds: Floats
    origin: pa.Array


def latencies(batch: pa.RecordBatch, stages: Sequence[str]) -> Mapping[str, Latency]:
    """Seconds from the start of retrieval to the end of each stage; ``stages`` in their order.

    The sum of ``took_ms`` of the stages up to that one; of a record without any stage time the
    whole request's ``latency_ms`` (origin ``request``). A stage that a record does not have costs
    nothing. A negative duration is a fault, and so is a stage without one where others have it:
    both leave the seconds unknown.
    """
    took = {stage: _numbers(_member(batch[stage], "took_ms")) for stage in stages}
    had = {stage: batch[stage].is_valid().to_numpy(zero_copy_only=False) for stage in stages}
    whole = _numbers(batch["latency_ms"]) if "latency_ms" in batch.schema.names else None
    by_stage = np.zeros(len(batch), dtype=np.bool_)
    for stage in stages:
        by_stage |= ~np.isnan(took[stage])
    request = np.full(len(batch), np.nan) if whole is None else whole
    total = np.zeros(len(batch))
    negative = np.zeros(len(batch), dtype=np.bool_)
    found: dict[str, Latency] = {}
    for stage in stages:
        total = total + np.where(had[stage], took[stage], 0.0)
        negative = negative | (took[stage] < 0)
        found[stage] = _latency(np.where(by_stage, total, request), negative, by_stage)
    return found


def _latency(
    milliseconds: Floats, negative: npt.NDArray[np.bool_], by_stage: npt.NDArray[np.bool_]
) -> Latency:
    negative = negative | (milliseconds < 0)
    missing = ~np.isfinite(milliseconds)
    codes = np.where(by_stage, 0, 1)
    codes[missing] = 3
    codes[negative] = 2
    known = np.where(negative | missing, np.nan, milliseconds)
    return Latency(known / 1000, pa.array(ORIGINS).take(pa.array(codes)))


def _member(column: pa.StructArray, name: str) -> pa.Array:
    index = column.type.get_field_index(name)
    return pa.nulls(len(column)) if index < 0 else column.flatten()[index]


def _numbers(column: pa.Array) -> npt.NDArray[Any]:
    filled = pc.fill_null(column.cast(pa.float64()), np.nan)
    return np.asarray(filled.to_numpy(zero_copy_only=False), dtype=np.float64)
