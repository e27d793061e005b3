"""Turns what a caller names as one side of a comparison into values a query.

A side is a run folder, a run or an evaluation in memory, values a query, or with qrels a run as
:func:`ragnostic.evaluate` takes it; a list of those is one system measured several times.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from ragnostic.errors import Fault, UsageError
from ragnostic.evalset.grouping import ScoreOrder
from ragnostic.evalset.qrels import Qrels
from ragnostic.metrics import Metric
from ragnostic.metrics.registry import mean
from ragnostic.offline.evaluation import Evaluation, evaluate
from ragnostic.offline.files_run import run_of_files
from ragnostic.offline.given_values import sides_of_values
from ragnostic.offline.run_folder import META
from ragnostic.offline.run_source import RunSource, folder_source, memory_source
from ragnostic.offline.sides import columns_of, side_of_evaluation, side_of_source
from ragnostic.report.run import RunData
from ragnostic.scoring.plan import Missing
from ragnostic.stats.sides import Side, average_sides

Show = Callable[[Sequence[str]], RunData]
"""Query ids → the run with these queries only, in full."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What of both sides is read. ``metrics`` None: those that a side is about.

    ``gate_metrics`` are read beside them; ``stages`` beside the final one.
    """

    metrics: tuple[str, ...] | None
    gate_metrics: tuple[str, ...] = ()
    stages: tuple[str, ...] = ()
    qrels: Qrels | None = None
    missing: Missing = "zero"
    score_order: ScoreOrder = "similarity"


@dataclass(frozen=True, slots=True)
class OneRun:
    """One run of a side. ``metrics`` are those it is about; ``asked`` its questions, as far as
    it knows them, ``columns`` what they are sliced by; ``bare`` metrics with a mean only.
    """

    side: Side
    metrics: tuple[str, ...]
    place: str
    source: RunSource | None = None
    asked: pa.Table | None = None
    columns: Mapping[str, pa.Array] | None = None
    show: Show | None = None
    faults: tuple[Fault, ...] = ()
    bare: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Loaded:
    """One side: its values, averaged over the ``runs`` that measured it."""

    side: Side
    runs: tuple[OneRun, ...]

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that every run is about, in the order of the first."""
        return tuple(
            name for name in self.runs[0].metrics if all(name in run.metrics for run in self.runs)
        )

    @property
    def sources(self) -> list[RunSource]:
        """The runs that know their settings and questions."""
        return [run.source for run in self.runs if run.source is not None]

    @property
    def show(self) -> Show | None:
        """How to see single queries: as the first run that can show them has them."""
        return next((run.show for run in self.runs if run.show is not None), None)

    @property
    def places(self) -> tuple[str, ...]:
        """Where the runs lie: equal for two sides that are the same."""
        return tuple(run.place for run in self.runs)


def _in_memory(given: object) -> str:
    return f"memory {id(given)}"


def load_side(given: Any, name: str, wanted: Wanted, before: Sequence[OneRun] = ()) -> Loaded:
    """One side of a comparison. ``name`` is for what has no name of its own; ``before`` are runs
    of the other side, whose slices serve again where the questions are the same.

    Raises UsageError for what cannot be a side, DataError for what cannot be read.
    """
    parts = list(given) if isinstance(given, list | tuple) else [given]
    if not parts:
        raise UsageError(f"{name}: the list of runs is empty")
    runs: list[OneRun] = []
    for number, part in enumerate(parts, 1):
        own = name if len(parts) == 1 else f"{name} {number}"
        runs += _runs(part, own, wanted, [*before, *runs])
    return Loaded(average_sides(_alike([run.side for run in runs])), tuple(runs))


def _alike(sides: Sequence[Side]) -> list[Side]:
    """The sides with the values that all of them have."""
    return [
        replace(
            side,
            values={
                key: values
                for key, values in side.values.items()
                if all(key in other.values for other in sides)
            },
        )
        for side in sides
    ]


def _runs(given: Any, name: str, wanted: Wanted, before: Sequence[OneRun]) -> list[OneRun]:
    if wanted.qrels is not None:
        return [_of_ranking(given, name, wanted, wanted.qrels)]
    if isinstance(given, Evaluation):
        metrics = tuple(str(metric) for metric in given.scored.plan.metrics)
        side = side_of_evaluation(name, given)
        return [OneRun(side, metrics, faults=given.warnings, place=_in_memory(given))]
    if isinstance(given, Mapping):
        return [
            OneRun(
                found.side,
                tuple(found.side.metrics_of(found.side.final_stage)),
                place=_in_memory(given),
                bare=found.bare,
            )
            for found in sides_of_values(given, name)
        ]
    if isinstance(given, RunData):
        return [_of_source(memory_source(given, name), wanted, before)]
    if isinstance(given, str | Path):
        return [_of_source(folder_source(_folder(Path(given))), wanted, before)]
    raise UsageError(
        f"{name}: cannot compare a {type(given).__name__}",
        hint="give a run folder, an evaluation, values by metric and query, or rankings with qrels",
    )


def _folder(path: Path) -> Path:
    if path.is_file():
        raise UsageError(
            f"{path} is a file, not a run folder",
            hint="rankings in files are compared with their judgments: give qrels too",
        )
    if not (path / META).is_file():
        raise UsageError(f"{path} is no run folder: it has no {META}")
    return path


def _of_source(source: RunSource, wanted: Wanted, before: Sequence[OneRun]) -> OneRun:
    asked = source.asked()
    about = tuple(name for name in source.metrics if _is_mean(name))
    metrics = wanted.metrics or about
    names = tuple(dict.fromkeys((*metrics, *wanted.gate_metrics))) if metrics else None
    stages = dict.fromkeys((*wanted.stages, *source.stages[-1:]))
    columns = next((run.columns for run in before if _same(run.asked, asked)), None)
    columns = columns_of(asked) if columns is None else columns
    side = side_of_source(source, tuple(stages), names, columns=columns)
    return OneRun(
        side,
        about or tuple(side.metrics_of(side.final_stage)),
        source=source,
        asked=asked,
        columns=columns,
        show=source.shown,
        place=source.place,
    )


def _same(before: pa.Table | None, asked: pa.Table) -> bool:
    return before is not None and before.equals(asked)


def _is_mean(name: str) -> bool:
    return Metric.parse(name).definition.reduce is mean


def _of_ranking(given: Any, name: str, wanted: Wanted, qrels: Qrels) -> OneRun:
    metrics = tuple(dict.fromkeys((*(wanted.metrics or ()), *wanted.gate_metrics)))
    found = evaluate(qrels, given, metrics, missing=wanted.missing, score_order=wanted.score_order)
    path = Path(given) if isinstance(given, str | Path) else getattr(given, "path", None)
    named = str(path) if path else name
    side = side_of_evaluation(named, found)

    def show(query_ids: Sequence[str]) -> RunData:
        return run_of_files(named, qrels, given, found, query_ids, score_order=wanted.score_order)

    known = {(fault.kind, fault.message) for fault in qrels.faults}
    own = [fault for fault in found.warnings if (fault.kind, fault.message) not in known]
    return OneRun(
        side,
        metrics,
        show=show,
        faults=tuple(replace(fault, where=fault.where or named) for fault in own),
        place=str(path.resolve()) if path else _in_memory(given),
    )
