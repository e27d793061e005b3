"""Recall below the logged depth is not low, it is not measurable (METRICS 13)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.metrics import Metric
from ragnostic.metrics.inputs import Floats


@dataclass(frozen=True, slots=True)
class Depth:
    """How deep rows of one stage were asked for.

    ``asked`` (n,): ``top_k``, and where it was not logged the deepest ranking of all such rows.
    ``unlogged`` (n,): where it was not. ``logged``: that deepest ranking, 0 without such rows.
    """

    asked: Floats
    unlogged: npt.NDArray[np.bool_]
    logged: int

    @classmethod
    def of(cls, top_k: Floats, results: Floats) -> Depth:
        """From the columns of *scores*, NaN where null.

        >>> Depth.of(np.array([10.0, np.nan, np.nan]), np.array([9.0, 3.0, 5.0])).asked.tolist()
        [10.0, 5.0, 5.0]
        """
        unlogged = np.isnan(top_k)
        logged = int(np.nan_to_num(results[unlogged]).max(initial=0))
        return cls(np.where(unlogged, logged, top_k), unlogged, logged)

    def unknowable(self, metric: Metric) -> npt.NDArray[np.bool_]:
        """The rows whose recall at this cutoff nobody can know; (n,)."""
        is_deeper = metric.name == "R" and (metric.cutoff or 0) > self.logged
        return self.unlogged & is_deeper


def with_measurable(rows: pa.Table, metrics: Iterable[Metric], depth: Depth) -> pa.Table:
    """The rows, with recall null where it is not measurable: row by row, whatever others logged."""
    for metric in metrics:
        unknowable = depth.unknowable(metric)
        if unknowable.any():
            place = rows.schema.get_field_index(str(metric))
            nothing = pa.scalar(None, rows.schema.field(place).type)
            column = pc.if_else(pa.array(unknowable), nothing, rows[str(metric)])
            rows = rows.set_column(place, str(metric), column)
    return rows
