"""The state of a sweep on the disk, from which it goes on after a kill.

``<out>/sweep-<8 hex>/sweep.json``; the hex stands for settings, grid, data and versions, so that
changed data or a changed program start anew. Written aside and renamed after each combination.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ragnostic.corpus.fingerprint import fingerprint_file
from ragnostic.errors import DataError
from ragnostic.offline.provenance import versions
from ragnostic.offline.run_folder import META, list_runs, read_meta, to_json
from ragnostic.offline.sweep_plan import SweepPlan
from ragnostic.report.run import mapping

STATE = "sweep.json"
STATE_SCHEMA = 1
SWEEP_META = "sweep"
"""The key of run.json under which a run says which sweep and combination it belongs to."""


@dataclass(frozen=True, slots=True)
class RungScore:
    """The mean that a combination had on a share of the queries, and how many these were."""

    combination: str
    seed: int
    share: float
    queries: int
    score: float | None

    @property
    def place(self) -> tuple[str, int, float]:
        """What the score is of."""
        return self.combination, self.seed, self.share


@dataclass(frozen=True, slots=True)
class SweepState:
    """What is finished: ``runs`` maps the key of a combination to the name of its run folder,
    ``rungs`` are the scores on parts of the queries. Every change is a new state.
    """

    sweep: str
    grid: Mapping[str, list[str]]
    names: Mapping[str, str]
    runs: Mapping[str, str] = field(default_factory=dict)
    rungs: tuple[RungScore, ...] = ()

    def with_run(self, key: str, run: str) -> SweepState:
        """With one more finished combination."""
        return replace(self, runs={**self.runs, key: run})

    def with_rung(self, found: RungScore) -> SweepState:
        """With one more score."""
        return replace(self, rungs=(*self.rungs, found))

    def rung(self, place: tuple[str, int, float]) -> RungScore | None:
        """The score at a place; None where it is not known yet."""
        return next((rung for rung in self.rungs if rung.place == place), None)


def sweep_name(plan: SweepPlan) -> str:
    """``sweep-<8 hex>`` of settings, grid, data and versions."""
    paths: dict[Path, None] = {}
    for combination in plan.combinations:
        configuration = combination.configuration
        dataset = configuration.settings.dataset
        for written in (*dataset.paths, *([dataset.corpus] if dataset.corpus else [])):
            paths[configuration.path(written)] = None
    whole = {
        "combinations": [combination.key for combination in plan.combinations],
        "data": [fingerprint_file(path) for path in paths],
        "versions": versions(),
    }
    text = json.dumps(whole, sort_keys=True)
    return f"sweep-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def read_state(out: Path, plan: SweepPlan) -> SweepState:
    """The state of this very sweep below ``out``: what is finished and still there.

    A run that was written just before a kill is found by its run.json. Raises DataError where
    sweep.json is damaged.
    """
    name = sweep_name(plan)
    written = _written(out / name / STATE)
    names = {combination.key: combination.name for combination in plan.combinations}
    runs = {**dict(_runs_of(out, name)), **mapping(written.get("runs"))}
    there = {
        key: str(run) for key, run in runs.items() if key in names and (out / run / META).is_file()
    }
    return SweepState(
        sweep=name,
        grid={axis.key: list(axis.written) for axis in plan.axes},
        names=names,
        runs=there,
        rungs=tuple(RungScore(**row) for row in written.get("rungs", ())),
    )


def _runs_of(out: Path, sweep: str) -> Iterable[tuple[str, str]]:
    """(combination, run folder) of the runs that say that they belong to this sweep."""
    for folder in list_runs(out):
        try:
            meta = mapping(read_meta(folder).get(SWEEP_META))
        except DataError:  # the run of somebody else, or a damaged one
            continue
        if meta.get("id") == sweep:
            yield str(meta.get("combination")), folder.name


def write_state(out: Path, state: SweepState) -> None:
    """Write sweep.json below ``out``, aside and renamed: a kill leaves the old or the new one."""
    folder = out / state.sweep
    folder.mkdir(parents=True, exist_ok=True)
    whole = {"schema": STATE_SCHEMA, **asdict(state)}
    aside = folder / f".{STATE}.{os.getpid()}"
    aside.write_text(to_json(whole), encoding="utf-8")
    aside.replace(folder / STATE)


def _written(file: Path) -> dict[str, Any]:
    if not file.is_file():
        return {}
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise DataError(
            f"{file}: not valid JSON: {error}", hint="delete it to begin anew"
        ) from error
    if not isinstance(found, dict) or found.get("schema") != STATE_SCHEMA:
        raise DataError(
            f"{file}: not a state that this ragnostic knows", hint="delete it to begin anew"
        )
    return found
