"""A run with two evaluation sets, made from one that has none."""

from __future__ import annotations

import dataclasses
from typing import Any

from ragnostic.report.run import RunData
from ragnostic.report.scorebook import ScoreBook


def _summary(mean: float | None, n: int = 30) -> dict[str, Any]:
    if mean is None:
        return {"mean": None, "n": 0, "low": None, "high": None}
    return {"mean": mean, "n": n, "low": mean - 0.1, "high": mean + 0.1}


def with_sets(
    run: RunData, gap_low: float, names: tuple[str, str] = ("z<frozen>", "a fresh")
) -> RunData:
    """The run with two sets, as run.json holds them: keys sorted, gaps listed."""
    stage, first, other = run.stages[-1], *names
    metrics = ScoreBook(run).metrics()
    sets = {
        name: {
            "queries": 40,
            "answerable": 38,
            "stages": {stage: {metric: _summary(mean) for metric in metrics}},
        }
        for name, mean in sorted(((first, 0.8), (other, 0.6)))
    }
    gaps = [
        {
            "set": first,
            "against": other,
            "metric": metric,
            "stage": stage,
            "difference": 0.2,
            "low": gap_low,
            "high": 0.4 - gap_low,
        }
        for metric in metrics
    ]
    dataset = {"set": [{"name": name, "path": "x"} for name in names]}
    settings = {**run.meta["settings"], "dataset": dataset}
    meta = {**run.meta, "settings": settings, "sets": sets, "set_gaps": gaps}
    return dataclasses.replace(run, meta=meta)
