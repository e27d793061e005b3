"""Retrieving and reranking all queries: every stage's ranking kept, failures named."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ragnostic.errors import Fault, UsageError, counted
from ragnostic.offline.calls import CallPolicy, Outcome, call_each
from ragnostic.offline.rerank_input import candidates_of, check_texts, reranked
from ragnostic.ports import Candidate, Progress, Reranker, Reranking, Retriever
from ragnostic.records import EvalQuery, Hits

Stages = Mapping[str, Sequence[Hits | None]]
"""Stage → one entry a query, in the order of the evaluation set; None where the stage is not in
the answer."""
Answered = Outcome[Mapping[str, Hits]]
"""What asking the retriever for one query gave: stage → hits, or an error."""

FIRST_STAGE = "retrieve"
RERANK_STAGE = "rerank"


@dataclass(frozen=True, slots=True)
class Reranked:
    """The rerank stage and what was found on the way."""

    hits: tuple[Hits, ...]
    candidates: tuple[tuple[Candidate, ...], ...]
    faults: tuple[Fault, ...]
    truncated_share: float | None
    """Share of the candidates whose text was cut; None where the reranker does not say."""


def ask_all(
    retriever: Retriever,
    queries: Sequence[EvalQuery],
    top_k: int,
    policy: CallPolicy,
    progress: Progress,
) -> list[Answered]:
    """The retriever's answer to every query, in their order."""

    def call(query: EvalQuery) -> Mapping[str, Hits]:
        return retriever.retrieve(query.query, top_k)

    return call_each(queries, call, policy, label=FIRST_STAGE, progress=progress)


def stages_of_answers(outcomes: Sequence[Answered], top_k: int) -> Stages:
    """Every stage of the retriever's answers, in the order in which it names them.

    A query that failed is failed in all stages.
    """
    names: dict[str, None] = {}
    for outcome in outcomes:
        names |= dict.fromkeys(outcome.answer or {})
    return {
        name: tuple(_stage_hits(outcome, name, top_k) for outcome in outcomes)
        for name in names or [FIRST_STAGE]
    }


def _stage_hits(outcome: Answered, name: str, top_k: int) -> Hits | None:
    if outcome.answer is None:
        return Hits(top_k=top_k, status="failed", error=outcome.error)
    hits = outcome.answer.get(name)
    if hits is None:
        return None
    only = len(outcome.answer) == 1
    return replace(
        hits,
        top_k=top_k if hits.top_k is None else hits.top_k,
        took_ms=outcome.took_ms if hits.took_ms is None and only else hits.took_ms,
    )


def failed_queries(stages: Stages) -> set[int]:
    """Indices of the queries that failed in any stage."""
    return {
        index
        for rankings in stages.values()
        for index, hits in enumerate(rankings)
        if hits is not None and hits.status == "failed"
    }


def rerank_all(
    reranker: Reranker,
    queries: Sequence[EvalQuery],
    rankings: Sequence[Hits | None],
    texts: Mapping[str, str],
    *,
    top_n: int,
    policy: CallPolicy,
    progress: Progress,
) -> Reranked:
    """The rankings in the reranker's order; raises UsageError where no candidate has a text."""
    sources = [hits or Hits() for hits in rankings]
    candidates = [tuple(candidates_of(hits, texts)) for hits in sources]
    without_text = check_texts(candidates)
    unique = {candidate.text: None for ranking in candidates for candidate in ranking}
    reranker.prepare(list(unique), progress)
    asked = [index for index, ranking in enumerate(candidates) if ranking]

    def call(index: int) -> tuple[Reranking, Hits]:
        # All candidates are asked for: a shorter answer would lose recall by construction.
        ranking = candidates[index]
        answer = reranker.rerank(queries[index].query, ranking, len(ranking))
        return answer, reranked(sources[index], answer, top_n=top_n, took_ms=None)

    outcomes = dict(
        zip(
            asked,
            call_each(asked, call, policy, label=RERANK_STAGE, progress=progress),
            strict=True,
        )
    )
    hits = tuple(
        _reranked_hits(source, outcomes.get(index), top_n) for index, source in enumerate(sources)
    )
    answers = [outcome.answer[0] for outcome in outcomes.values() if outcome.answer]
    faults = _rerank_faults(queries, outcomes, candidates, without_text)
    return Reranked(hits, tuple(candidates), tuple(faults), _truncated_share(answers))


def _reranked_hits(
    source: Hits, outcome: Outcome[tuple[Reranking, Hits]] | None, top_n: int
) -> Hits:
    if source.status == "failed":
        return replace(source, top_n=top_n, took_ms=None)
    if outcome is None:
        return Hits(top_k=source.top_k, top_n=top_n)
    if outcome.answer is None:
        return Hits(top_k=source.top_k, top_n=top_n, status="failed", error=outcome.error)
    hits = outcome.answer[1]
    return replace(hits, took_ms=outcome.took_ms if hits.took_ms is None else hits.took_ms)


def _rerank_faults(
    queries: Sequence[EvalQuery],
    outcomes: Mapping[int, Outcome[tuple[Reranking, Hits]]],
    candidates: Sequence[Sequence[Candidate]],
    without_text: int,
) -> list[Fault]:
    faults: list[Fault] = []
    if without_text:
        message = (
            f"{counted(without_text, 'candidate has', 'candidates have')} no text; the reranker "
            "saw nothing of it"
        )
        faults.append(Fault("candidate_without_text", message, count=without_text))
    short = [
        queries[index].query_id
        for index, outcome in outcomes.items()
        if outcome.answer and len(outcome.answer[1].ids) < len(candidates[index])
    ]
    if short:
        number = counted(len(short), "query", "queries")
        message = (
            f"the reranker left candidates out for {number}, though all were asked for; "
            "they are in no rank of the stage"
        )
        faults.append(Fault("rerank_left_out", message, ids=tuple(short), count=len(short)))
    return faults


def _truncated_share(answers: Sequence[Reranking]) -> float | None:
    marks = [mark for answer in answers for mark in answer.truncated or ()]
    return sum(marks) / len(marks) if marks else None


def check_free_name(stages: Stages) -> None:
    """Raise UsageError where the retriever's answer has a stage of the reranker's name."""
    if RERANK_STAGE in stages:
        raise UsageError(
            f"the retriever's answer already holds a stage {RERANK_STAGE!r}",
            hint='set rerank.use = "none" to score the stages as they are',
        )


def cannot_change_order(
    retriever: str,
    reranker: str,
    candidates: Sequence[Sequence[Candidate]],
    max_tokens: int,
    count_tokens: Callable[[str], int],
) -> Fault | None:
    """The warning for cosine over the list that the same cosine made: with candidates that are
    scored whole, nothing can move.
    """
    if (retriever, reranker) != ("dense", "embedding"):
        return None
    texts = {candidate.text for ranking in candidates for candidate in ranking}
    if any(count_tokens(text) > max_tokens for text in texts):
        return None
    return Fault(
        "rerank_cannot_change_order",
        "reranker embedding after retriever dense cannot change the order: no candidate is longer "
        f"than rerank.max_tokens ({max_tokens}), so both compare the same vectors",
    )
