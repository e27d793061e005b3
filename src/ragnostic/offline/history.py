"""The runs of a folder as a history: grouped by what was asked, oldest first."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragnostic.errors import DataError, UsageError, counted
from ragnostic.offline.run_folder import last_stage, list_runs, read_meta
from ragnostic.offline.run_source import folder_source
from ragnostic.offline.sides import side_of_source
from ragnostic.offline.tags import check_tag, read_tags, tags_of, write_tag
from ragnostic.report.run import mapping, text
from ragnostic.stats.sides import Side

SHORT = 8
"""Hex digits of a fingerprint that a person reads."""


@dataclass(frozen=True, slots=True)
class PastRun:
    """A run folder of which run.json was read. ``stage``: its final one, '' where it has none."""

    folder: Path
    meta: Mapping[str, Any]
    stage: str
    tags: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The run id."""
        return self.folder.name

    @property
    def evaluation_set(self) -> Mapping[str, Any]:
        """Path, fingerprint and sizes of what was asked."""
        return mapping(mapping(self.meta.get("data")).get("evaluation_set"))

    @property
    def measured(self) -> str:
        """How values came about: judge, its parameters, and what a missing ranking counts.
        Values of two runs can be compared only where it is equal (METRICS 11).
        """
        score = mapping(mapping(self.meta.get("settings")).get("score"))
        parts = [self.meta.get("judge"), score.get("missing", "zero")]
        return json.dumps(parts, sort_keys=True, ensure_ascii=False)

    def summary(self, metric: str, stage: str | None = None) -> Mapping[str, Any] | None:
        """The summary of a metric by its full name, at the final stage unless another is named;
        None where the run has no such mean.
        """
        of_stage = mapping(mapping(self.meta.get("stages")).get(stage or self.stage))
        found = mapping(mapping(of_stage.get("metrics")).get(metric))
        return found if found.get("mean") is not None else None

    def metrics(self, stage: str | None = None) -> tuple[str, ...]:
        """Full names of the metrics that have a mean at a stage, the final one where None."""
        of_stage = mapping(mapping(self.meta.get("stages")).get(stage or self.stage))
        names = mapping(of_stage.get("metrics"))
        return tuple(name for name in names if self.summary(name, stage) is not None)

    def side(self, metrics: tuple[str, ...], stage: str | None = None) -> Side:
        """The values a query of these metrics at one stage; raises DataError where unreadable."""
        return side_of_source(
            folder_source(self.folder), [stage or self.stage], metrics, columns={}
        )


@dataclass(frozen=True, slots=True)
class RunSet:
    """All runs of one evaluation set, oldest first.

    ``others`` asked the same, but were measured otherwise than the newest run (another judge).
    """

    sha256: str
    name: str
    runs: tuple[PastRun, ...]
    others: tuple[PastRun, ...] = ()

    def metrics(self, stage: str | None = None) -> tuple[str, ...]:
        """All metrics of its runs at a stage, the final ones where None."""
        return tuple(dict.fromkeys(name for run in self.runs for name in run.metrics(stage)))

    def __str__(self) -> str:
        return f"{self.name} ({self.sha256[:SHORT]}, {counted(len(self.runs), 'run')})"


@dataclass(frozen=True, slots=True)
class History:
    """The evaluation sets of a folder, the one of the newest run last; ``unreadable`` are (run,
    reason), ``unknown`` the runs that do not say what was asked.
    """

    out: Path
    sets: tuple[RunSet, ...]
    unreadable: tuple[tuple[str, str], ...] = ()
    unknown: tuple[str, ...] = ()

    def matching(self, wanted: str | None) -> tuple[RunSet, ...]:
        """The sets of that name, or whose fingerprint begins so; all where None.

        Raises UsageError where there is none.
        """
        found = tuple(
            one
            for one in self.sets
            if wanted is None or one.name == wanted or (wanted and one.sha256.startswith(wanted))
        )
        if found:
            return found
        there = ", ".join(map(str, self.sets))
        if not there:
            raise UsageError(f"{self.out} holds no runs of an evaluation set")
        raise UsageError(f"no runs of an evaluation set {wanted!r}", hint=f"there are: {there}")

    def one(self, wanted: str | None) -> RunSet:
        """The set of that name or fingerprint, or of the newest run where None.

        Raises UsageError where there is none, or several of that name.
        """
        found = self.matching(wanted)
        if wanted is not None and len(found) > 1:
            hint = f"name it by its fingerprint: {', '.join(map(str, found))}"
            raise UsageError(f"{wanted!r} fits {len(found)} evaluation sets", hint=hint)
        return found[-1]


def read_history(out: Path) -> History:
    """The runs below ``out``; reads run.json and schemas only."""
    tags = read_tags(out)
    runs: list[PastRun] = []
    unreadable: list[tuple[str, str]] = []
    for folder in list_runs(out):
        try:
            found = PastRun(folder, read_meta(folder), last_stage(folder))
        except DataError as error:
            unreadable.append((folder.name, error.message))
        else:
            runs.append(PastRun(folder, found.meta, found.stage, tags_of(tags, folder.name)))
    runs.sort(key=lambda run: (str(run.meta.get("created") or ""), run.name))
    groups: dict[str, list[PastRun]] = {}
    for run in runs:
        # The set of the newest run goes to the end.
        sha256 = text(run.evaluation_set.get("sha256")) or ""
        groups[sha256] = [*groups.pop(sha256, []), run]
    unknown = tuple(run.name for run in groups.pop("", []))
    sets = tuple(_run_set(sha256, group) for sha256, group in groups.items())
    return History(out, sets, tuple(unreadable), unknown)


def _run_set(sha256: str, runs: list[PastRun]) -> RunSet:
    measured = runs[-1].measured
    alike = tuple(run for run in runs if run.measured == measured)
    others = tuple(run for run in runs if run.measured != measured)
    name = text(runs[-1].evaluation_set.get("path")) or sha256[:SHORT]
    return RunSet(sha256, name, alike, others)


def tag_run(out: Path, folder: Path, name: str) -> str | None:
    """Let a tag stand for a run below ``out``; the id of the run that had it before, or None.

    Raises UsageError for a run elsewhere, and for a name that cannot be a tag or that is the
    beginning of a run id.
    """
    check_tag(name)
    known = [path.name for path in list_runs(out)]
    if folder.name not in known or not (out / folder.name).samefile(folder):
        raise UsageError(f"{folder} is not below {out}", hint="name its parent with --out")
    hidden = next((run for run in known if run.startswith(name)), None)
    if hidden is not None:
        raise UsageError(f"{name!r} cannot be a tag: run {hidden} begins so")
    return write_tag(out, name, folder.name)
