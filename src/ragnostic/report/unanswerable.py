"""What each stage does with queries that the corpus cannot answer, as data (METRICS 9)."""

from __future__ import annotations

from dataclasses import dataclass

from ragnostic.report.run import RunData, count, mapping, number, text


@dataclass(frozen=True, slots=True)
class Ends:
    """A value with its 95 % interval."""

    value: float | None
    low: float | None
    high: float | None

    @classmethod
    def of(cls, value: object) -> Ends:
        """From a member of run.json; all None where it is absent.

        >>> Ends.of({"value": 0.5, "low": 0.25, "high": 0.75}).high
        0.75
        """
        meta = mapping(value)
        return cls(number(meta.get("value")), number(meta.get("low")), number(meta.get("high")))


@dataclass(frozen=True, slots=True)
class StageRefusals:
    """One stage. ``false_retrieval`` is at ``threshold`` and ``k``; ``any_result`` without one.
    ``reason`` says why there is no threshold.
    """

    stage: str
    queries: int
    answerable: int
    k: int
    threshold: float | None
    false_retrieval: Ends
    any_result: Ends
    auroc: Ends
    reason: str | None


def read_unanswerable(run: RunData) -> tuple[StageRefusals, ...]:
    """The stages that run.json has this for; none where every query is answerable."""
    found = ((stage, mapping(run.stage_meta(stage).get("unanswerable"))) for stage in run.stages)
    return tuple(
        StageRefusals(
            stage=stage,
            queries=count(meta.get("queries")),
            answerable=count(meta.get("answerable")),
            k=count(meta.get("k")),
            threshold=number(meta.get("threshold")),
            false_retrieval=Ends.of(meta.get("false_retrieval")),
            any_result=Ends.of(meta.get("any_result")),
            auroc=Ends.of(meta.get("auroc")),
            reason=text(meta.get("reason")),
        )
        for stage, meta in found
        if meta
    )
