"""From a diagnosis to the view of its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragnostic.diagnose.diagnosis import Attributed, Diagnosis
from ragnostic.report.diagnosis_view import CauseView, DiagnosisView, ExampleView


def diagnosis_view(
    found: Diagnosis, texts: Mapping[str, str | None], *, name: str, remarks: Sequence[str] = ()
) -> DiagnosisView:
    """The view; ``texts``: of chunks by id, as far as they are known."""
    first = found.first
    return DiagnosisView(
        name=name,
        metric=found.metric,
        value=found.found.recall,
        items=len(found.found.items),
        missed=len(found.misses),
        queries=len(found.found.asked),
        causes=tuple(
            CauseView(
                *(gain.cause, gain.items, gain.share, gain.gain, gain.low, gain.high),
                *(gain.ceiling, gain.in_order),
                tuple(_example(one, found, texts) for one in found.examples(gain.cause)),
            )
            for gain in found.gains
        ),
        first=None if first is None else first.cause,
        slices=found.slices,
        untested=dict(found.untested),
        remarks=tuple(remarks),
    )


def _example(one: Attributed, found: Diagnosis, texts: Mapping[str, str | None]) -> ExampleView:
    seen = one.evidence
    known = [text for id_ in one.item.ids[:1] if (text := texts.get(id_))]
    return ExampleView(
        query_id=one.item.query_id,
        query=found.found.asked[one.item.query_id].query,
        texts=tuple(seen.halves or known),
        ranks=ranks_of(one),
        hints=seen.hints,
        overlap=seen.overlap,
    )


def ranks_of(one: Attributed) -> dict[str, int]:
    """The ranks that are known of a missed item; 0 is none."""
    seen = one.evidence
    known = {
        "exact": seen.exact,
        "uncut": seen.uncut,
        "candidate": seen.candidate,
        "final": seen.final,
    }
    return {name: rank for name, rank in known.items() if rank is not None}
