"""What is odd about the stages of a run as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragnostic.errors import Fault, counted
from ragnostic.offline.stages import Stages
from ragnostic.records import EvalQuery


def stage_faults(queries: Sequence[EvalQuery], stages: Stages) -> Iterator[Fault]:
    """``no_results`` where a stage found nothing for any query, ``stages_differ`` where the
    answers do not all hold the same stages.
    """
    for name, rankings in stages.items():
        answered = [hits for hits in rankings if hits is not None and hits.status == "ok"]
        if answered and not any(hits.ids for hits in answered):
            message = (
                f"stage {name} returned nothing for any of {_queries(len(answered))}: every score "
                "is 0; is the index empty, or the answer read from the wrong place?"
            )
            yield Fault("no_results", message, count=len(answered))
    for name, rankings in stages.items():
        without = [
            query.query_id for query, hits in zip(queries, rankings, strict=True) if hits is None
        ]
        if without:
            message = (
                f"stage {name!r} is not in the answer for {len(without)} of "
                f"{_queries(len(queries))}, such as {without[0]!r}; all stages found: "
                f"{', '.join(stages)}"
            )
            yield Fault("stages_differ", message, tuple(without), count=len(without))


def _queries(count: int) -> str:
    return counted(count, "query", "queries")
