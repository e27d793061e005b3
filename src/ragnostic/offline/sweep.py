"""A sweep: all combinations of a grid evaluated, what they share made once, resumable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Literal

from ragnostic.errors import RagnosticError
from ragnostic.metrics import Metric
from ragnostic.offline.evaluation_run import Job, evaluate
from ragnostic.offline.memo import Memo
from ragnostic.offline.partial_folders import remove_partials
from ragnostic.offline.run_folder import check_out, read_run, write_run
from ragnostic.offline.sweep_plan import Combination, SweepPlan
from ragnostic.offline.sweep_search import RUNGS, draw, halve, load_optuna, sample_of
from ragnostic.offline.sweep_state import (
    SWEEP_META,
    RungScore,
    SweepState,
    read_state,
    write_state,
)
from ragnostic.ports import Progress, no_progress
from ragnostic.report.run import RunData

Search = Literal["grid", "random", "halving"]

_EVERYWHERE = ("queries", "documents", "embedder")
_NEWEST = ("corpus", "judge", "fingerprints", "retriever", "retrieved", "reranked")
_OF_HALVING = ("retrieved",)
"""Halving comes back to a retrieval with more queries, so its answers are kept."""


@dataclass(frozen=True, slots=True)
class SweepJob:
    """How a sweep runs.

    ``out``: parent of the run folders and of the sweep's own. ``budget``: combinations that are
    tried by a random search or by halving. ``render`` makes the report of a run; ``check`` is
    told of the first finished run folder, to refuse a baseline before the rest is run. ``writing``
    is held while a run is written and noted: who takes it stops the sweep between two runs.
    """

    out: Path
    render: Callable[[Combination, RunData], str]
    search: Search = "grid"
    budget: int = 0
    seed: int = 0
    progress: Progress = no_progress
    check: Callable[[Path], None] | None = None
    writing: Lock = field(default_factory=Lock)


@dataclass(frozen=True, slots=True)
class Pruned:
    """A combination that halving left after ``queries`` queries, with its mean there."""

    combination: Combination
    queries: int
    score: float | None


@dataclass(frozen=True, slots=True)
class SweepRuns:
    """What a sweep measured: ``runs`` maps each combination's key to its run folder."""

    state: SweepState
    finished: tuple[Combination, ...]
    pruned: tuple[Pruned, ...]
    out: Path

    @property
    def folder(self) -> Path:
        """Where the sweep keeps its own files."""
        return self.out / self.state.sweep

    def run_of(self, combination: Combination) -> Path:
        """The run folder of a finished combination."""
        return self.out / self.state.runs[combination.key]


def run_sweep(plan: SweepPlan, job: SweepJob) -> SweepRuns:
    """Evaluate the combinations that are not finished yet; each becomes a run folder.

    What a killed sweep left half written is removed. Raises what an evaluation raises, naming
    the combination; what is finished stays.
    """
    if job.search != "grid":
        load_optuna()
    check_out(job.out)
    remove_partials(job.out)
    runner = _Runner(plan, job, read_state(job.out, plan))
    if job.search == "halving":
        return runner.halved(draw(plan, job.budget, job.seed))
    chosen = list(plan.combinations)
    if job.search == "random":
        chosen = draw(plan, job.budget, job.seed)
    return runner.all_of(chosen)


class _Runner:
    """Evaluates combinations, keeps the state on the disk, and the memo between evaluations."""

    def __init__(self, plan: SweepPlan, job: SweepJob, state: SweepState) -> None:
        self._plan = plan
        self._job = job
        self._state = state
        kept = _EVERYWHERE + (_OF_HALVING if job.search == "halving" else ())
        self._memo = Memo(kept=kept, newest=[kind for kind in _NEWEST if kind not in kept])
        self._checked = False
        self._inner = _told_once(job.progress)
        write_state(job.out, state)

    def all_of(self, chosen: list[Combination]) -> SweepRuns:
        """Every one of them on all queries."""
        self._job.progress("sweep", 0, len(chosen))
        for done, combination in enumerate(self._plan.in_running_order(chosen), 1):
            self._finish(combination)
            self._job.progress("sweep", done, len(chosen))
        return self._measured(chosen, ())

    def halved(self, chosen: list[Combination]) -> SweepRuns:
        """On ever larger parts of the queries, as long as they are among the better half."""
        last: dict[str, RungScore] = {}
        self._job.progress("sweep", 0, len(chosen))

        def measure(combination: Combination, share: float) -> float | None:
            if share == RUNGS[0]:
                self._job.progress("sweep", len(last), len(chosen))
            found = self._rung(combination, share)
            last[combination.key] = found
            return found.score

        upward = Metric.parse(self._plan.metric).definition.higher_is_better
        whole = halve(chosen, measure, higher_is_better=upward)
        self._job.progress("sweep", len(chosen), len(chosen))
        pruned = tuple(
            Pruned(one, last[one.key].queries, last[one.key].score)
            for one in chosen
            if one not in whole
        )
        return self._measured(whole, pruned)

    def _measured(self, whole: list[Combination], pruned: tuple[Pruned, ...]) -> SweepRuns:
        keys = {one.key for one in whole}
        finished = tuple(one for one in self._plan.combinations if one.key in keys)
        return SweepRuns(self._state, finished, pruned, self._job.out)

    def _finish(self, combination: Combination) -> None:
        if combination.key not in self._state.runs:
            run = self._evaluated(combination, 1.0)
            belongs = {"id": self._state.sweep, "combination": combination.key}
            marked = replace(run, meta={**run.meta, SWEEP_META: belongs})
            render = partial(self._job.render, combination)
            with self._job.writing:
                folder = write_run(self._job.out, str(run.meta["run"]), marked, render)
                self._keep(self._state.with_run(combination.key, folder.name))
        if not self._checked and self._job.check is not None:
            self._job.check(self._job.out / self._state.runs[combination.key])
        self._checked = True

    def _rung(self, combination: Combination, share: float) -> RungScore:
        """The mean on a share of the queries; on all of them a run folder comes with it."""
        known = self._state.rung((combination.key, self._job.seed, share))
        if known is not None:
            return known
        if share == 1:
            self._finish(combination)
            run = read_run(self._job.out / self._state.runs[combination.key])
        else:
            run = self._evaluated(combination, share)
        summary = run.stage_meta(run.stages[-1])["metrics"][self._plan.metric]
        seed, asked = self._job.seed, run.records.num_rows
        found = RungScore(combination.key, seed, share, asked, summary["mean"])
        if share < 1:
            self._keep(self._state.with_rung(found))
        return found

    def _keep(self, state: SweepState) -> None:
        self._state = state
        write_state(self._job.out, state)

    def _evaluated(self, combination: Combination, share: float) -> RunData:
        sample = None if share == 1 else sample_of(share, self._job.seed)
        job = Job(self._inner, memo=self._memo, sample=sample)
        try:
            return evaluate(combination.configuration, job)
        except RagnosticError as error:
            raise _named(error, combination.name) from error


def _told_once(progress: Progress) -> Progress:
    """A Progress that hears of the beginning of a phase only the first time."""
    begun: set[str] = set()

    def tell(label: str, done: int, total: int) -> None:
        if label not in begun or (done and total > 1):
            progress(label, done, total)
        begun.add(label)

    return tell


def _named(error: RagnosticError, name: str) -> RagnosticError:
    """The same error, saying which combination it is about and what became of the others."""
    hint = error.hint.removesuffix("; nothing was written")
    lines = [*([hint] if hint else []), "what is finished is kept: the same command goes on there"]
    return type(error)(f"with {name}: {error.message}", hint="; ".join(lines))
