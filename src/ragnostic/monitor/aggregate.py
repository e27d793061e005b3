"""Any window of live traffic, by any slices: the seven signals and what belongs to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.errors import UsageError
from ragnostic.monitor.cells import Json, stage_cell
from ragnostic.monitor.live_metrics import SIGNALS, Selection
from ragnostic.monitor.probes import PROBE_SCHEMA, probe_summary
from ragnostic.monitor.score_rows import metrics_of, read_scores, with_traffic
from ragnostic.monitor.windows import DEFAULT_ZONE, Window
from ragnostic.plugins import nearest
from ragnostic.ports import RecordStore
from ragnostic.stats.slices import LENGTHS

SLICES = (
    "service",
    "model_version",
    "category",
    "language",
    "length",
    "traffic",
    "hour",
    "weekday",
    "stage",
    "judge",
)


@dataclass(frozen=True, slots=True)
class Group:
    """One slice under one judge: ``stages`` maps stage → cell, in the order of the pipeline."""

    by: dict[str, Any]
    judge: str | None
    versions: tuple[str, ...]
    stages: dict[str, Json]


@dataclass(frozen=True, slots=True)
class Aggregate:
    """What is known of a window. ``groups``: for each judge the whole window, whose ``by`` is
    empty, then its slices in order. ``probes`` is None without any.
    """

    window: Window
    by: tuple[str, ...]
    records: int
    groups: tuple[Group, ...]
    probes: Json | None

    def as_json(self) -> Json:
        """The object that ``ragnostic aggregate --json`` prints; see docs/aggregate.md."""
        return {
            "from": self.window.shown(self.window.start),
            "to": self.window.shown(self.window.end),
            "zone": self.window.zone,
            "by": list(self.by),
            "records": self.records,
            "groups": [
                {
                    "by": group.by,
                    "judge": group.judge,
                    "judge_versions": list(group.versions),
                    "stages": group.stages,
                }
                for group in self.groups
            ],
            "probes": self.probes,
        }


def aggregate(
    store: RecordStore,
    start: datetime,
    end: datetime,
    *,
    by: Sequence[str] = (),
    metrics: Selection | None = None,
    zone: str = DEFAULT_ZONE,
) -> Aggregate:
    """Sum up the scores and probes with a time in [start, end).

    ``by``: some of :data:`SLICES`; every combination that occurs is a group. ``metrics``: all that
    the scores hold where None. Judges are never mixed: each has groups of its own. Reads only, so
    that it can be repeated; the same rows give the same numbers, whatever files they stand in.
    Raises UsageError for an unknown slice and a window that is none.
    """
    window = Window(start, end, zone)
    by = tuple(dict.fromkeys(by))
    for name in by:
        if name not in SLICES:
            hint = nearest(name, list(SLICES)) or f"slices: {', '.join(SLICES)}"
            raise UsageError(f"{name!r} is nothing to slice by", hint=hint)
    found = read_scores(store, window)
    selection = metrics or Selection(metrics_of(found.table), SIGNALS)
    groups = list(_groups(found.table, by, selection)) if found.records else []
    return Aggregate(window, by, found.records, tuple(groups), _probes(store, window, selection))


def _groups(table: pa.Table, by: Sequence[str], selection: Selection) -> Iterator[Group]:
    for judge in _sorted(pc.unique(table["judge"]).to_pylist()):
        rows = _of(table, "judge", judge)
        versions = tuple(sorted(pc.unique(rows["judge_version"]).drop_null().to_pylist()))
        stages = {stage: with_traffic(part) for stage, part in _stages(rows)}
        whole = {stage: stage_cell(part, selection) for stage, part in stages.items()}
        yield Group({}, judge, versions, whole)
        if not by:
            continue
        cells: dict[tuple[Any, ...], dict[str, Json]] = {}
        for stage, part in stages.items():
            for key, members in _slices(part, by):
                cells.setdefault(key, {})[stage] = stage_cell(members, selection)
        for key in sorted(cells, key=lambda key: [_place(value) for value in key]):
            yield Group(dict(zip(by, key, strict=True)), judge, versions, cells[key])


def _stages(rows: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    """The rows of each stage, in the order of the pipeline."""
    places = rows.group_by("stage").aggregate([("stage_place", "min")])
    named = zip(places["stage_place_min"].to_pylist(), places["stage"].to_pylist(), strict=True)
    for _, stage in sorted(named):
        yield stage, _of(rows, "stage", stage)


def _slices(rows: pa.Table, by: Sequence[str]) -> Iterator[tuple[tuple[Any, ...], pa.Table]]:
    """Values and rows of each combination that occurs."""
    codes = np.zeros(rows.num_rows, dtype=np.int64)
    values: list[list[Any]] = []
    for name in by:
        coded = rows[name].combine_chunks().dictionary_encode()
        values.append([*coded.dictionary.to_pylist(), None])
        own = pc.fill_null(coded.indices.cast(pa.int64()), len(coded.dictionary)).to_numpy()
        codes = codes * len(values[-1]) + own
    order = np.argsort(codes, kind="stable")
    # Once in order, each combination is a slice that needs no copy.
    rows, codes = rows.take(pa.array(order)), codes[order]
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    for start, end in pairwise([*starts.tolist(), len(codes)]):
        code, key = int(codes[start]), []
        for known in reversed(values):
            code, place = divmod(code, len(known))
            key.append(known[place])
        yield tuple(reversed(key)), rows.slice(start, end - start)


def _of(table: pa.Table, name: str, value: str | None) -> pa.Table:
    """The rows that have this value; without a copy where all have it."""
    column = table[name]
    same = pc.is_null(column) if value is None else pc.equal(column, value)
    same = pc.fill_null(same, fill_value=False)
    return table if pc.all(same).as_py() else table.filter(same)


def _sorted(values: Sequence[Any]) -> list[Any]:
    return sorted(values, key=_place)


def _place(value: Any) -> tuple[int, float, str]:
    """Lengths by length, numbers by number, words by their letters, nothing last."""
    if value is None:
        return 3, 0.0, ""
    if value in LENGTHS:
        return 1, float(LENGTHS.index(value)), ""
    return (0, float(value), "") if isinstance(value, int) else (2, 0.0, str(value))


def _probes(store: RecordStore, window: Window, selection: Selection) -> Json | None:
    probes = store.read("probes", start=window.start, end=window.end)
    if not probes.num_rows:
        return None
    order = [(name, "ascending") for name in ("ts", "query_id", "perturbation", "seed")]
    found = probe_summary(probes.select(PROBE_SCHEMA.names).sort_by(order))
    retrieval = found["retrieval"] or {"metrics": {}}
    for metrics in (found["metrics"], retrieval["metrics"], *found["perturbations"].values()):
        for name in set(metrics) - set(selection.signals):
            del metrics[name]
    return found
