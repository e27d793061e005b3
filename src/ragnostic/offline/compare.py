"""``ragnostic.compare``: two systems on the same queries, paired, with a verdict (METRICS 11)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, get_args

import pyarrow.compute as pc

from ragnostic.errors import Fault, UsageError
from ragnostic.evalset.grouping import ScoreOrder
from ragnostic.evalset.python_input import qrels_from
from ragnostic.metrics import Metric, parse_list
from ragnostic.metrics.naming import distinct
from ragnostic.offline.announcements import announcements, repeats, settings_of
from ragnostic.offline.compare_checks import check_comparable, some_ids
from ragnostic.offline.compare_inputs import Loaded, Show, Wanted, load_side
from ragnostic.offline.evaluation import DEFAULT_METRICS
from ragnostic.offline.judged_check import check_judged
from ragnostic.offline.settings_diff import SettingChange, settings_diff
from ragnostic.report import announced
from ragnostic.report.announced import Announcement, Joined
from ragnostic.report.comparison_ranks import READ
from ragnostic.report.comparison_view import ComparisonView
from ragnostic.report.run import RunData
from ragnostic.scoring.plan import Missing
from ragnostic.stats.comparison import (
    Comparison,
    MetricComparison,
    QueryChange,
    changes,
    compare_sides,
)
from ragnostic.stats.gate_rules import LOST, Rule, rule_texts
from ragnostic.stats.gates import GateResult, Verdict, judge_gate
from ragnostic.stats.sides import Side

if TYPE_CHECKING:
    from ragnostic.report.catalogue import Language

MARKDOWN_LIMIT = 900_000
"""Bytes that a CI page takes (GitHub's summary: 1 MiB)."""


@dataclass(frozen=True, repr=False)
class ComparisonResult:
    """What :func:`compare` found: ``result["RR@5"].finding``; shows itself in a notebook.

    ``settings``: those that differ. ``announced``: what else differs, a line of English each,
    which the pages say in their language. ``missing``:
    judged queries without a ranking, by side. ``changes``: the queries whose first metric
    differs, biggest losses first. ``base``, ``candidate``: the values behind it all.
    """

    comparison: Comparison
    base: Side
    candidate: Side
    gate: GateResult | None = None
    settings: list[SettingChange] = field(default_factory=list)
    announced: list[str] = field(default_factory=list)
    warnings: list[Fault] = field(default_factory=list)
    missing: dict[str, list[str]] = field(default_factory=dict)
    changes: list[QueryChange] = field(default_factory=list)
    shows: tuple[Show | None, Show | None] = (None, None)

    def __getitem__(self, metric: str | Metric) -> MetricComparison:
        """One metric, by any of its names."""
        return self.comparison[str(metric)]

    @property
    def verdict(self) -> Verdict | None:
        """PASS, FAIL or INCONCLUSIVE; None without gate rules."""
        return None if self.gate is None else self.gate.verdict

    @cached_property
    def base_run(self) -> RunData | None:
        """The base with the queries that changed most, in full; None without rankings."""
        return self._run(self.shows[0])

    @cached_property
    def candidate_run(self) -> RunData | None:
        """The candidate with the queries that changed most, in full."""
        return self._run(self.shows[1])

    def _run(self, show: Show | None) -> RunData | None:
        if show is None or not self.changes:
            return None
        largest = sorted(
            self.changes, key=lambda change: (-round(abs(change.difference), 9), change.query_id)
        )
        return show([change.query_id for change in largest[:READ]])

    @property
    def view(self) -> ComparisonView:
        """What the pages are made from."""
        return ComparisonView(
            comparison=self.comparison,
            gate=self.gate,
            settings=self.settings,
            announced=self.announced,
            warnings=[str(fault) for fault in self.warnings],
            missing=self.missing,
            changes=self.changes,
            base_run=self.base_run,
            candidate_run=self.candidate_run,
        )

    @property
    def queries(self) -> dict[str, Any]:
        """``shared``: how many; ids: ``unjudged, only_base, only_candidate, missing`` by side."""
        found: dict[str, Any] = self.comparison.as_json()["queries"]
        return found | {"missing": self.missing}

    def as_json(self) -> dict[str, Any]:
        """The object that ``ragnostic compare --json`` prints."""
        return self.comparison.as_json() | {
            "queries": self.queries,
            "settings": [change.as_json() for change in self.settings],
            "announced": self.announced,
            "gates": [] if self.gate is None else self.gate.as_json()["rules"],
            "verdict": self.verdict,
            "changed": [
                {"query_id": change.query_id, "before": change.before, "after": change.after}
                for change in self.changes
            ],
            "warnings": [str(fault) for fault in self.warnings],
        }

    def to_markdown(self, limit: int = MARKDOWN_LIMIT, *, language: Language = "en") -> str:
        """A summary for a CI page, at most ``limit`` bytes of UTF-8; what is cut is counted."""
        from ragnostic.report.comparison_markdown import comparison_markdown  # noqa: PLC0415 - lazy

        return comparison_markdown(self.view, limit=limit, language=language)

    def __repr__(self) -> str:
        from ragnostic.report.comparison_text import comparison_lines  # noqa: PLC0415 - on use

        return "\n".join(comparison_lines(self.comparison, self.gate))

    def _repr_html_(self) -> str:
        from ragnostic.report.comparison_notebook import comparison_html  # noqa: PLC0415 - the same

        return comparison_html(self.comparison, self.gate)


def compare(
    base: Any,
    candidate: Any,
    *,
    qrels: Any = None,
    metrics: Sequence[str | Metric] | str | None = None,
    gates: Sequence[str] | str = (),
    stage: str | None = None,
    missing: Missing = "zero",
    score_order: ScoreOrder = "similarity",
) -> ComparisonResult:
    """Compare a candidate with a base over the queries that both have (METRICS 11).

    ``base``, ``candidate``: the path of a run folder, a run in memory, a result of
    :func:`ragnostic.evaluate`, or ``{metric: {query id: value}}``; with ``qrels``, whatever
    ``evaluate`` takes as a run. A list of those is one system measured several times: averaged
    within each query. ``metrics``: those that both have where None. ``gates``: one rule such as
    ``"nDCG@10 >= -0.02"``, or several. ``stage``: the one to compare instead of each side's final
    one.

    Raises UsageError for what cannot be compared: another judge, a shared query id with another
    text or gold, no common metric or query, no judged query that was answered; DataError for what
    cannot be read or scored.

    >>> gold = {"q1": ["a"], "q2": ["b"]}
    >>> found = compare({"q1": ["a"], "q2": ["x"]}, {"q1": ["a"]}, qrels=gold, metrics=["RR@5"])
    >>> found["RR@5"].difference.value, found["RR@5"].finding, found.missing["candidate"]
    (0.0, 'same', ['q2'])
    """
    _check_option("missing", missing, Missing)
    _check_option("score_order", score_order, ScoreOrder)
    rules = [Rule.parse(text) for text in rule_texts(gates)]
    asked = _names(metrics)
    of_gates = tuple(rule.metric for rule in rules if rule.metric != LOST)
    judged = None if qrels is None else qrels_from(qrels)
    wanted = Wanted(
        metrics=asked if judged is None else asked or _names(DEFAULT_METRICS),
        gate_metrics=of_gates,
        stages=tuple(name for name in (stage, *(rule.stage for rule in rules)) if name),
        qrels=judged,
        missing=missing,
        score_order=score_order,
    )
    before = load_side(base, "base", wanted)
    after = load_side(candidate, "candidate", wanted, before.runs)
    result = _compared((before, after), asked, stage, rules, missing)
    return replace(result, warnings=[*(judged.faults if judged else ()), *result.warnings])


def _check_option(name: str, value: str, allowed: Any) -> None:
    if value not in get_args(allowed):
        words = " or ".join(map(repr, get_args(allowed)))
        raise UsageError(f"compare: {name} is {value!r}; it must be {words}")


def _names(metrics: Sequence[str | Metric] | str | None) -> tuple[str, ...] | None:
    if metrics is None:
        return None
    if isinstance(metrics, str):
        return tuple(map(str, parse_list(metrics)))
    return tuple(map(str, distinct(Metric.parse(str(metric)) for metric in metrics)))


def _compared(
    sides: tuple[Loaded, Loaded],
    asked: tuple[str, ...] | None,
    stage: str | None,
    rules: Sequence[Rule],
    missing: Missing,
) -> ComparisonResult:
    _check_questions(sides)
    _check_asked(sides, asked or (), stage)
    base, candidate = sides
    common = [name for name in base.metrics if name in candidate.metrics]
    comparison = compare_sides(
        base.side, candidate.side, list(asked or common) or None, stage=stage
    )
    _check_bare(sides, comparison)
    _check_shared(comparison)
    check_judged((base.side, comparison.stages[0]), (candidate.side, comparison.stages[1]), missing)
    if asked is None:
        either = dict.fromkeys((*base.metrics, *candidate.metrics))
        alone = tuple(name for name in either if name not in common)
        comparison = replace(comparison, unshared=alone)
    compared = [found.metric for found in comparison.metrics]
    gate = judge_gate(rules, base.side, candidate.side, compared) if rules else None
    return ComparisonResult(
        comparison=comparison,
        base=base.side,
        candidate=candidate.side,
        gate=gate,
        settings=_settings(sides),
        announced=_announced(sides, comparison),
        warnings=[fault for side in sides for run in side.runs for fault in run.faults],
        missing={
            name: _missing(side.side, of)
            for name, side, of in zip(("base", "candidate"), sides, comparison.stages, strict=True)
        },
        changes=changes(base.side, candidate.side, compared[0], stage=stage),
        shows=(base.show, candidate.show),
    )


def _check_questions(sides: tuple[Loaded, Loaded]) -> None:
    """Every run asks the same as the one before it, repeats of one side too."""
    runs = [
        (run.source, run.asked)
        for side in sides
        for run in side.runs
        if run.source is not None and run.asked is not None
    ]
    for before, after in pairwise(runs):
        check_comparable(*before, *after)


def _check_asked(sides: tuple[Loaded, Loaded], asked: Sequence[str], stage: str | None) -> None:
    """Only what was asked for is read, so the message of a lack names what the run has."""
    for loaded in sides:
        there = loaded.side.metrics_of(stage or loaded.side.final_stage)
        lacking = [name for name in asked if name not in there]
        if lacking and (stage is None or stage in loaded.side.stages):
            known = ", ".join(loaded.metrics) or "no metric"
            raise UsageError(
                f"there is no {', '.join(lacking)} to compare: {loaded.side.name} has {known}",
                hint="score both sides with it, or leave it out of the metrics",
            )


def _check_bare(sides: tuple[Loaded, Loaded], comparison: Comparison) -> None:
    bare = {name for side in sides for run in side.runs for name in run.bare}
    shared = [found.metric for found in comparison.metrics if found.metric in bare]
    if shared:
        raise UsageError(
            f"{comparison.base} and {comparison.candidate}: of {', '.join(shared)} only a mean is"
            " given, and means alone cannot be compared",
            hint="give {metric: {query id: value}}: differences are paired over the queries",
        )


def _check_shared(comparison: Comparison) -> None:
    both = comparison.shared or comparison.unjudged
    if both or not (comparison.only_base or comparison.only_candidate):
        return
    raise UsageError(
        f"{comparison.base} and {comparison.candidate} have no query in common:"
        f" {comparison.base} has {some_ids(comparison.only_base) or 'none'};"
        f" {comparison.candidate} has {some_ids(comparison.only_candidate) or 'none'}",
        hint="compare runs of one evaluation set",
    )


def _settings(sides: tuple[Loaded, Loaded]) -> list[SettingChange]:
    sources = [side.sources for side in sides]
    if not all(sources):
        return []
    return settings_diff(*(settings_of(of[0]) for of in sources))


def _announced(sides: tuple[Loaded, Loaded], comparison: Comparison) -> list[str]:
    lines: list[str] = []
    if sides[0].places == sides[1].places:
        lines.append(Announcement.of(announced.SAME, name=comparison.base))
    for name, side in zip((announced.BASE, announced.CANDIDATE), sides, strict=True):
        lines += repeats(name, side.sources, len(side.runs))
    sources = [side.sources for side in sides]
    if all(sources):
        first = sources[0][0], sources[1][0]
        both = comparison.shared + len(comparison.unjudged)
        lines += announcements(*first, comparison.stages, both)
    if comparison.unshared:
        names = Joined.of(comparison.unshared)
        lines.append(Announcement.of(announced.UNSHARED, metrics=names))
    return lines


def _missing(side: Side, stage: str) -> list[str]:
    """Judged queries without a ranking, in order."""
    if stage not in side.statuses:
        return []
    rows = pc.equal(side.statuses[stage], "missing").fill_null(False)  # noqa: FBT003 - pyarrow's signature
    found: list[str] = side.query_ids.filter(rows).to_pylist()
    return found
