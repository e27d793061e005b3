"""The page model: everything a report says, as data. No HTML and no language in it."""

from __future__ import annotations

from dataclasses import dataclass

from ragnostic.report.account import Account
from ragnostic.report.answer_link import AnswerLink
from ragnostic.report.outcomes import Place
from ragnostic.report.robustness import Robustness
from ragnostic.report.sets import EvaluationSets
from ragnostic.report.unanswerable import StageRefusals


@dataclass(frozen=True, slots=True)
class Header:
    """What was measured: sizes are None where the run does not know them."""

    run: str
    name: str | None
    created: str | None
    queries: int
    documents: int | None
    chunks: int | None
    stages: tuple[str, ...]
    parts: tuple[tuple[str, str], ...]
    """(stage, implementation) of the pipeline where the settings name them."""


@dataclass(frozen=True, slots=True)
class Gain:
    """A metric at the first and at the final stage, over the queries that both have."""

    metric: str
    before: float
    after: float
    n: int
    wins: int
    ties: int
    losses: int
    lower_is_better: bool = False

    @property
    def difference(self) -> float:
        """Paired mean difference, final minus first."""
        return self.after - self.before

    def toward(self, least: float) -> str:
        """``up`` for a change to the better of at least ``least``, ``down`` to the worse, else
        ``even``.

        >>> Gain("FalseRetrieval@5", 0.5, 0.25, 8, 2, 6, 0, lower_is_better=True).toward(0.001)
        'up'
        """
        better = -self.difference if self.lower_is_better else self.difference
        return "up" if better > least else "down" if better < -least else "even"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The counts behind the words: queries with a relevant chunk in the top ``cutoff`` at the
    final stage, and the places where gold items were lost.
    """

    cutoff: int
    scored: int
    found: int
    lost: tuple[tuple[Place, int], ...]
    gain: Gain | None
    headline: Tile | None
    unanswerable: int
    failed: int
    unscored: int
    judged: tuple[int, float] | None = None
    """(depth, judged share of the final stage's top results), at the depth nearest the cutoff."""

    @property
    def worst_place(self) -> Place | None:
        """Where most gold items were lost."""
        return max(self.lost, key=lambda entry: entry[1])[0] if self.lost else None


@dataclass(frozen=True, slots=True)
class Tile:
    """One metric at one stage, with the counts that belong to its mean."""

    metric: str
    stage: str
    mean: float | None
    low: float | None
    high: float | None
    n: int
    missing: int
    unscored: int
    failed: int
    reason: str | None
    positive: float | None = None
    """Share of the queries in the mean whose value is above 0."""


@dataclass(frozen=True, slots=True)
class MetricRow:
    """A metric at every stage; ``gain`` where two stages can be paired."""

    metric: str
    tiles: tuple[Tile, ...]
    gain: Gain | None

    @property
    def means(self) -> tuple[float | None, ...]:
        """A mean a stage. First and final ones are taken over the paired queries where there is
        a gain, so that they differ by it.
        """
        means = [tile.mean for tile in self.tiles]
        if self.gain is not None:
            means[0], means[-1] = self.gain.before, self.gain.after
        return tuple(means)

    @property
    def final(self) -> Tile:
        """The tile of the final stage."""
        return self.tiles[-1]

    @property
    def n(self) -> int:
        """Queries behind the means shown: the pairs, else those of the last stage that has any."""
        if self.gain is not None:
            return self.gain.n
        return next((tile.n for tile in reversed(self.tiles) if tile.n), 0)


@dataclass(frozen=True, slots=True)
class StageFacts:
    """Counts beside the metrics of one stage."""

    stage: str
    judged: tuple[tuple[str, float], ...]
    ties: int | None
    duplicates: int | None
    unjudged_queries: int | None
    latency: tuple[tuple[str, float], ...]
    """(percentile, milliseconds)."""


@dataclass(frozen=True, slots=True)
class Losses:
    """Fates at the final stage, counted over gold items and over queries."""

    cutoff: int
    items: tuple[tuple[Place, int], ...]
    queries: tuple[tuple[Place, int], ...]
    without_dangling: tuple[tuple[str, float], ...] = ()
    """(metric, mean) of the final stage without the gold that is not in the corpus."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Mean recall by depth. ``carried`` is the share of queries whose list was shorter.

    ``slope`` is the gain a rank over ranks 3 to 10; ``tail`` the recall of frequent queries minus
    that of rare ones, with its interval.
    """

    stage: str
    depth: tuple[int, ...]
    recall: tuple[float, ...]
    half_life: int | None
    plateau: int | None
    k90: int | None
    k95: int | None
    carried: float | None
    slope: float | None = None
    tail: TailGap | None = None


@dataclass(frozen=True, slots=True)
class TailGap:
    """Tail decay of one metric: head mean minus tail mean."""

    metric: str
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Bars:
    """Counts of queries in named buckets, a series a stage."""

    buckets: tuple[str, ...]
    series: tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class SliceRow:
    """One value of a column: queries in the mean, and the final stage's means."""

    value: str
    n: int
    means: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class SliceTable:
    """Means by one column of the records, worst first."""

    column: str
    metrics: tuple[str, ...]
    rows: tuple[SliceRow, ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk as it is shown; ``text`` is None where the run does not hold it."""

    id: str
    doc_id: str | None
    text: str | None


@dataclass(frozen=True, slots=True)
class Hit:
    """One place of a ranking. ``grade`` is None for an unjudged chunk."""

    rank: int
    passage: Passage
    score: float | None
    grade: float | None
    before: int | None
    """Rank at the first stage, where this is a later one."""

    @property
    def relevant(self) -> bool:
        """Whether it is gold."""
        return self.grade is not None and self.grade >= 1


@dataclass(frozen=True, slots=True)
class Ranking:
    """A stage's list: the ``top``, the ``rest`` that is worth showing, and how many are not."""

    stage: str
    top: tuple[Hit, ...]
    rest: tuple[Hit, ...]
    hidden: int
    error: str | None


@dataclass(frozen=True, slots=True)
class GoldRow:
    """A gold item that the reader did not get within the cutoff, or got."""

    grade: float
    place: Place
    first: int | None
    final: int | None
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class QueryCase:
    """One query in full."""

    query_id: str
    query: str | None
    language: str | None
    category: str | None
    expected: str | None
    """The answer that the evaluation set holds."""
    answer: str | None
    """The answer that the generator gave."""
    values: tuple[tuple[str, float | None], ...]
    first: tuple[int | None, ...]
    rankings: tuple[Ranking, ...]
    gold: tuple[GoldRow, ...]
    gold_left_out: int


@dataclass(frozen=True, slots=True)
class Change:
    """A query that the last stage helped or hurt."""

    metric: str
    before: float
    after: float
    case: QueryCase


@dataclass(frozen=True, slots=True)
class Changes:
    """The queries helped and hurt most, and how many there are in all."""

    metric: str
    helped: tuple[Change, ...]
    hurt: tuple[Change, ...]
    helped_total: int
    hurt_total: int


@dataclass(frozen=True, slots=True)
class Worst:
    """The worst queries by ``metrics`` (the first decides, the others break ties)."""

    metrics: tuple[str, ...]
    cases: tuple[QueryCase, ...]
    imperfect: int
    """Queries that could be shown; ``cases`` are the worst of them."""
    perfect: int
    unanswerable: int
    unscored: int
    failed: int


@dataclass(frozen=True, slots=True)
class FaultGroup:
    """Faults of one kind: how many rows, the first few in words, and how many more there are."""

    kind: str
    count: int
    examples: tuple[str, ...]
    more: int = 0


@dataclass(frozen=True, slots=True)
class FactTable:
    """Names and values under a heading (``settings.retrieve``, ``versions``, …)."""

    heading: str
    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Page:
    """A whole report."""

    header: Header
    cutoff: int
    verdict: Verdict
    metrics: tuple[MetricRow, ...]
    stages: tuple[StageFacts, ...]
    losses: Losses
    curves: tuple[Curve, ...]
    scores: Bars | None
    scores_metric: str | None
    ranks: Bars | None
    slices: tuple[SliceTable, ...]
    changes: Changes | None
    worst: Worst
    faults: tuple[FaultGroup, ...]
    facts: tuple[FactTable, ...]
    answers: AnswerLink | None = None
    """None for a run that no generator was asked about."""
    sets: EvaluationSets | None = None
    """None where the run has a single evaluation set."""
    robustness: Robustness | None = None
    account: Account | None = None
    unanswerable: tuple[StageRefusals, ...] = ()
