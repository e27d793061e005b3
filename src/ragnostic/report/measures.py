"""Means, gains and counts of the stages, from the summaries in run.json and the score table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ragnostic.report.directions import lower_is_better
from ragnostic.report.outcomes import PLACES, Outcome, Place
from ragnostic.report.page import Gain, Losses, MetricRow, StageFacts, Tile, Verdict
from ragnostic.report.run import RunData, count, mapping, number, text
from ragnostic.report.scorebook import MetricName, ScoreBook

_SAME = 1e-9
_PERCENTILES = ("p50", "p95", "p99")


def metric_rows(run: RunData, book: ScoreBook) -> tuple[MetricRow, ...]:
    """Every metric at every stage, in the order of the settings."""
    return tuple(
        MetricRow(
            metric,
            tuple(_tile(run, book, stage, metric) for stage in run.stages),
            gain(book, run.stages, metric),
        )
        for metric in book.metrics()
    )


def gain(book: ScoreBook, stages: Sequence[str], metric: str) -> Gain | None:
    """The final stage against the first, paired over the queries that have both values."""
    if len(stages) < 2:
        return None
    before, after = book.values(stages[0], metric), book.values(stages[-1], metric)
    pairs = [(value, after[key]) for key, value in before.items() if key in after]
    if not pairs:
        return None
    downward = lower_is_better(metric)
    higher = sum(new - old > _SAME for old, new in pairs)
    lower = sum(old - new > _SAME for old, new in pairs)
    wins, losses = (lower, higher) if downward else (higher, lower)
    return Gain(
        metric=metric,
        before=sum(old for old, _ in pairs) / len(pairs),
        after=sum(new for _, new in pairs) / len(pairs),
        n=len(pairs),
        wins=wins,
        ties=len(pairs) - wins - losses,
        losses=losses,
        lower_is_better=downward,
    )


def _tile(run: RunData, book: ScoreBook, stage: str, metric: str) -> Tile:
    summary: Mapping[str, Any] = mapping(mapping(run.stage_meta(stage).get("metrics")).get(metric))
    if not summary:
        summary = _own_summary(book, stage, metric)
    return Tile(
        metric=metric,
        stage=stage,
        mean=number(summary.get("mean")),
        low=number(summary.get("low")),
        high=number(summary.get("high")),
        n=count(summary.get("n")),
        missing=count(summary.get("missing")),
        unscored=count(summary.get("unscored")),
        failed=count(summary.get("failed")),
        reason=text(summary.get("reason")),
        positive=_positive(book.values(stage, metric).values()),
    )


def _positive(values: Collection[float]) -> float | None:
    return sum(value > _SAME for value in values) / len(values) if values else None


def _own_summary(book: ScoreBook, stage: str, metric: str) -> dict[str, Any]:
    """Mean and counts from the score table, for a run without summaries; no interval then."""
    values = book.values(stage, metric)
    status = Counter(book.statuses(stage).values())
    return {
        "mean": sum(values.values()) / len(values) if values else None,
        "n": len(values),
        "missing": status["missing"],
        "unscored": status["unscored"],
        "failed": status["failed"],
    }


def stage_facts(run: RunData) -> tuple[StageFacts, ...]:
    """Judged shares, ties, duplicates and latencies, as far as run.json has them."""
    return tuple(_facts(stage, run.stage_meta(stage)) for stage in run.stages)


def _facts(stage: str, meta: Mapping[str, Any]) -> StageFacts:
    latency = mapping(meta.get("latency_ms"))
    return StageFacts(
        stage=stage,
        judged=tuple(
            (name, share)
            for name in sorted(meta, key=lambda name: (len(name), name))  # @5 before @10
            if name.startswith("Judged@") and (share := number(meta[name])) is not None
        ),
        ties=_optional_count(meta.get("ties")),
        duplicates=_optional_count(meta.get("duplicates")),
        unjudged_queries=_optional_count(meta.get("unjudged_queries")),
        latency=tuple(
            (name, value)
            for name in _PERCENTILES
            if (value := number(latency.get(name))) is not None
        ),
    )


def _optional_count(value: object) -> int | None:
    return None if number(value) is None else count(value)


def page_cutoff(run: RunData, book: ScoreBook) -> int:
    """How far down a reader looks: the cutoff of the metric that ranks the worst queries, else
    what the generator gets, else 10.
    """
    for metric in book.telling(run.stages[-1]) if run.stages else ():
        cutoff = MetricName.of(metric).cutoff
        if cutoff is not None:
            return cutoff
    settings = mapping(mapping(run.meta.get("settings")).get("rerank"))
    return count(settings.get("top_n")) or 10


def losses(run: RunData, book: ScoreBook, outcomes: Sequence[Outcome], cutoff: int) -> Losses:
    """Fates of gold items and of queries, over the scorable queries."""
    scorable = [outcome for outcome in outcomes if outcome.scorable]
    items = Counter(item.place for outcome in scorable for item in outcome.items)
    queries = Counter(outcome.place for outcome in scorable)
    return Losses(cutoff, _counted(items), _counted(queries), _without_dangling(run, book))


def _without_dangling(run: RunData, book: ScoreBook) -> tuple[tuple[str, float], ...]:
    """In the order of the other tables; run.json sorts its keys."""
    beside = mapping(run.stage_meta(run.stages[-1]).get("without_dangling")) if run.stages else {}
    means = ((name, number(mapping(beside.get(name)).get("mean"))) for name in book.metrics())
    return tuple((name, mean) for name, mean in means if mean is not None)


def _counted(places: Counter[Place]) -> tuple[tuple[Place, int], ...]:
    return tuple((place, places[place]) for place in PLACES if places[place])


def verdict(
    outcomes: Sequence[Outcome],
    rows: Sequence[MetricRow],
    found: Losses,
    telling: Sequence[str],
    facts: Sequence[StageFacts] = (),
) -> Verdict:
    """The counts that the first sentences of the page speak of."""
    by_metric = {row.metric: row for row in rows}
    shown = _headline(telling)
    row = by_metric.get(shown) if shown else None
    queries = dict(found.queries)
    return Verdict(
        cutoff=found.cutoff,
        scored=sum(queries.values()),
        found=queries.get("found", 0),
        lost=tuple((place, number) for place, number in found.items if place != "found"),
        gain=row.gain if row else None,
        headline=row.final if row and row.tiles else None,
        unanswerable=sum(not outcome.answerable for outcome in outcomes),
        failed=sum(outcome.answerable and outcome.failed for outcome in outcomes),
        unscored=sum(
            outcome.answerable and not outcome.failed and not outcome.items for outcome in outcomes
        ),
        judged=_judged(facts[-1], found.cutoff) if facts else None,
    )


def _judged(facts: StageFacts, cutoff: int) -> tuple[int, float] | None:
    shares = [(MetricName.of(name).cutoff or 0, share) for name, share in facts.judged]
    return min(shares, key=lambda entry: abs(entry[0] - cutoff), default=None)


def _headline(telling: Sequence[str]) -> str | None:
    """Reciprocal rank is the easiest to say in words; else the metric that tells most."""
    for name in telling:
        if MetricName.of(name).family == "RR":
            return name
    return telling[0] if telling else None
