"""Per-query scores of a run, by stage and metric."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow.compute as pc

from ragnostic.metrics.registry import lookup
from ragnostic.report.run import RunData, mapping

Values = dict[str, float]

_NAME = re.compile(r"(?P<family>[A-Za-z0-9_]+)(?P<parameters>\(.*\))?(?:@(?P<cutoff>\d+))?\Z")
_TELLING = ("nDCG", "AP", "RR", "F1", "R", "P", "Success")
"""Families from the one that tells most about a single query to the one that tells least."""


@dataclass(frozen=True, slots=True)
class MetricName:
    """A full metric name in its parts: ``nDCG(gain=exp)@10``."""

    full: str
    family: str
    parameters: str = ""
    cutoff: int | None = None

    @classmethod
    def of(cls, full: str) -> MetricName:
        """Parts of ``full``; a name of another shape is all family.

        >>> MetricName.of("nDCG(gain=exp)@10")
        MetricName(full='nDCG(gain=exp)@10', family='nDCG', parameters='(gain=exp)', cutoff=10)
        """
        found = _NAME.match(full)
        if found is None:
            return cls(full, full)
        cutoff = found["cutoff"]
        return cls(
            full, found["family"], found["parameters"] or "", int(cutoff) if cutoff else None
        )


class ScoreBook:
    """Scores of a run: ``values("rerank", "nDCG@5")[record_id]``; undefined ones are absent."""

    def __init__(self, run: RunData) -> None:
        self._run = run
        self._values: dict[tuple[str, str], Values] = {}
        self._statuses: dict[str, dict[str, str]] = {}

    def metrics(self) -> tuple[str, ...]:
        """All metric names: as the settings list them, then others as the run has them."""
        if not self._run.stages:
            return ()
        known = list(mapping(self._run.stage_meta(self._run.stages[-1]).get("metrics")))
        if not known and "metric" in self._run.scores.schema.names:
            known = [str(name) for name in pc.unique(self._run.scores["metric"]).to_pylist()]
        listed = mapping(mapping(self._run.meta.get("settings")).get("score")).get("metrics")
        asked = [name for name in _strings(listed) if name in known]
        return tuple(dict.fromkeys([*asked, *known]))

    def values(self, stage: str, metric: str) -> Values:
        """Defined values of one stage and metric, by record id."""
        key = (stage, metric)
        if key not in self._values:
            self._values[key] = self._read(stage, metric)
        return self._values[key]

    def statuses(self, stage: str) -> dict[str, str]:
        """Status of every record of one stage, by record id."""
        if stage not in self._statuses:
            rows = self._rows(stage)
            self._statuses[stage] = {str(key): str(status) for key, _, _, status in rows}
        return self._statuses[stage]

    def telling(self, stage: str) -> tuple[str, ...]:
        """Metrics from the one that tells single queries apart best; constant ones come last.

        The first one ranks the worst queries.
        """

        def order(name: str) -> tuple[bool, int]:
            values = self.values(stage, name).values()
            family = MetricName.of(name).family
            constant = not values or max(values) - min(values) < 1e-9
            return constant, _TELLING.index(family) if family in _TELLING else len(_TELLING)

        return tuple(sorted(filter(_of_one_query, self.metrics()), key=order))

    def _read(self, stage: str, metric: str) -> Values:
        return {
            str(key): float(value)
            for key, name, value, _ in self._rows(stage, metric)
            if name == metric and value is not None and math.isfinite(value)
        }

    def _rows(
        self, stage: str, metric: str | None = None
    ) -> Iterable[tuple[object, object, float | None, object]]:
        scores = self._run.scores
        if not {"query_id", "stage", "metric", "value"} <= set(scores.schema.names):
            return ()
        wanted = pc.equal(scores["stage"], stage)
        if metric is not None:
            wanted = pc.and_(wanted, pc.equal(scores["metric"], metric))
        part = scores.filter(wanted)
        keys = part["query_id"].to_pylist()
        if "record_id" in part.schema.names:
            records = part["record_id"].to_pylist()
            keys = [record or query for record, query in zip(records, keys, strict=True)]
        status = part["status"].to_pylist() if "status" in part.schema.names else ["ok"] * len(keys)
        return zip(keys, part["metric"].to_pylist(), part["value"].to_pylist(), status, strict=True)


def _of_one_query(metric: str) -> bool:
    """Whether a metric tells how well an answerable query fared."""
    definition = lookup().get(MetricName.of(metric).family.lower())
    return definition is None or definition.on == "answerable"


def _strings(value: object) -> list[str]:
    return [str(entry) for entry in value] if isinstance(value, list | tuple) else []
