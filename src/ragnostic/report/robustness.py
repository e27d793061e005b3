"""Other wordings and other lengths of the queries, as data (METRICS 10)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ragnostic.report.account import query_texts
from ragnostic.report.run import RunData, count, mapping, number

SHOWN = 10
"""Groups that a page lists; run.json has more."""


@dataclass(frozen=True, slots=True)
class Flip:
    """Share of the groups in which Success@k differs between members."""

    name: str
    share: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Paraphrases:
    """One stage: means over ``groups`` of two wordings or more; ``alone`` are left out."""

    stage: str
    metric: str
    groups: int
    alone: int
    mean: float
    worst: float
    spread: float
    sd: float
    flips: tuple[Flip, ...]


@dataclass(frozen=True, slots=True)
class WideGroup:
    """A need whose wordings differ; ``query_id`` is the worst of them, with value ``low``."""

    group: str
    n: int
    mean: float | None
    spread: float | None
    low: float | None
    query_id: str
    query: str | None


@dataclass(frozen=True, slots=True)
class LengthEffect:
    """Spearman's ρ between query length and the metric at one stage."""

    stage: str
    metric: str
    n: int
    rho: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Robustness:
    """``widest``: the groups of the final stage that differ most."""

    paraphrases: tuple[Paraphrases, ...]
    widest: tuple[WideGroup, ...]
    lengths: tuple[LengthEffect, ...]


def read_robustness(run: RunData) -> Robustness | None:
    """What run.json says; None where no query has another wording and lengths tell nothing."""
    metas = {stage: run.stage_meta(stage) for stage in run.stages}
    groups = {stage: mapping(meta.get("paraphrase")) for stage, meta in metas.items()}
    paraphrases = tuple(
        _paraphrases(stage, meta) for stage, meta in groups.items() if count(meta.get("groups"))
    )
    lengths = tuple(
        _length(stage, found)
        for stage, meta in metas.items()
        if (found := mapping(meta.get("length"))) and number(found.get("rho")) is not None
    )
    if not paraphrases and not lengths:
        return None
    return Robustness(paraphrases, _widest(run, groups[run.stages[-1]]), lengths)


def _paraphrases(stage: str, meta: Mapping[str, Any]) -> Paraphrases:
    flips = mapping(meta.get("flips"))
    means = {name: number(meta.get(name)) or 0.0 for name in ("mean", "worst", "spread", "sd")}
    return Paraphrases(
        stage=stage,
        metric=str(meta.get("metric")),
        groups=count(meta.get("groups")),
        alone=count(meta.get("alone")),
        flips=tuple(
            Flip(name, share, number(one.get("low")), number(one.get("high")))
            for name in sorted(flips, key=lambda name: (len(name), name))  # @5 before @10
            if (share := number((one := mapping(flips[name])).get("share"))) is not None
        ),
        **means,
    )


def _widest(run: RunData, meta: Mapping[str, Any]) -> tuple[WideGroup, ...]:
    rows = [mapping(row) for row in (meta.get("widest") or ())[:SHOWN]]
    texts = query_texts(run, {str(row.get("worst")) for row in rows})
    return tuple(
        WideGroup(
            group=str(row.get("group")),
            n=count(row.get("n")),
            mean=number(row.get("mean")),
            spread=number(row.get("spread")),
            low=number(row.get("low")),
            query_id=str(row.get("worst")),
            query=texts.get(str(row.get("worst"))),
        )
        for row in rows
    )


def _length(stage: str, meta: Mapping[str, Any]) -> LengthEffect:
    low, high = number(meta.get("low")), number(meta.get("high"))
    rho = number(meta.get("rho")) or 0.0
    return LengthEffect(stage, str(meta.get("metric")), count(meta.get("n")), rho, low, high)
