"""What is measured of live traffic: the metrics of every record, and the signals beside them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from ragnostic.errors import RagnosticError, UsageError
from ragnostic.metrics import Metric

QER_DEPTH = 5
"""The cutoff of QER (METRICS 6)."""
RCS_DEPTH = 10
"""The cutoff of RCS and RBO (METRICS 8), and of what retrieval is compared by."""
CURVE_DEPTH = 100

QER = f"QER@{QER_DEPTH}"
RDS = "RDS"
RDS_NORM = "RDS(norm=random)"
RCS = f"RCS@{RCS_DEPTH}"
RBO = f"RBO(p=0.9)@{RCS_DEPTH}"
OVERLAP = f"RetrievalOverlap@{RCS_DEPTH}"
OVERLAP_RBO = f"RetrievalRBO(p=0.9)@{RCS_DEPTH}"
CURVE = f"RecallCurve@{CURVE_DEPTH}"
USED = f"used@{QER_DEPTH}"
SIGNALS = (QER, RDS, RDS_NORM, RCS, RBO, OVERLAP, OVERLAP_RBO)
"""Signals that are no mean over rankings; always computed, and named like metrics."""

DEFAULT_METRICS = tuple(
    Metric.parse(name)
    for name in (
        *("RR(weight=soft)@5", "RR@5", "AP@10", "nDCG@10"),
        *(f"R@{k}" for k in (1, 3, 5, 10, 20, 50, 100)),
    )
)
_NAMES = {name.lower(): name for name in SIGNALS} | {
    "qer": QER,
    "rcs": RCS,
    "rbo": RBO,
    f"rbo@{RCS_DEPTH}": RBO,
    "overlap": OVERLAP,
    f"overlap@{RCS_DEPTH}": OVERLAP,
    "retrievaloverlap": OVERLAP,
    "retrievalrbo": OVERLAP_RBO,
    f"retrievalrbo@{RCS_DEPTH}": OVERLAP_RBO,
}


@dataclass(frozen=True, slots=True)
class Selection:
    """Metrics of rankings, and signals, as somebody asked for them."""

    metrics: tuple[Metric, ...] = DEFAULT_METRICS
    signals: tuple[str, ...] = SIGNALS

    @classmethod
    def of(cls, names: Iterable[str]) -> Self:
        """From single names; raises UsageError naming every one that is not measured here.

        >>> found = Selection.of(["mrr@5", "qer"])
        >>> [str(metric) for metric in found.metrics], found.signals
        (['RR@5'], ('QER@5',))
        """
        metrics: list[Metric] = []
        signals: list[str] = []
        faults: list[RagnosticError] = []
        for name in names:
            try:
                found = check_live_metric(name)
            except RagnosticError as error:
                faults.append(error)
                continue
            if isinstance(found, Metric):
                metrics.append(found)
            else:
                signals.append(found)
        if len(faults) > 1:
            raise UsageError("\n".join(map(str, faults)))
        if faults:
            raise faults[0]
        return cls(tuple(dict.fromkeys(metrics)), tuple(dict.fromkeys(signals)))

    @classmethod
    def parse(cls, text: str) -> Self:
        """From a comma-separated list; commas inside parentheses belong to the name.

        >>> Selection.parse("nDCG(gain=exp,judged_only=True)@10,RDS").signals
        ('RDS',)
        """
        names = [part.strip() for part in re.split(r",(?![^()]*\))", text) if part.strip()]
        if not names:
            raise UsageError("no metric is named", hint='for example: --metrics "RR@5,QER@5"')
        return cls.of(names)


def check_live_metric(name: str) -> Metric | str:
    """A metric, or the full name of a signal; raises UsageError for what live traffic has not.

    >>> str(check_live_metric("map@10")), check_live_metric("rds")
    ('AP@10', 'RDS')
    """
    signal = _NAMES.get(name.strip().lower())
    if signal is not None:
        return signal
    metric = Metric.parse(name)
    definition = metric.definition
    if definition.curve:
        raise UsageError(f"{metric} is a curve; it is always there, and has no one mean")
    if definition.on != "answerable":
        raise UsageError(
            f"{metric} needs queries that are marked unanswerable, which live traffic has not",
            hint="measure it on an evaluation set: ragnostic eval",
        )
    return metric
