"""What to score: metrics, stage, and how to treat what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ragnostic.metrics import Metric
from ragnostic.scoring.judgments import FACETS, OVERALL
from ragnostic.scoring.lookup import IdIndex

Missing = Literal["zero", "skip"]
ScoreOrder = Literal["similarity", "distance", "rank"]


@dataclass(frozen=True)
class ChunkTokens:
    """Token counts of chunks by id, for ``R(budget=…)`` and ``TokenPrecision``.

    ``gold``: (query id, chunk id) → tokens of the chunk that lie inside gold; a relevant chunk
    without an entry counts whole.
    """

    ids: IdIndex
    tokens: npt.NDArray[np.float64]
    gold: Mapping[tuple[str, str], float] = field(default_factory=dict)

    def of(self, ids: pa.Array) -> npt.NDArray[np.float64]:
        """Tokens of each id, NaN where the chunk is unknown."""
        place = self.ids.find(ids)
        return np.where(place >= 0, np.append(self.tokens, np.nan)[place], np.nan)


@dataclass(frozen=True)
class Plan:
    """The metrics to compute on one stage of a record batch.

    ``missing``: a query that was judged but has no ranking scores 0 (``zero``) or is left out
    (``skip``, trec_eval's way). ``curve_depth``: also compute the recall curve down to this depth
    (0: no curve). ``Judged@k`` is added for every cutoff of a graded metric (METRICS 1.9).
    ``score_order``: whether higher or lower scores are better, or they only encode a rank; read by
    the metrics of METRICS 9 alone.
    """

    metrics: tuple[Metric, ...]
    stage: str = "retrieve"
    missing: Missing = "zero"
    curve_depth: int = 0
    tokens: ChunkTokens | None = None
    score_order: ScoreOrder = "similarity"

    @property
    def companions(self) -> tuple[Metric, ...]:
        """Judged@k of every cutoff.

        >>> [str(m) for m in Plan((Metric.parse("nDCG@10"), Metric.parse("AP"))).companions]
        ['Judged@10']
        """
        cutoffs = sorted({m.cutoff for m in self.metrics if m.graded and m.cutoff})
        extra = [Metric("Judged", cutoff) for cutoff in cutoffs]
        return tuple(metric for metric in extra if metric not in self.metrics)

    @property
    def curve(self) -> Metric | None:
        """The recall curve's metric, if asked for."""
        return Metric("RecallCurve", self.curve_depth) if self.curve_depth else None

    @property
    def columns(self) -> tuple[Metric, ...]:
        """Every metric that becomes a column, in order."""
        curve = self.curve
        own = (*self.metrics, *self.companions)
        return own if curve is None or curve in own else (*own, curve)


def view_of(metric: Metric) -> str:
    """Which judgments a metric reads: overall, one facet, or the facets as items.

    >>> view_of(Metric.parse("nDCG(facet=basis)@10")), view_of(Metric.parse("coverage@5"))
    ('basis', '*')
    """
    definition = metric.definition
    if "facets" in definition.needs:
        return FACETS
    return str(metric.param("facet")) if "facet" in definition.params else OVERALL


def wants(metrics: tuple[Metric, ...], column: str) -> bool:
    """Whether any metric reads this optional column of the gains."""
    return any(_reads(metric, column) for metric in metrics)


def _reads(metric: Metric, column: str) -> bool:
    given: dict[str, Any] = dict(metric.params)
    if column in metric.definition.needs:
        return True
    if column == "weights":
        return given.get("weight") == "soft"
    return column == "tokens" and bool(given.get("budget"))
