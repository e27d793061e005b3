"""Retrieve, then rerank: the stages of all queries, and what was found on the way."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ragnostic.errors import Fault
from ragnostic.offline.calls import CallPolicy
from ragnostic.offline.chunks_table import with_doc_ids
from ragnostic.offline.implementations import Workshop
from ragnostic.offline.inputs import Inputs
from ragnostic.offline.stage_faults import stage_faults
from ragnostic.offline.stages import (
    RERANK_STAGE,
    Reranked,
    Stages,
    cannot_change_order,
    check_free_name,
    failed_queries,
    rerank_all,
    retrieve_all,
)

Durations = dict[str, float]


@dataclass(frozen=True, slots=True)
class PipelineResult:
    """Every stage's rankings; ``rerank`` is what run.json says of the rerank stage."""

    stages: Stages
    rerank: dict[str, Any] | None
    faults: tuple[Fault, ...]


@contextmanager
def timed(durations: Durations, phase: str) -> Iterator[None]:
    """Note the seconds that the block takes."""
    start = time.perf_counter()
    yield
    durations[phase] = round(time.perf_counter() - start, 3)


def run_pipeline(inputs: Inputs, workshop: Workshop, durations: Durations) -> PipelineResult:
    """Run the configured stages over all queries, in their order.

    Raises RetrievalError when more than ``run.max_failed`` of the queries fail.
    """
    settings, queries = workshop.configuration.settings, inputs.queries
    allowed = settings.run.max_failed * len(queries)
    with timed(durations, "index"):
        retriever = workshop.retriever()
        reranker = workshop.reranker()
    with timed(durations, "retrieve"):
        policy = CallPolicy(retriever.workers, settings.run.retries, allowed)
        stages = retrieve_all(
            retriever, queries, settings.retrieve.top_k, policy, workshop.progress
        )
    chunks = {chunk.id: chunk for chunk in inputs.chunks}
    stages = with_doc_ids(stages, chunks)
    odd = tuple(stage_faults(queries, stages))
    if reranker is None:
        return PipelineResult(stages, None, (*odd, *_cache_faults(workshop)))
    check_free_name(stages)
    with timed(durations, "rerank"):
        found = rerank_all(
            reranker,
            queries,
            list(stages.values())[-1],
            {id_: chunk.searchable for id_, chunk in chunks.items()},
            top_n=settings.rerank.top_n,
            policy=CallPolicy(
                reranker.workers, settings.run.retries, allowed - len(failed_queries(stages))
            ),
            progress=workshop.progress,
        )
    idle = _idle(workshop, found)
    faults = (*odd, *found.faults, *([idle] if idle else []), *_cache_faults(workshop))
    summary = {"top_n": settings.rerank.top_n, "truncated_share": found.truncated_share}
    return PipelineResult({**stages, RERANK_STAGE: found.hits}, summary, faults)


def _idle(workshop: Workshop, found: Reranked) -> Fault | None:
    choices = workshop.configuration.choices
    if workshop.cached is None:
        return None
    return cannot_change_order(
        choices["retrieve"].name,
        choices["rerank"].name,
        found.candidates,
        workshop.configuration.settings.rerank.max_tokens,
        workshop.cached.count_tokens,
    )


def _cache_faults(workshop: Workshop) -> tuple[Fault, ...]:
    return tuple(workshop.cached.faults) if workshop.cached else ()
