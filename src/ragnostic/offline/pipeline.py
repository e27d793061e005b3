"""Retrieve, then rerank: the stages of all queries, and what was found on the way."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ragnostic.errors import Fault
from ragnostic.offline.calls import CallPolicy
from ragnostic.offline.chunks_table import with_doc_ids
from ragnostic.offline.implementations import Workshop
from ragnostic.offline.inputs import Inputs
from ragnostic.offline.memo import Memo, index_key, rerank_key, retrieval_key
from ragnostic.offline.stage_faults import stage_faults
from ragnostic.offline.stages import (
    RERANK_STAGE,
    Answered,
    Reranked,
    Stages,
    ask_all,
    cannot_change_order,
    check_free_name,
    failed_queries,
    rerank_all,
    stages_of_answers,
)
from ragnostic.ports import Reranker
from ragnostic.records import Chunk, EvalQuery

Durations = dict[str, float]


@dataclass(frozen=True, slots=True)
class PipelineResult:
    """Every stage's rankings; ``rerank`` is what run.json says of the rerank stage."""

    stages: Stages
    rerank: dict[str, Any] | None
    faults: tuple[Fault, ...]


@dataclass
class Retrieved:
    """What a retriever answered so far, by query id, and the seconds that it took by phase; grows
    where more queries are asked.
    """

    answers: dict[str, Answered] = field(default_factory=dict)
    durations: Durations = field(default_factory=dict)


@contextmanager
def timed(durations: Durations, phase: str, memo: Memo | None = None) -> Iterator[None]:
    """Add the seconds that the block takes; of what ``memo`` hands out, those it took when made."""
    memo = memo or Memo()
    start = time.perf_counter() + memo.reused_s
    yield
    taken = time.perf_counter() + memo.reused_s - start
    durations[phase] = round(durations.get(phase, 0.0) + taken, 3)


def run_pipeline(inputs: Inputs, workshop: Workshop, durations: Durations) -> PipelineResult:
    """Run the configured stages over all queries, in their order.

    Raises RetrievalError when more than ``run.max_failed`` of the queries fail.
    """
    settings, queries = workshop.configuration.settings, inputs.queries
    with timed(durations, "index"):
        reranker = workshop.reranker()
    chunks = {chunk.id: chunk for chunk in inputs.chunks}
    stages = with_doc_ids(_retrieved(queries, workshop, durations), chunks)
    odd = tuple(stage_faults(queries, stages))
    if reranker is None:
        return PipelineResult(stages, None, (*odd, *_cache_faults(workshop)))
    check_free_name(stages)
    key = (*rerank_key(workshop.configuration), *(query.query_id for query in queries))
    with timed(durations, "rerank", workshop.memo):
        found = workshop.memo.once(
            "reranked", key, lambda: _reranked(reranker, queries, stages, chunks, workshop)
        )
    idle = _idle(workshop, found)
    faults = (*odd, *found.faults, *([idle] if idle else []), *_cache_faults(workshop))
    summary = {"top_n": settings.rerank.top_n, "truncated_share": found.truncated_share}
    return PipelineResult({**stages, RERANK_STAGE: found.hits}, summary, faults)


def _retrieved(queries: Sequence[EvalQuery], workshop: Workshop, durations: Durations) -> Stages:
    """The retriever's stages; a query that it was asked before is not asked again."""
    settings, memo = workshop.configuration.settings, workshop.memo
    known = memo.once("retrieved", retrieval_key(workshop.configuration), Retrieved)
    new = [query for query in queries if query.query_id not in known.answers]
    if new:
        index: Durations = {}
        with timed(index, "index", memo):
            retriever = memo.once(
                "retriever", index_key(workshop.configuration), workshop.retriever
            )
        known.durations.setdefault("index", index["index"])
        before = [known.answers.get(query.query_id) for query in queries]
        borne = sum(answer is not None and answer.error is not None for answer in before)
        allowed = settings.run.max_failed * len(queries) - borne
        policy = CallPolicy(retriever.workers, settings.run.retries, allowed)
        with timed(known.durations, "retrieve"):
            found = ask_all(retriever, new, settings.retrieve.top_k, policy, workshop.progress)
        known.answers |= {query.query_id: answer for query, answer in zip(new, found, strict=True)}
    for phase, seconds in known.durations.items():
        durations[phase] = round(durations.get(phase, 0.0) + seconds, 3)
    answers = [known.answers[query.query_id] for query in queries]
    return stages_of_answers(answers, settings.retrieve.top_k)


def _reranked(
    reranker: Reranker,
    queries: Sequence[EvalQuery],
    stages: Stages,
    chunks: Mapping[str, Chunk],
    workshop: Workshop,
) -> Reranked:
    settings = workshop.configuration.settings
    allowed = settings.run.max_failed * len(queries) - len(failed_queries(stages))
    return rerank_all(
        reranker,
        queries,
        list(stages.values())[-1],
        {id_: chunk.searchable for id_, chunk in chunks.items()},
        top_n=settings.rerank.top_n,
        policy=CallPolicy(reranker.workers, settings.run.retries, allowed),
        progress=workshop.progress,
    )


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
    if "embed" not in workshop.configuration.choices:
        return ()
    return tuple(workshop.embedder().faults)
